import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { epochMs } from '../../src/base/units.ts';

const ORIGIN = 1_800_000_000_000;
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** Balancers that say which version they run, at minutes from ORIGIN. */
function told(...lines: readonly (readonly [minute: number, balancer: string, version: string, kind?: string])[]) {
  const aggregate = createAggregate();
  for (const [minute, balancer, version, kind = ''] of lines) {
    const at = epochMs(ORIGIN + minute * MINUTE);
    aggregate.heard(balancer, new Map(), at, at);
    aggregate.config(kind, version).set(at, balancer, 1);
  }
  return aggregate;
}

const read = (aggregate: ReturnType<typeof told>): readonly string[] =>
  aggregate
    .rollouts()
    .map(({ kind, version, from, to }) => `${kind}${version} ${(from - ORIGIN) / MINUTE}..${(to - ORIGIN) / MINUTE}`);

test('a rollout lasts from the last push of what was before until its last balancer; a first version is none', () => {
  const aggregate = told([0, 'a', '1'], [0, 'b', '1'], [1, 'a', '2'], [1, 'b', '1'], [8, 'a', '2'], [9, 'b', '2']);
  assert.deepEqual(read(aggregate), ['2 0..9']);
  assert.deepEqual(read(told([0, 'a', '1'], [0, 'b', '2'])), []);
});

test('a roll-back is a rollout; so is the same version an hour later; kinds are apart', () => {
  const back = told([0, 'a', '1'], [1, 'a', '2'], [5, 'a', '1']);
  assert.deepEqual(read(back), ['2 0..1', '1 1..5']);
  const again = told([0, 'a', '1'], [1, 'a', '2'], [100, 'b', '1'], [101, 'b', '2']);
  assert.deepEqual(read(again), ['2 0..1', '2 100..101']);
  const kinds = told([0, 'a', '1', 'cds'], [0, 'a', '1', 'lds'], [1, 'a', '2', 'cds'], [1, 'a', '1', 'lds']);
  assert.deepEqual(read(kinds), ['cds2 0..1']);
});

test('they outlive a snapshot, one of before they were kept too, and 36 days', () => {
  const aggregate = told([0, 'a', '1'], [1, 'a', '2']);
  const state = structuredClone(aggregate.snapshot());
  const next = createAggregate();
  next.restore(state);
  assert.deepEqual(read(next), ['2 0..1']);
  const { rollouts, ...older } = state;
  assert.equal(rollouts?.length, 1);
  const empty = createAggregate();
  empty.restore(older);
  assert.deepEqual(read(empty), []);
  const hear = (day: number): void => {
    const at = epochMs(ORIGIN + day * DAY);
    next.heard('a', new Map(), at, at);
  };
  hear(35);
  assert.deepEqual(read(next), ['2 0..1']);
  hear(37);
  assert.deepEqual(read(next), []);
});
