import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { at, DAY } from './fixture.ts';

const restored = (from: Aggregate): Aggregate => {
  const next = createAggregate();
  next.restore(structuredClone(from.snapshot()));
  return next;
};

/** A push of one balancer: the config versions that it says at that second. */
function saying(aggregate: Aggregate, balancer: string, second: number, ...versions: readonly string[]): void {
  aggregate.heard(balancer, new Map(), at(second), at(second));
  for (const version of versions) aggregate.config('file', version).set(at(second), balancer, 1);
}

const runsAt = (aggregate: Aggregate, second: number): readonly string[] =>
  aggregate
    .configs(at(second))
    .map(
      ({ balancer, version, since, current }) =>
        `${balancer} ${version} ${(since - at(0)) / 1000}${current ? ' now' : ''}`,
    );

describe('config versions', () => {
  test('a new version ends the old one; one that comes back is a run of its own', () => {
    const aggregate = createAggregate();
    for (const second of [10, 20]) saying(aggregate, 'a', second, 'v1');
    for (const second of [30, 40]) saying(aggregate, 'a', second, 'v2');
    assert.deepEqual(runsAt(aggregate, 40), ['a v1 10', 'a v2 30 now']);
    saying(aggregate, 'a', 50, 'v1');
    assert.deepEqual(runsAt(aggregate, 50), ['a v1 10', 'a v2 30', 'a v1 50 now']);
    assert.deepEqual(runsAt(restored(aggregate), 50), runsAt(aggregate, 50));
  });

  test('a sender that goes on saying the old version runs the new one', () => {
    const aggregate = createAggregate();
    for (const second of [10, 20]) saying(aggregate, 'a', second, 'v1');
    for (const second of [30, 40, 50]) saying(aggregate, 'a', second, 'v1', 'v2');
    assert.deepEqual(runsAt(aggregate, 50), ['a v1 10', 'a v2 30 now']);
  });

  test('a late point changes nothing, and 0 says that a version does not run', () => {
    const aggregate = createAggregate();
    for (const second of [10, 20]) saying(aggregate, 'a', second, 'v1');
    for (const second of [30, 40]) saying(aggregate, 'a', second, 'v2');
    aggregate.config('file', 'v1').set(at(25), 'a', 1);
    aggregate.config('file', 'v3').set(at(25), 'a', 1);
    aggregate.config('file', 'v4').set(at(50), 'a', 0);
    assert.deepEqual(runsAt(aggregate, 50), ['a v1 10', 'a v2 30 now']);
  });
});

describe('certificates', () => {
  const serve = (aggregate: Aggregate, second: number, daysLeft: number, balancer = 'a'): void => {
    aggregate.heard(balancer, new Map(), at(second), at(second));
    aggregate.certificate('shop', 'x').set(at(second), balancer, (at(second) + daysLeft * DAY) / 1000);
  };

  test('a later end is a renewal and tells the lifetime; a wobbling second is none', () => {
    const aggregate = createAggregate();
    serve(aggregate, 10, 30);
    serve(aggregate, 20, 30);
    assert.deepEqual(
      aggregate.certificates(at(20)).map(({ renewedAt }) => renewedAt),
      [null],
    );
    serve(aggregate, 30, 90);
    const [reading] = restored(aggregate).certificates(at(30));
    assert.equal(reading?.renewedAt, at(30));
    assert.equal(reading?.lifetimeMs, 90 * DAY);
    assert.equal(reading?.firstSeenAt, at(10));
  });

  test('one that a heard balancer serves no longer is gone; that of a silent one is kept as stale', () => {
    const aggregate = createAggregate();
    serve(aggregate, 10, 30, 'a');
    serve(aggregate, 10, 30, 'b');
    for (const second of [60, 120, 180]) aggregate.heard('b', new Map(), at(second), at(second));
    assert.deepEqual(
      aggregate.certificates(at(200)).map(({ balancer, stale }) => [balancer, stale]),
      [['a', true]],
    );
  });

  test('0 is no date', () => {
    const aggregate = createAggregate();
    aggregate.heard('a', new Map(), at(10), at(10));
    aggregate.certificate('shop', 'x').set(at(10), 'a', 0);
    assert.deepEqual(aggregate.certificates(at(10)), []);
  });
});

test('a peak keeps the largest value of each step for a quarter of an hour', () => {
  const aggregate = createAggregate();
  const cell = aggregate.peak('accept_queue.length', labelsOf([['balancer', 'a']]));
  for (const [second, value] of [
    [1, 5],
    [4, 90],
    [9, 7],
    [12, 3],
  ] as const)
    cell.set(at(second), 'a', value);
  const read = (from: Aggregate, to: number) =>
    [...from.peaks('accept_queue.length')].flatMap((one) =>
      one.peaks(at(to - 900), at(to)).map(({ at: end, value }) => [(end - at(0)) / 1000, value]),
    );
  assert.deepEqual(read(aggregate, 20), [
    [10, 90],
    [20, 3],
  ]);
  assert.deepEqual(read(restored(aggregate), 20), [
    [10, 90],
    [20, 3],
  ]);
  cell.set(at(901), 'a', 4);
  assert.deepEqual(read(aggregate, 910), [
    [20, 3],
    [910, 4],
  ]);
});
