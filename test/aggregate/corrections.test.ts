import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SloGroup } from '../../src/aggregate/slo-group.ts';
import type { GroupView, SloCells } from '../../src/aggregate/view.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { Correction } from '../../src/model/correction.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { bookOf, correctionOf, recurrenceOf, undone } from '../support/corrections.ts';
import { at, DAY, HOUR, MINUTE, SECOND, sloOf, T0 } from '../support/raw-cells.ts';

const LABELS = labelsOf([['lb.upstream.cluster', 'checkout']]);
const STEP = 10 * SECOND;

/** Events at times after T0, in whole seconds, each in a real group with its levels, and kept raw beside it. */
interface Event {
  readonly after: number;
  readonly bad: number;
  readonly total: number;
}

function groupOf(events: readonly Event[], window = '30d'): SloGroup {
  const group = new SloGroup(sloOf({ window }), LABELS);
  for (const { after, bad, total } of [...events].sort((a, b) => a.after - b.after)) {
    const time = T0 + after;
    group.total.add(epochMs(time - SECOND), epochMs(time), total);
    group.part.add(epochMs(time - SECOND), epochMs(time), bad);
  }
  return group;
}

/** Straight from the raw events: those in the window and in no correction, each rounded out to 5 minutes. */
function brute(events: readonly Event[], corrections: readonly Correction[], from: number, to: number) {
  const step = 5 * MINUTE;
  const isOut = (time: number): boolean =>
    corrections.some(
      ({ time: when, undone: mark }) =>
        mark === null &&
        when.kind === 'once' &&
        Math.floor(when.from / step) * step < time &&
        time <= Math.ceil(when.to / step) * step,
    );
  let [bad, total] = [0, 0];
  for (const event of events) {
    const time = T0 + event.after;
    if (time <= from || time > to || isOut(time)) continue;
    bad += event.bad;
    total += event.total;
  }
  return { bad, total };
}

const SPAN = 36 * DAY;
const seconds = fc.integer({ min: 1, max: SPAN / SECOND }).map((n) => n * SECOND);
/** Most of them in the last hours, where steps are finer. */
const recent = fc.integer({ min: 0, max: (9 * HOUR) / SECOND }).map((n) => SPAN - n * SECOND);
const after = fc.oneof(seconds, recent);
const anyEvent: fc.Arbitrary<Event> = fc
  .record({ after, a: fc.nat(50), b: fc.nat(50) })
  .map(({ after: when, a, b }) => ({ after: when, bad: Math.min(a, b), total: Math.max(a, b) }));
const anyCorrection = fc
  .tuple(after, fc.integer({ min: 1, max: 3 * DAY }), fc.boolean())
  .map(([from, length, isUndone]) => {
    const one = correctionOf(from, T0 + from, T0 + from + length);
    return isUndone ? undone(one) : one;
  });
const LENGTHS = [MINUTE, 5 * MINUTE, HOUR, 6 * HOUR, DAY, 3 * DAY, 30 * DAY];

describe('a group less its corrections', () => {
  const events = fc.array(anyEvent, { minLength: 1, maxLength: 120 });
  const corrections = fc.array(anyCorrection, { maxLength: 6 });

  test('is what brute force counts outside of them, whatever overlaps and however old', () => {
    fc.assert(
      fc.property(events, corrections, (raw, list) => {
        const group = groupOf([...raw, { after: SPAN, bad: 1, total: 1 }]);
        const all = [...raw, { after: SPAN, bad: 1, total: 1 }];
        const view = bookOf(...list).view(group, at(SPAN));
        for (const length of LENGTHS) {
          const end = at(SPAN);
          const { bad, total, from, to, inconsistent } = view.range(epochMs(end - length), end);
          assert.deepEqual([bad, total], Object.values(brute(all, list, from, to)), `${length}`);
          assert.equal(inconsistent, false);
          // The same edges as without corrections.
          const plain = group.range(epochMs(end - length), end);
          assert.deepEqual([plain.from, plain.to], [from, to]);
        }
      }),
      { seed: 41, numRuns: 300 },
    );
  });

  test('does not change as the events grow old, from 10 s steps to those of 5 min', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 60 }), anyCorrection, (raw, one) => {
        const group = groupOf(raw.map((event) => ({ ...event, after: Math.max(1000, event.after % (6 * HOUR)) })));
        const shifted = correctionOf(1, T0 + (one.id % (6 * HOUR)), T0 + (one.id % (6 * HOUR)) + HOUR + 7 * SECOND);
        const book = bookOf(shifted);
        const sums = (now: EpochMs) => {
          const { bad, total } = book.view(group, now).range(at(0), at(DAY));
          return { bad, total };
        };
        const young = sums(at(6 * HOUR));
        for (const age of [10 * HOUR, 4 * DAY, 30 * DAY]) {
          group.total.add(epochMs(T0 + age), epochMs(T0 + age), 1);
          // The event at 10 h lies in the window, the later ones only move time on.
          assert.deepEqual(sums(at(age)), { ...young, total: young.total + 1 });
        }
      }),
      { seed: 42, numRuns: 100 },
    );
  });

  test('sums of pieces are the sum of the whole, so that hours and days can be kept', () => {
    fc.assert(
      fc.property(events, corrections, (raw, list) => {
        const group = groupOf(raw);
        const view = bookOf(...list).view(group, at(SPAN));
        const sumOf = (from: number, to: number) => view.range(at(from), at(to));
        let [bad, total] = [0, 0];
        for (let day = 0; day < 36; day += 1) {
          const piece = sumOf(day * DAY, (day + 1) * DAY);
          bad += piece.bad;
          total += piece.total;
        }
        const whole = sumOf(0, SPAN);
        assert.deepEqual([bad, total], [whole.bad, whole.total]);
      }),
      { seed: 43, numRuns: 100 },
    );
  });

  test('is the group itself again once all are undone', () => {
    const group = groupOf([{ after: HOUR, bad: 3, total: 9 }]);
    const correction = correctionOf(1, T0, T0 + DAY);
    const book = bookOf(correction);
    assert.equal(book.view(group, at(DAY)).range(at(0), at(DAY)).total, 0);
    assert.equal(book.without(1, group, at(DAY)), group);
    book.replace([undone(correction)]);
    assert.equal(book.view(group, at(DAY)), group);
  });

  test('contradictions that a correction takes out are gone', () => {
    const group = groupOf([{ after: HOUR, bad: 3, total: 9 }]);
    group.part.add(epochMs(T0 + 2 * HOUR - 1), epochMs(T0 + 2 * HOUR), 1000);
    assert.equal(group.range(at(0), at(3 * HOUR)).inconsistent, true);
    const view = bookOf(correctionOf(1, T0 + 2 * HOUR - MINUTE, T0 + 2 * HOUR)).view(group, at(3 * HOUR));
    const { bad, total, inconsistent } = view.range(at(0), at(3 * HOUR));
    assert.deepEqual([bad, total, inconsistent], [3, 9, false]);
  });

  test('a quarter is rounded to the 15 minutes of its coarsest level', () => {
    const calendar = { duration: '1Q', startTime: '2026-01-01 00:00:00', zone: 'UTC' };
    const group = new SloGroup(sloOf({ calendar }), LABELS);
    const { corrected } = bookOf(correctionOf(1, T0 + MINUTE, T0 + 2 * MINUTE)).view(group, at(0));
    assert.deepEqual(corrected?.exclusion.ranges, [{ start: at(0), end: at(15 * MINUTE) }]);
  });
});

