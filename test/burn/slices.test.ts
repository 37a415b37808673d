import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { present } from '../../src/base/assert.ts';
import { epochMs } from '../../src/base/units.ts';
import type { Budgeting } from '../../src/slo/slo.ts';
import { DAY, HOUR, MINUTE, T0 } from '../support/raw-cells.ts';
import { ratioTimeslices, Sliced, slicedSlo, timeslices } from '../support/sliced.ts';

/** A day without errors, then so many bad minutes with 75 of 100 failed. */
function burning(budgeting: Budgeting, minutes: number): Sliced {
  const sliced = new Sliced(slicedSlo(budgeting, { target: '0.99' }));
  for (let end = T0 - DAY; end < T0 + minutes * MINUTE; end += MINUTE)
    sliced.add(end, end + MINUTE, end < T0 ? 0 : 75, 100);
  sliced.hear(T0 + minutes * MINUTE);
  return sliced;
}

describe('an alert of an SLO in slices', () => {
  test('says how many slices were bad, and began with the first of them', () => {
    const sliced = burning(timeslices(MINUTE), 12);
    const [change] = sliced.engine.evaluate(sliced.aggregate, epochMs(T0 + 12 * MINUTE)).changes;
    const alert = present(change?.alert, 'an alert');
    assert.match(alert.summary, /^20 % of slices of 1m are bad \(fewer than 0\.95 of requests good\); /);
    const text = alert.evidence.find(({ name }) => name === 'error_ratio')?.text;
    assert.equal(text, '12 of 60 slices of 1m were bad');
    assert.deepEqual([alert.burn?.burningSince, alert.burn?.slices], [T0, { width: MINUTE, byRatio: false }]);
    // Of a month of minutes, of which 12 may be bad in 1,200.
    assert.ok(Math.abs((alert.burn?.spent ?? 0) - 12 / 432) < 1e-9);
  });

  test('by ratio says the mean, and counts in slices, not in their parts', () => {
    const sliced = burning(ratioTimeslices(MINUTE), 12);
    const [change] = sliced.engine.evaluate(sliced.aggregate, epochMs(T0 + 12 * MINUTE)).changes;
    const alert = present(change?.alert, 'an alert');
    assert.match(alert.summary, /^Errors 15 % of requests, mean of slices of 1m; /);
    assert.equal(alert.evidence.find(({ name }) => name === 'error_ratio')?.text, '9 of 60 slices of 1m were bad');
  });

  test('countdown asks for its number of bad slices, also where they are kept in parts', () => {
    for (const [budgeting, minutes, expected] of [
      [ratioTimeslices(10_000), 2, 'page'],
      [timeslices(10_000), 2, 'page'],
    ] as const) {
      const sliced = new Sliced(slicedSlo(budgeting, { policy: 'countdown', target: '0.999' }));
      for (let end = T0 - DAY; end < T0; end += 10_000) sliced.add(end, end + 10_000, 0, 10);
      // A single slice of an hour: 2 are asked for.
      sliced.add(T0, T0 + 10_000, 10, 10);
      for (let end = T0 + 10_000; end < T0 + MINUTE; end += 10_000) sliced.add(end, end + 10_000, 0, 10);
      sliced.hear(T0 + MINUTE);
      assert.equal(sliced.status(T0 + MINUTE).severity, null);
      const until = T0 + (minutes + 1) * MINUTE;
      for (let end = T0 + MINUTE; end < until; end += 10_000) sliced.add(end, end + 10_000, 10, 10);
      sliced.hear(until);
      assert.equal(sliced.status(until).severity, expected);
    }
  });

  test('goes on over a restart of the cells', () => {
    const sliced = burning(timeslices(MINUTE), 12);
    const before = sliced.status(T0 + 12 * MINUTE);
    sliced.restart();
    assert.deepEqual(sliced.status(T0 + 12 * MINUTE).burn, before.burn);
    assert.equal(sliced.status(T0 + 12 * MINUTE).tier, before.tier);
    assert.ok(before.tier !== null);
    assert.ok(sliced.group.range(epochMs(T0 - HOUR), epochMs(T0)).total === 60);
  });
});
