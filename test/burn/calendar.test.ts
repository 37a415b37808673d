import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { present } from '../../src/base/assert.ts';
import { formatInstant } from '../../src/base/instant.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import { BudgetCourse, exhaustionAt } from '../../src/burn/exhaustion.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import { readWindow } from '../../src/burn/window.ts';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import { headline, run, statusAt } from '../support/burn-run.ts';
import { at, DAY, HOUR, MINUTE, RawCells, RawGroup, SECOND, type SloOptions, sloOf, T0 } from '../support/raw-cells.ts';

const BERLIN = 'Europe/Berlin';
const MONTH = { duration: '1M', startTime: '2026-01-01T00:00:00', zone: BERLIN };
const WEEK = { duration: '1w', startTime: '2026-01-05T00:00:00', zone: BERLIN };
/** Milliseconds after T0 of a time in Berlin. */
const berlin = (local: string): number => DateTime.fromISO(local, { zone: BERLIN }).toMillis() - T0;

const courseOf = (group: RawGroup, after: number): BudgetCourse =>
  new BudgetCourse(group, budgetRatioOf(group.slo.objective), at(after));

/** Events each 5 minutes from `from` to `to`; `bad` of each `total`. */
const steady = (options: SloOptions, from: number, to: number, bad: number, total: number): RawGroup =>
  new RawGroup(sloOf({ calendar: MONTH, ...options })).steady(from, to, bad, total, 5 * MINUTE);

const near = (actual: number | null | undefined, expected: number, within: number, what: string): void =>
  assert.ok(actual !== null && actual !== undefined && Math.abs(actual - expected) <= within, `${what}: ${actual}`);

describe('what is left of a calendar budget', () => {
  const april = berlin('2026-04-01T00:00:00');
  const may = berlin('2026-05-01T00:00:00');

  test('is a share of what came so far and what is expected; the figure so far stands beside it', () => {
    // Half of April at burn 1: half of the whole month's budget is left, none of that so far.
    const middle = april + (may - april) / 2;
    const group = steady({}, april - 8 * DAY, middle, 1, 1000);
    const status = statusAt(new RawCells(group), middle);
    near(status.budgetRemaining, 0.5, 1e-9, 'of the month');
    near(status.budgetRemainingSoFar, 0, 1e-9, 'so far');
    assert.equal(status.total, (15 * DAY * 1000) / (5 * MINUTE));
    assert.equal(status.resetsAt, at(may));
  });

  test('counts from the local start of the period to its local end', () => {
    const group = steady({}, april - 8 * DAY, may, 1, 1000);
    const before = statusAt(new RawCells(group), april);
    const after = statusAt(new RawCells(group), april + 5 * MINUTE);
    const steps = (april - (april - 8 * DAY)) / (5 * MINUTE);
    assert.deepEqual([before.total, before.resetsAt], [steps * 1000, at(april)]);
    assert.deepEqual([after.total, after.bad, after.resetsAt], [1000, 1, at(may)]);
    assert.equal(before.budgetRemaining, before.budgetRemainingSoFar);
    assert.equal(formatInstant(at(april)), '2026-03-31T22:00:00.000Z');
  });

  test('a young group has an error-free lead in its period, as in any window', () => {
    const group = steady({}, april + 10 * DAY, april + 20 * DAY, 1, 1000);
    near(statusAt(new RawCells(group), april + 20 * DAY).budgetRemainingSoFar, 0.5, 1e-9, 'so far');
    near(statusAt(new RawCells(group), april + 20 * DAY).budgetRemaining, 1 - 1 / 3, 1e-9, 'of the month');
  });

  test('a rolling window has neither', () => {
    const group = new RawGroup(sloOf()).steady(-DAY, 0, 1, 1000, 5 * MINUTE);
    const { budgetRemainingSoFar, resetsAt } = statusAt(new RawCells(group), 0);
    assert.deepEqual([budgetRemainingSoFar, resetsAt], [null, null]);
  });

  test('is never less of the whole than of what came so far', () => {
    const eventsArb = fc.array(fc.tuple(fc.nat(20 * 24), fc.nat(50), fc.integer({ min: 50, max: 500 })), {
      minLength: 1,
    });
    fc.assert(
      fc.property(eventsArb, fc.integer({ min: 1, max: 21 * 24 }), (events, hours) => {
        const group = new RawGroup(sloOf({ calendar: MONTH }));
        for (const [hour, bad, total] of events) group.add(april + hour * HOUR + MINUTE, bad, total);
        const { budgetRemaining, budgetRemainingSoFar } = statusAt(new RawCells(group), april + hours * HOUR);
        fc.pre(budgetRemainingSoFar !== null);
        assert.ok((budgetRemaining ?? Number.NaN) >= (budgetRemainingSoFar ?? Number.NaN) - 1e-12);
      }),
      { seed: 81, numRuns: 60 },
    );
  });
});