describe('which groups a correction is for', () => {
  const groupWith = (id: string, cluster: string): SloGroup =>
    new SloGroup({ ...sloOf(), id }, labelsOf([['lb.upstream.cluster', cluster]]));
  const groups = [groupWith('a', 'x'), groupWith('a', 'y'), groupWith('b', 'x')];
  const hit = (over: Partial<Correction>): number[] => {
    const book = bookOf(correctionOf(1, T0, T0 + HOUR, over));
    return groups.flatMap((group, index) => (book.view(group, at(0)) === group ? [] : [index]));
  };

  test('those of the SLOs it names, those that its matchers fit, or both', () => {
    assert.deepEqual(hit({ slos: ['a'] }), [0, 1]);
    assert.deepEqual(hit({ slos: [], matchers: ['lb.upstream.cluster=x'] }), [0, 2]);
    assert.deepEqual(hit({ slos: ['a'], matchers: ['lb.upstream.cluster=x'] }), [0]);
    assert.deepEqual(hit({ slos: [], matchers: ['slo=~"a|b"', 'service=checkout', 'team=edge'] }), [0, 1, 2]);
    assert.deepEqual(hit({ slos: ['a', 'c'], matchers: ['team=other'] }), []);
  });

  test('one that names nothing takes nothing', () => {
    assert.deepEqual(hit({ slos: [], matchers: [] }), []);
  });

  test('an edited label of the SLO counts at once', () => {
    const group = groupWith('a', 'x');
    const book = bookOf(correctionOf(1, T0, T0 + HOUR, { slos: [], matchers: ['team=edge'] }));
    assert.notEqual(book.view(group, at(0)), group);
    group.slo = { ...group.slo, labels: labelsOf([['team', 'core']]) };
    assert.equal(book.view(group, at(0)), group);
  });
});

describe('the cells behind a book of corrections', () => {
  const group = groupOf([{ after: HOUR, bad: 1, total: 1 }]);
  const cells: SloCells = {
    groups: (): Iterable<GroupView> => [group],
    feed: () => ({ watermark: null, coverage: 1, reporting: true, newestPointAt: null }),
  };

  test('are the very same without any', () => {
    assert.equal(bookOf().over(cells, at(0)), cells);
    assert.equal(bookOf(undone(correctionOf(1, T0, T0 + HOUR))).over(cells, at(0)), cells);
  });

  test('planned work that repeats goes on, day after day', () => {
    const time = { kind: 'recurring', recurrence: recurrenceOf({ zone: 'UTC' }) } as const;
    const book = bookOf(correctionOf(1, 0, 0, { time }));
    for (let day = 0; day < 500; day += 25) {
      const [view] = book.over(cells, at(day * DAY)).groups();
      const exclusion = view?.corrected?.exclusion;
      const isOut = (after: number) => exclusion?.covers(at(day * DAY + after));
      assert.deepEqual(
        [isOut(2 * HOUR), isOut(2 * HOUR + STEP), isOut(3 * HOUR), isOut(3 * HOUR + STEP), isOut(26 * HOUR + STEP)],
        [false, true, true, false, true],
        `day ${day}`,
      );
    }
  });
});
