import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatReview } from '../../src/app/review.ts';
import { isoWeekAt, isoWeekStart } from '../../src/base/iso-week.ts';
import { epochMs } from '../../src/base/units.ts';
import type { HourlyFigures } from '../../src/model/measure.ts';
import { lastWeek, weekSpan } from '../../src/review/input.ts';
import { groupWeeks, spendsOf } from '../../src/review/spends.ts';
import { weeklyReview } from '../../src/review/weekly-review.ts';
import {
  at,
  budgetRow,
  burnRow,
  FAKE_REVIEW,
  fakeRows,
  levelRow,
  MONDAY,
  NEXT_MONDAY,
  pastIncident,
  reviewInput,
  SLO,
} from '../support/review.ts';

const HOUR = 3_600_000;
const text = (rows: readonly HourlyFigures[]): string => formatReview(weeklyReview(reviewInput({ rows })), 'json');

describe('ISO weeks', () => {
  test('have the number that ISO 8601 gives them', () => {
    for (const [day, week] of [
      ['2026-01-01', '2026-W01'],
      ['2027-01-03', '2026-W53'],
      ['2024-12-30', '2025-W01'],
      ['2026-11-25', '2026-W48'],
    ] as const) {
      assert.equal(isoWeekAt(epochMs(Date.parse(`${day}T12:00:00Z`))), week);
    }
    for (const wrong of ['2025-W53', '2026-W00', '2026-W54', '2026-48', ''])
      assert.equal(isoWeekStart(wrong), undefined);
  });

  test('lie in a row without gap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (moment) => {
        const start = isoWeekStart(isoWeekAt(epochMs(moment))) ?? Number.NaN;
        assert.ok(start <= moment && moment < start + 168 * HOUR);
      }),
    );
  });
});

describe('the weekly review', () => {
  test('has what the rows and people say', () => {
    const { budgets, incidents, pageLoad, config, certificates, toDo } = FAKE_REVIEW;
    const [budget] = budgets.items;
    assert.equal(budget?.slo, 'checkout-availability');
    assert.deepEqual([budget?.leftAtStart, budget?.leftAtEnd, budget?.spent], [0.6, 0.5, 0.16]);
    assert.deepEqual(
      incidents.items.map(({ id, pages, spent, noise }) => [id, pages, spent, noise?.by ?? null]),
      [
        [7, 2, 0.16, 'ada <b>'],
        [8, 0, null, null],
      ],
    );
    assert.deepEqual(
      pageLoad.items.map(({ receiver, pages, noise, mostInShift }) => [receiver, pages, noise, mostInShift]),
      [['oncall', 2, 2, 2]],
    );
    assert.deepEqual([config.limit, config.items[0]?.isOver], [0.25, false]);
    assert.equal(certificates.items[0]?.daysLeft, 9);
    assert.deepEqual(
      toDo.map(({ kind }) => kind),
      ['certificate', 'incident_spend', 'action_overdue'],
    );
  });

  test('does not depend on the order of rows', () => {
    const rows = fakeRows();
    const wanted = text(rows);
    const order = fc.array(fc.double({ noNaN: true }), { minLength: rows.length, maxLength: rows.length });
    fc.assert(
      fc.property(order, (keys) => {
        const shuffled = rows.map((row, i) => [keys[i] ?? 0, row] as const).sort(([a], [b]) => a - b);
        assert.equal(text(shuffled.map(([, row]) => row)), wanted);
      }),
      { numRuns: 5 },
    );
  });

  test('what comes after the week changes nothing in it', () => {
    const rows = fakeRows();
    const after = [budgetRow(170, SLO, [[0, 900]], { left: -1 }), burnRow(169, 7, SLO, 30.2, null)];
    assert.equal(text([...rows, ...after, levelRow(169, {}, 'resumption', 0.1)]), text(rows));
    const open = reviewInput({ incidents: [pastIncident(9, 10, 200)] });
    const [incident] = weeklyReview(open).incidents.items;
    assert.equal(incident?.resolvedAt, null);
    assert.deepEqual(weeklyReview(reviewInput({ incidents: [pastIncident(9, -20, -10)] })).incidents.items, []);
  });

  test('incidents never spend more than was spent, however their burns overlap', () => {
    const hour = fc.integer({ min: 1, max: 20 });
    const part = fc.tuple(fc.integer({ min: 0, max: 11 }), fc.integer({ min: 1, max: 50 }));
    const parts = fc.uniqueArray(part, { selector: ([index]) => index, maxLength: 12 });
    const spent = fc.uniqueArray(fc.tuple(hour, parts), { selector: ([one]) => one, maxLength: 20 });
    const burn = fc.tuple(
      hour,
      fc.integer({ min: 1, max: 4 }),
      fc.double({ min: 0, max: 20, noNaN: true }),
      fc.boolean(),
    );
    fc.assert(
      fc.property(spent, fc.array(burn, { maxLength: 12 }), (hours, burns) => {
        const rows = [
          ...hours.map(([end, bad]) => budgetRow(end, SLO, bad)),
          ...burns.map(([end, id, from, isOpen]) => burnRow(end, id, SLO, Math.min(from, end), isOpen ? null : end)),
        ];
        const [group] = groupWeeks(rows, MONDAY, NEXT_MONDAY);
        if (group === undefined) return;
        const all = group.hours.reduce((sum, { budget }) => sum + budget.bad, 0);
        const byIncident = spendsOf(group, rows, MONDAY, NEXT_MONDAY).reduce((sum, { bad }) => sum + bad, 0);
        assert.ok(byIncident <= all, `${byIncident} of ${all}`);
      }),
    );
  });

  test('a week says what it is: under way, with gaps, empty or ahead', () => {
    const rows = fakeRows();
    const running = weeklyReview(reviewInput({ rows }, at(50.5)));
    assert.deepEqual([running.state, running.hours, running.hoursKnown], ['running', 50, 50]);
    assert.match(formatReview(running, 'md'), /not over/);
    const gap = weeklyReview(reviewInput({ rows: rows.filter(({ hour }) => hour < at(20) || hour > at(30)) }));
    assert.match(formatReview(gap, 'md'), /Of 168 hours 157 are known/);
    const empty = weeklyReview(reviewInput());
    assert.equal(empty.state, 'no_data');
    assert.doesNotMatch(formatReview(empty, 'md').split('UTC.')[1] ?? '0', /\d/);
    assert.equal(weeklyReview(reviewInput({}, MONDAY)).state, 'ahead');
    assert.equal(lastWeek(epochMs(NEXT_MONDAY + 60_000)), '2026-W08');
    assert.equal(lastWeek(epochMs(NEXT_MONDAY + 600_000)), '2026-W09');
    assert.equal(weekSpan('2026-W60', NEXT_MONDAY), undefined);
  });

  test('names from telemetry are no markup in any rendering', () => {
    assert.doesNotMatch(formatReview(FAKE_REVIEW, 'html'), /shop \| <b>|<checkout>|<first>|ada <b>/);
    for (const line of formatReview(FAKE_REVIEW, 'md').split('\n')) assert.doesNotMatch(line, /(^|[^\\])<|shop \| /);
  });
});