describe('time to exhaustion of a calendar budget', () => {
  const start = berlin('2026-03-23T00:00:00');
  const reset = berlin('2026-03-30T00:00:00');
  const nextReset = berlin('2026-04-06T00:00:00');

  interface History {
    /** Events per 5 minutes by hour of the day, UTC. */
    readonly byHour: readonly number[];
    /** Bad events of 1,000 this week. */
    readonly bad: number;
    readonly minutes: number;
  }

  const historyArb: fc.Arbitrary<History> = fc.record({
    byHour: fc.array(fc.constantFrom(1000, 4000, 20_000), { minLength: 24, maxLength: 24 }),
    bad: fc.integer({ min: 0, max: 15 }),
    minutes: fc.integer({ min: 1, max: (reset - start) / (5 * MINUTE) }).map((steps) => steps * 5),
  });
  const hourOf = (after: number): number => Math.floor((T0 + after) / HOUR) % 24;

  function groupOf({ byHour, bad, minutes }: History): RawGroup {
    const group = new RawGroup(sloOf({ calendar: WEEK, target: '0.99' })).steady(
      start - 8 * DAY,
      start - 8 * DAY,
      0,
      0,
    );
    for (let after = start - 8 * DAY + 5 * MINUTE; after <= start + minutes * MINUTE; after += 5 * MINUTE) {
      const total = byHour[hourOf(after - 1)] ?? 0;
      group.add(after, after > start ? Math.floor((total * bad) / 1000) : 0, total);
    }
    return group;
  }

  /** Minute by minute: this week, the reset, next week. */
  function slowly(group: RawGroup, { byHour, minutes }: History, ratio: number): number | null {
    const to = start + minutes * MINUTE;
    const comes = (minute: number): number => (byHour[hourOf(minute)] ?? 0) / 5;
    const between = (from: number, until: number): number => {
      let sum = 0;
      for (let minute = from; minute < until; minute += MINUTE) sum += comes(minute);
      return sum;
    };
    let { bad, total } = group.range(at(start), at(to));
    let allowed = 0.01 * (total + between(to, reset));
    for (let minute = to; minute <= nextReset; minute += MINUTE) {
      if (bad > 0 && bad >= allowed * (1 - 1e-9)) return minute - to;
      if (minute === reset) [bad, total, allowed] = [0, 0, 0.01 * between(reset, nextReset)];
      bad += ratio * comes(minute);
    }
    return null;
  }

  test('agrees with a walk minute by minute over the reset', () => {
    const seen = { now: 0, before: 0, after: 0, never: 0 };
    fc.assert(
      fc.property(historyArb, fc.constantFrom(0.004, 0.009, 0.0101, 0.015, 0.05, 0.5), (history, ratio) => {
        const group = groupOf(history);
        const to = start + history.minutes * MINUTE;
        const [fast, slow] = [courseOf(group, to).timeAt(ratio), slowly(group, history, ratio)];
        if (fast === null || slow === null) assert.equal(fast, slow);
        else assert.ok(Math.abs(fast - slow) <= MINUTE, `${fast / MINUTE} min, not ${slow / MINUTE}`);
        seen[fast === null ? 'never' : fast === 0 ? 'now' : to + fast <= reset ? 'before' : 'after'] += 1;
      }),
      { seed: 82, numRuns: 150 },
    );
    for (const [what, times] of Object.entries(seen)) assert.ok(times > 5, `${what}: seen ${times} times`);
  });

  test('more errors ahead never predict a later end', () => {
    const ratioArb = fc.double({ min: 0, max: 1, noNaN: true });
    const orNever = (value: number | null): number => value ?? Number.POSITIVE_INFINITY;
    fc.assert(
      fc.property(historyArb, ratioArb, ratioArb, (history, a, b) => {
        const course = courseOf(groupOf(history), start + history.minutes * MINUTE);
        assert.ok(orNever(course.timeAt(Math.max(a, b))) <= orNever(course.timeAt(Math.min(a, b))));
      }),
      { seed: 83, numRuns: 60 },
    );
  });

  test('at burn 1 exactly a clean week lasts it out, and the next goes to its end', () => {
    const group = steady({ calendar: WEEK }, start - 8 * DAY, start + DAY, 0, 1000);
    const course = courseOf(group, start + DAY);
    near(course.timeAt(0.001), nextReset - start - DAY, 1, 'burn 1');
    assert.equal(course.timeAt(0.000999), null);
    // 7 days less an hour for summer time are allowed, and 6 of them are left at twice the pace.
    near(course.timeAt(0.002), (reset - start) / 2, 1, 'burn 2');
    assert.equal(course.timeAt(0.002, 3 * DAY), null);
  });

  test('an exhausted budget recovers at the reset, and is whole after it', () => {
    const group = steady({ calendar: WEEK }, start - 8 * DAY, start, 0, 1000);
    group.steady(start, start + DAY, 20, 1000, 5 * MINUTE).steady(start + DAY, reset + DAY, 0, 1000, 5 * MINUTE);
    const [before, after] = [start + DAY, reset + HOUR].map((time) => {
      const budget = budgetRatioOf(group.slo.objective);
      group.revealedUntil = at(time);
      return exhaustionAt(courseOf(group, time), readWindow(group, at(time), 3 * DAY), budget, 7 * DAY);
    });
    assert.deepEqual([before?.exhausted, before?.until, before?.recoversAt], [true, 0, at(reset)]);
    assert.deepEqual([after?.exhausted, after?.recoversAt], [false, null]);
    const status = statusAt(new RawCells(group), reset + HOUR);
    assert.equal(status.budgetRemaining, 1);
  });
});

