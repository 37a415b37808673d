import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { epochMs } from '../../src/base/units.ts';
import { BudgetCourse, exhaustionAt } from '../../src/burn/exhaustion.ts';
import { readWindow } from '../../src/burn/window.ts';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import { DAY, FakeGroup, HOUR, MINUTE, ORIGIN, STEP, sloOf, WORKBOOK } from '../support/fake-cells.ts';

const BUDGET = budgetRatioOf(sloOf(WORKBOOK).objective);
const LENGTH = 30 * DAY;
const FIVE_MINUTES = 5 * MINUTE;

/** What one hour of history is like; traffic follows the hour of the day. */
interface Past {
  readonly days: number;
  /** Minutes after the full hour at which it ends. */
  readonly minutes: number;
  /** Events per 10 s step by hour of the day. */
  readonly byHour: readonly number[];
  /** Bad events of 10,000, by day, in order and again from the start. */
  readonly badByDay: readonly number[];
}

const past = (badMax: number): fc.Arbitrary<Past> =>
  fc.record({
    days: fc.integer({ min: 2, max: 34 }),
    minutes: fc.integer({ min: 0, max: 59 }),
    byHour: fc.array(fc.constantFrom(2000, 10_000, 40_000), { minLength: 24, maxLength: 24 }),
    badByDay: fc.array(fc.integer({ min: 0, max: badMax }), { minLength: 1, maxLength: 9 }),
  });

function groupOf({ days, minutes, byHour, badByDay }: Past): FakeGroup {
  const group = new FakeGroup(sloOf(WORKBOOK));
  group.pushFor(days * DAY + minutes * MINUTE, (index) => {
    const hour = Math.floor((index * STEP) / HOUR);
    const total = byHour[hour % 24] ?? 0;
    const share = badByDay[Math.floor(hour / 24) % badByDay.length] ?? 0;
    return [Math.floor((total * share) / 10_000), total];
  });
  return group;
}

const courseOf = (group: FakeGroup): BudgetCourse => new BudgetCourse(group, BUDGET, group.end);
const orNever = (value: number | null): number => value ?? Number.POSITIVE_INFINITY;

/** The budget walked minute by minute: expected traffic is that of the same hour of the day. */
function slowly(group: FakeGroup, { byHour }: Past, ratio: number): number | null {
  const to = group.end;
  const observed = Math.min(LENGTH, to - ORIGIN);
  const meanPerMs = group.range(epochMs(to - LENGTH), to).total / observed;
  let incoming = 0;
  for (let ahead = 0; ahead <= LENGTH; ahead += MINUTE) {
    const kept = group.range(epochMs(to - LENGTH + ahead), to);
    const lead = Math.max(0, LENGTH - observed - ahead) * meanPerMs;
    const bad = kept.bad + ratio * incoming;
    if (bad > 0 && bad >= BUDGET.value * (kept.total + lead + incoming)) return ahead;
    const hour = Math.floor((to + ahead) / HOUR) % 24;
    incoming += 6 * (byHour[hour] ?? 0);
  }
  return null;
}

describe('time to exhaustion over uneven traffic', () => {
  test('agrees with a walk minute by minute within five minutes', () => {
    fc.assert(
      fc.property(past(14), fc.constantFrom(0.0015, 0.004, 0.02, 0.2), (history, ratio) => {
        const group = groupOf(history);
        const [fast, slow] = [courseOf(group).timeAt(ratio), slowly(group, history, ratio)];
        if (fast === null || slow === null) assert.equal(fast, slow);
        else assert.ok(Math.abs(fast - slow) <= FIVE_MINUTES, `${fast / MINUTE} min, not ${slow / MINUTE}`);
      }),
      { seed: 51, numRuns: 40 },
    );
  });

  test('a history wholly below burn 1 that goes on below it never exhausts', () => {
    fc.assert(
      fc.property(past(9), fc.double({ min: 0, max: 0.00099, noNaN: true }), (history, ratio) => {
        assert.equal(courseOf(groupOf(history)).timeAt(ratio), null);
      }),
      { seed: 52, numRuns: 40 },
    );
  });

  test('what is spent is spent: 0 at any ratio, and some time to recover if no error came any more', () => {
    fc.assert(
      fc.property(past(30), fc.double({ min: 0, max: 1, noNaN: true }), (history, ratio) => {
        const group = groupOf({ ...history, badByDay: [12, ...history.badByDay.map((bad) => bad + 10)] });
        const course = courseOf(group);
        // The lead of a young group still counts as error-free.
        fc.pre(course.exhausted);
        assert.equal(course.timeAt(ratio), 0);
        const { until, low, high, exhausted, recoversAt } = exhaustionAt(
          course,
          readWindow(group, group.end, HOUR),
          BUDGET,
          LENGTH,
        );
        assert.deepEqual([until, low, high, exhausted], [0, 0, 0, true]);
        assert.ok(recoversAt !== null && recoversAt > group.end && recoversAt <= group.end + LENGTH);
      }),
      { seed: 53, numRuns: 30 },
    );
  });

  test('more errors ahead never predict a later end', () => {
    const ratio = fc.double({ min: 0, max: 0.3, noNaN: true });
    fc.assert(
      fc.property(past(14), ratio, ratio, (history, a, b) => {
        const course = courseOf(groupOf(history));
        const [more, fewer] = [course.timeAt(Math.max(a, b)), course.timeAt(Math.min(a, b))];
        assert.ok(orNever(more) <= orNever(fewer), `${more} is later than ${fewer}`);
      }),
      { seed: 54, numRuns: 40 },
    );
  });

  test('more errors behind never predict a later end', () => {
    fc.assert(
      fc.property(past(10), fc.nat({ max: 8 }), fc.constantFrom(0.0015, 0.02), (history, day, ratio) => {
        const { badByDay } = history;
        const worse = badByDay.map((bad, index) => (index === day % badByDay.length ? bad + 3 : bad));
        const before = courseOf(groupOf(history)).timeAt(ratio);
        const after = courseOf(groupOf({ ...history, badByDay: worse })).timeAt(ratio);
        assert.ok(orNever(after) <= orNever(before), `${after} is later than ${before}`);
      }),
      { seed: 55, numRuns: 30 },
    );
  });
});
