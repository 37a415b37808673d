import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { TotalStore } from '../../src/aggregate/total-cells.ts';
import { epochMs } from '../../src/base/units.ts';
import { labelsOf } from '../../src/model/labels.ts';

const DAY_MS = 86_400_000;
const at = epochMs(1_767_225_600_000);
const named = (name: string) => labelsOf([['service.instance.id', name]]);
const valuesOf = (store: TotalStore, metric = 'm') =>
  store.totals(metric).map(({ labels, value }) => [[...labels.values()].join(), value]);

describe('totals', () => {
  test('add up what comes with the same labels, in their order, and never fall once read', () => {
    const store = new TotalStore();
    const cell = store.counter('m', named('b'));
    cell.add(at, at, 5);
    store.counter('m', named('a')).add(at, at, 1);
    store.counter('m', named('b')).add(at, at, 2);
    assert.deepEqual(valuesOf(store), [
      ['a', 1],
      ['b', 7],
    ]);
    cell.add(at, at, -3);
    assert.equal(cell.value, 7, 'a correction is taken out of what comes next');
    cell.add(at, at, 4);
    assert.equal(cell.value, 8);
  });

  test('beyond 5000 label sets the rest is counted together: no count is lost', () => {
    const store = new TotalStore();
    for (let index = 0; index < 5003; index += 1) store.counter('m', named(`b-${index}`)).add(at, at, 2);
    const totals = store.totals('m');
    assert.equal(totals.length, 5001);
    assert.equal(
      totals.reduce((sum, { value }) => sum + value, 0),
      10_006,
    );
    assert.equal(totals.find(({ labels }) => labels.has('otel.metric.overflow'))?.value, 6);
    for (let index = 0; index < 510; index += 1) store.histogram('h', named(`b-${index}`));
    assert.equal(store.totalHistograms('h').length, 501);
  });

  test('what has been quiet for long is forgotten, and back with its count when it is heard', () => {
    const store = new TotalStore();
    const cell = store.counter('m', named('a'));
    cell.add(at, at, 5);
    const neverAdded = store.counter('m', named('b'));
    store.forgetBefore(at + DAY_MS, at + 2 * DAY_MS);
    assert.deepEqual(valuesOf(store), [['b', 0]], 'one that has counted nothing yet is new');
    cell.add(at, epochMs(at + 3 * DAY_MS), 1);
    assert.deepEqual(valuesOf(store)[0], ['a', 6]);
    store.forgetBefore(at + 4 * DAY_MS, at + 5 * DAY_MS);
    assert.deepEqual(valuesOf(store), []);
    neverAdded.add(at, epochMs(at + 5 * DAY_MS), 1);
    assert.deepEqual(valuesOf(store), [['b', 1]]);
  });

  test("a histogram has its first sender's bounds; others count at the next one above", () => {
    const store = new TotalStore();
    const cell = store.histogram('h', named('a'));
    cell.add(at, at, Float64Array.of(0.1, 1, 10), Float64Array.of(1, 2, 3, 4), 50);
    cell.add(at, at, Float64Array.of(0.05, 0.5, 20), Float64Array.of(1, 1, 1, 1), null);
    cell.add(at, at, Float64Array.of(0.1, 1, 10), Float64Array.of(1, 0, 0, 0), 0.1);
    assert.deepEqual(store.totalHistograms('h')[0]?.bounds, [0.1, 1, 10]);
    // 0.05 -> 0.1, 0.5 -> 1, 20 and beyond -> above all.
    assert.deepEqual(store.totalHistograms('h')[0]?.counts, [3, 3, 3, 6]);
    assert.equal(store.totalHistograms('h')[0]?.sum, 50.1);
    const fine = store.histogram('h', named('fine'));
    fine.add(
      at,
      at,
      Float64Array.from({ length: 160 }, (_, i) => (i + 1) / 100),
      new Float64Array(161).fill(1),
      1,
    );
    assert.equal(fine.bounds.length, 15);
    assert.equal(
      fine.counts.reduce((sum, one) => sum + one),
      161,
    );
  });

  test('a snapshot of the cells goes on exactly; one of before there were totals is taken', () => {
    const aggregate = createAggregate();
    aggregate.total('m', named('a')).add(at, at, 5);
    aggregate.totalHistogram('h', named('a')).add(at, at, Float64Array.of(1), Float64Array.of(2, 3), 9);
    const again = createAggregate();
    again.restore(structuredClone(aggregate.snapshot()));
    again.total('m', named('a')).add(at, at, 1);
    again.totalHistogram('h', named('a')).add(at, at, Float64Array.of(1), Float64Array.of(1, 0), 1);
    assert.equal(again.totals('m')[0]?.value, 6);
    assert.deepEqual(again.totalHistograms('h')[0]?.counts, [3, 3]);
    assert.equal(again.totalHistograms('h')[0]?.sum, 10);
    const { totals, ...old } = aggregate.snapshot();
    assert.equal(totals?.length, 2);
    const older = createAggregate();
    older.restore(old);
    assert.deepEqual(older.totals('m'), []);
  });
});