describe('alerts over a reset', () => {
  const reset = berlin('2026-04-01T00:00:00');

  for (const policy of ['workbook', 'countdown'] as const) {
    test(`${policy}: an outage over the reset is one alert, and its cost is of this month's budget`, () => {
      const group = new RawGroup(sloOf({ calendar: MONTH, policy }))
        .steady(reset - 10 * DAY, reset - 30 * MINUTE, 0, 100)
        .steady(reset - 30 * MINUTE, reset + 30 * MINUTE, 15, 100)
        .steady(reset + 30 * MINUTE, reset + 2 * DAY, 0, 100);
      const cells = new RawCells(group);
      const { news, said } = run(cells, reset - HOUR, reset + 16 * HOUR, { everyMs: MINUTE });
      const [first, ...others] = news;
      assert.match(headline(present(first, 'first')), /^fired page/);
      const ends = others.filter((one) => headline(one) === 'resolved');
      assert.equal(ends.length, 1, news.map(headline).join());
      assert.ok((ends[0]?.after ?? 0) > reset + 30 * MINUTE);
      const spent = said.findLast(({ after }) => after <= reset + 20 * MINUTE)?.change.alert.burn;
      const allowed = 0.001 * 30 * DAY;
      near(spent?.spent, (0.15 * 20 * MINUTE) / allowed, 0.01, 'spent');
      near(spent?.budgetRemaining, 1 - (0.15 * 20 * MINUTE) / allowed, 0.01, 'left');
    });
  }

  test('under workbook they are those of a rolling window, wherever outages and the reset lie', () => {
    const outageArb = fc.record({
      from: fc.integer({ min: -60, max: 30 }),
      steps: fc.integer({ min: 1, max: 12 }),
      bad: fc.integer({ min: 1, max: 100 }),
    });
    let alerts = 0;
    fc.assert(
      fc.property(fc.array(outageArb, { minLength: 1, maxLength: 3 }), (outages) => {
        const [calendar, rolling] = [sloOf({ calendar: MONTH }), sloOf()].map((slo) => {
          const group = new RawGroup(slo).steady(reset - 5 * DAY, reset + DAY, 0, 400, 5 * MINUTE);
          for (const { from, steps, bad } of outages) {
            group.steady(reset + from * 5 * MINUTE, reset + (from + steps) * 5 * MINUTE, bad, 0, 5 * MINUTE);
          }
          const { news } = run(new RawCells(group), reset - 6 * HOUR, reset + 8 * HOUR, { everyMs: 5 * MINUTE });
          return news.map((said) => `${said.after} ${headline(said)}`);
        });
        assert.deepEqual(calendar, rolling);
        alerts += calendar?.length ?? 0;
      }),
      { seed: 84, numRuns: 25 },
    );
    assert.ok(alerts > 25, `${alerts}`);
  });

  test('the factor is of the nominal month: 14.4 over an hour, whatever the month', () => {
    const { tiers } = sloOf({ calendar: MONTH }).policy;
    assert.deepEqual(
      tiers.map(({ factor }) => Number(factor.numerator) / Number(factor.denominator)),
      [14.4, 6, 3, 1],
    );
  });

  test('nothing of a period is kept: an engine that starts at any time says the same', () => {
    const group = new RawGroup(sloOf({ calendar: MONTH }));
    group.steady(reset - 9 * DAY, reset + 2 * HOUR, 1, 400, MINUTE);
    const cells = new RawCells(group);
    const engine = createBurnEngine();
    for (let after = reset - HOUR; after <= reset + HOUR; after += 5 * MINUTE) {
      cells.reveal(at(after));
      const [kept] = engine.evaluate(cells, at(after)).statuses;
      const fresh = statusAt(cells, after);
      const figures = ({ good, bad, budgetRemaining, budgetRemainingSoFar, resetsAt, exhaustion }: GroupStatus) => ({
        good,
        bad,
        budgetRemaining,
        budgetRemainingSoFar,
        resetsAt,
        exhaustion,
      });
      assert.deepEqual(figures(present(kept, 'status')), figures(fresh));
    }
  });

  test('a fleet that fell silent before the reset has a new period, of which nothing is known', () => {
    const group = steady({}, reset - 9 * DAY, reset - HOUR, 1, 400);
    const cells = new RawCells(group);
    const watermark = at(reset - HOUR);
    cells.feedOf = () => ({ watermark, reporting: false, coverage: 0, newestPointAt: watermark });
    const before = statusAt(cells, reset - 10 * SECOND);
    const after = statusAt(cells, reset + 10 * SECOND);
    assert.deepEqual([before.resetsAt, before.state], [at(reset), 'no_data']);
    assert.deepEqual([after.resetsAt, after.state, after.total], [at(berlin('2026-05-01T00:00:00')), 'no_data', 0]);
    assert.deepEqual([after.sli, after.budgetRemainingSoFar], [null, null]);
  });

  test('input that contradicts itself is no budget', () => {
    const group = steady({}, reset, reset + DAY, 0, 100).add(reset + DAY, 900_000, 1);
    const { inconsistent, budgetRemaining, budgetRemainingSoFar } = statusAt(new RawCells(group), reset + DAY);
    assert.deepEqual([inconsistent, budgetRemaining, budgetRemainingSoFar], [true, null, null]);
  });
});
