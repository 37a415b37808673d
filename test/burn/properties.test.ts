import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BudgetCourse, exhaustionAt } from '../../src/burn/exhaustion.ts';
import { wilsonBounds } from '../../src/burn/wilson.ts';
import { readWindow } from '../../src/burn/window.ts';
import { budgetRatioOf, burnsAtLeast } from '../../src/slo/budget.ts';
import { DAY, FakeGroup, HOUR, STEP, sloOf, WORKBOOK } from '../support/fake-cells.ts';

const BUDGET = budgetRatioOf(sloOf(WORKBOOK).objective);

describe('burn', () => {
  test('comparison with a factor is exact', () => {
    const count = fc.integer({ min: 0, max: 5_000_000 });
    fc.assert(
      fc.property(count, count, fc.constantFrom(144, 60, 30, 10), (a, b, tenths) => {
        const [bad, total] = [Math.min(a, b), Math.max(a, b, 1)];
        const factor = { numerator: BigInt(tenths), denominator: 10n };
        const exact = BigInt(bad) * 1000n * 10n >= BigInt(tenths) * BigInt(total);
        assert.equal(burnsAtLeast({ bad, total, lengthMs: 1, observedMs: 1 }, BUDGET, factor), exact);
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  test('exactly at the factor counts: 14.4 x 0.001 of 10,000 is 144', () => {
    const factor = { numerator: 144n, denominator: 10n };
    const window = (bad: number) => ({ bad, total: 10_000, lengthMs: 1, observedMs: 1 });
    assert.deepEqual(
      [burnsAtLeast(window(143), BUDGET, factor), burnsAtLeast(window(144), BUDGET, factor)],
      [false, true],
    );
  });

  test('Wilson bounds at 98 % are those of the reference', () => {
    for (const [bad, total, burn] of [
      [1, 10, 13.9],
      [2, 10, 46],
      [3, 100, 8.6],
      [6, 100, 24],
    ] as const) {
      const low = wilsonBounds(bad, total).low / BUDGET.value;
      assert.ok(Math.abs(low - burn) / burn < 0.02, `${bad} of ${total}: ${low}`);
    }
  });
});

/** A history of hours with a constant error share each, then `burnHours` at `ratio`. */
function history(shares: readonly number[], ratio: number): FakeGroup {
  const group = new FakeGroup(sloOf(WORKBOOK));
  const perStep = 1000;
  for (const share of shares) group.pushFor(12 * HOUR, () => [Math.round(perStep * share), perStep]);
  group.pushFor(HOUR, () => [Math.round(perStep * ratio), perStep]);
  return group;
}

/** The same question answered by walking minute by minute over raw events. */
function slowTimeToExhaustion(group: FakeGroup, ratio: number): number | null {
  const length = 30 * DAY;
  const to = group.end;
  const first = group.firstDataAt ?? to;
  const observed = Math.min(length, to - first);
  const all = group.range((to - length) as typeof to, to);
  const rate = all.total / observed;
  for (let ahead = 0; ahead <= length; ahead += 60_000) {
    const kept = group.range((to - length + ahead) as typeof to, to);
    const lead = Math.max(0, length - observed - ahead) * rate;
    const bad = kept.bad + ratio * rate * ahead;
    const total = kept.total + lead + rate * ahead;
    if (bad > 0 && bad >= BUDGET.value * total) return ahead;
  }
  return null;
}

describe('time to exhaustion', () => {
  const share = fc.constantFrom(0, 0, 0, 0.001, 0.002);
  const past = fc.array(share, { minLength: 10, maxLength: 70 });

  test('agrees with a slow simulation within five minutes', () => {
    fc.assert(
      fc.property(past, fc.constantFrom(0.002, 0.005, 0.02, 0.15), (shares, ratio) => {
        const group = history(shares, ratio);
        const fast = new BudgetCourse(group, BUDGET, group.end).timeAt(ratio);
        const slow = slowTimeToExhaustion(group, ratio);
        if (fast === null || slow === null) assert.equal(fast, slow);
        else assert.ok(Math.abs(fast - slow) <= 300_000, `${fast / 60_000} min, not ${slow / 60_000}`);
      }),
      { seed: 21, numRuns: 25 },
    );
  });

  test('more errors never predict later exhaustion, and low <= middle <= high', () => {
    fc.assert(
      fc.property(past, (shares) => {
        const group = history(shares, 0.01);
        const course = new BudgetCourse(group, BUDGET, group.end);
        const times = [0.002, 0.004, 0.01, 0.1].map((ratio) => course.timeAt(ratio) ?? Number.POSITIVE_INFINITY);
        for (const [index, time] of times.entries()) if (index > 0) assert.ok(time <= (times[index - 1] ?? 0));
        const { until, low, high } = exhaustionAt(course, readWindow(group, group.end, HOUR), BUDGET, 30 * DAY);
        const or = (value: number | null): number => value ?? Number.POSITIVE_INFINITY;
        assert.ok(or(low) <= or(until) && or(until) <= or(high));
      }),
      { seed: 22, numRuns: 25 },
    );
  });

  test('a history wholly below burn 1 never exhausts, none at all neither, and what is spent is 0 s', () => {
    const calm = history(new Array(60).fill(0), 0);
    calm.pushFor(HOUR, (index) => [index % 2 === 0 ? 1 : 0, 1000]);
    assert.equal(new BudgetCourse(calm, BUDGET, calm.end).timeAt(0.0005), null);
    assert.equal(new BudgetCourse(calm, BUDGET, calm.end).timeAt(0), null);
    const spent = history(new Array(60).fill(0.002), 0.002);
    assert.equal(new BudgetCourse(spent, BUDGET, spent.end).timeAt(0.002), 0);
  });

  test('a clean month that starts to fail at 2 % has about 36 h, less what rolls out', () => {
    const group = new FakeGroup(sloOf(WORKBOOK));
    group.pushFor(30 * DAY, () => [0, 1000]);
    group.pushFor(STEP, () => [20, 1000]);
    const left = new BudgetCourse(group, BUDGET, group.end).timeAt(0.02);
    assert.ok(left !== null && Math.abs(left - 36 * HOUR) < HOUR, `${(left ?? 0) / HOUR} h`);
  });
});
