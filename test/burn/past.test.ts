import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BudgetCourse, exhaustionAt, GroupPast } from '../../src/burn/exhaustion.ts';
import { TrafficBook } from '../../src/burn/traffic.ts';
import { readWindow } from '../../src/burn/window.ts';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import { at, DAY, HOUR, MINUTE, RawGroup, sloOf } from '../support/raw-cells.ts';

const courseOf = (group: RawGroup, after = 0, past = new GroupPast()): BudgetCourse =>
  new BudgetCourse(group, budgetRatioOf(group.slo.objective), at(after), past);

/** The exhaustion figures at the burn of the last hour. */
const figuresOf = (group: RawGroup) =>
  exhaustionAt(
    courseOf(group),
    readWindow(group, at(0), HOUR),
    budgetRatioOf(group.slo.objective),
    group.slo.window.length,
  );

describe('what is kept of the past between ticks', () => {
  const moveArb = fc.record({
    hours: fc.integer({ min: 0, max: 60 }),
    lateBy: fc.integer({ min: 0, max: 100 }),
    bad: fc.nat(3),
    total: fc.integer({ min: 3, max: 500 }),
  });
  const ratioArb = fc.double({ min: 0.001, max: 1, noNaN: true });

  test('changes no figure, whatever came late', () => {
    fc.assert(
      fc.property(fc.array(moveArb, { minLength: 1, maxLength: 10 }), ratioArb, (moves, ratio) => {
        const group = new RawGroup(sloOf({ window: '4d', target: '0.95' }));
        const [past, traffic] = [new GroupPast(), new TrafficBook()];
        let after = 0;
        for (const { hours, lateBy, bad, total } of moves) {
          after += hours * HOUR;
          group.add(after, 0, 10).add(after - lateBy * HOUR, bad, total);
          const [warm, cold] = [past, new GroupPast()].map((one) => courseOf(group, after, one));
          assert.equal(warm?.timeAt(ratio), cold?.timeAt(ratio));
          const [kept, fresh] = [traffic, new TrafficBook()].map((book) => book.expect(group, at(after), 0.001));
          for (const ahead of [HOUR / 3, 5 * HOUR, DAY, 3 * DAY + HOUR]) assert.equal(kept?.(ahead), fresh?.(ahead));
        }
      }),
      { seed: 71, numRuns: 40 },
    );
  });
});

describe('time to exhaustion', () => {
  test('of a clean, steady budget is the pace: SLO window / burn', () => {
    const group = new RawGroup(sloOf()).steady(-31 * DAY, 0, 0, 1000, 5 * MINUTE);
    for (const burn of [1, 2, 10, 1000]) {
      const found = courseOf(group).timeAt(burn * 0.001);
      const pace = (30 * DAY) / burn;
      assert.ok(found !== null && Math.abs(found - pace) <= 1, `${burn}x: ${found}, pace ${pace}`);
    }
    assert.equal(courseOf(group).timeAt(0.000999), null);
  });

  test('counts what rolls out: an old outage that leaves soon gives budget back', () => {
    // An hour of outage at 99 % is 13.9 % of the budget, 29 days ago or yesterday.
    const withOutage = (daysAgo: number) =>
      new RawGroup(sloOf({ target: '0.99' }))
        .steady(-31 * DAY, 0, 0, 1000, 5 * MINUTE)
        .steady(-daysAgo * DAY, -daysAgo * DAY + HOUR, 1000, 0, 5 * MINUTE);
    assert.equal(courseOf(withOutage(29)).timeAt(0.0095), null);
    assert.ok(courseOf(withOutage(1)).timeAt(0.0095) !== null);
  });

  test('expects the traffic of the same hours, not that of the alert window', () => {
    const group = new RawGroup(sloOf());
    // 8 h of night with 10 events per 5 min, then 1000; midnight is now.
    for (let day = -31; day < 0; day += 1) {
      group.steady(day * DAY, day * DAY + 8 * HOUR, 0, 10, 5 * MINUTE);
      group.steady(day * DAY + 8 * HOUR, (day + 1) * DAY, 0, 1000, 5 * MINUTE);
    }
    const budget = 0.001 * 30 * 12 * (8 * 10 + 16 * 1000);
    // The night holds 960 events, the rest is spent at 12,000 an hour.
    const wanted = 8 * HOUR + ((budget - 960) / 12_000) * HOUR;
    const found = courseOf(group).timeAt(1);
    assert.ok(found !== null && Math.abs(found - wanted) < MINUTE, `${found} is not ${wanted}`);
  });

  test('of the example in Observability Engineering, chapter 13, is 28 h: 154 errors left at 130 a day', () => {
    // The book has 1,460 events a day and 153 errors left; whole events per hour make it 1,464 and 154.2.
    const group = new RawGroup(sloOf({ target: '0.99' })).steady(-30 * DAY, 0, 0, 61, HOUR);
    group.add(-4 * DAY, 155, 0).add(-DAY + 10_000, 130, 0);
    const found = courseOf(group).timeAt(130 / 1464);
    const wanted = (154.2 / 130) * DAY;
    // An hour's events roll out all at once here.
    assert.ok(found !== null && Math.abs(found - wanted) <= 10 * MINUTE, `${found} is not ${wanted}`);
  });

  test('a budget that is gone is positive again when enough of the outage has rolled out', () => {
    const from = -3 * DAY - 8 * HOUR;
    const group = new RawGroup(sloOf({ target: '0.99' }))
      .steady(-31 * DAY, 0, 0, 1000, 5 * MINUTE)
      .steady(from, -3 * DAY, 1000, 0, 5 * MINUTE);
    const { exhausted, recoversAt } = figuresOf(group);
    // 432 min are allowed, 480 were spent: 48 min of them have to leave.
    const wanted = at(from + 30 * DAY + 48 * MINUTE);
    assert.equal(exhausted, true);
    assert.ok(Math.abs((recoversAt ?? 0) - wanted) <= 10 * MINUTE, `${((recoversAt ?? 0) - wanted) / MINUTE} min off`);
  });

  test('the band holds the figure, and narrows with more events', () => {
    const [few, many] = [10, 10_000].map((perStep) =>
      figuresOf(
        new RawGroup(sloOf())
          .steady(-31 * DAY, -HOUR, 0, perStep, 5 * MINUTE)
          .steady(-HOUR, 0, perStep / 10, perStep, 5 * MINUTE),
      ),
    );
    for (const figures of [few, many]) {
      const { low = null, until = null, high = null } = figures ?? {};
      assert.ok(low !== null && until !== null && high !== null && low < until && until < high);
    }
    const width = (figures: typeof few): number => (figures?.high ?? 0) - (figures?.low ?? 0);
    assert.ok(width(many) < width(few) / 5);
  });
});
