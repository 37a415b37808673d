import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { epochMs } from '../../src/base/units.ts';
import { badOfSlice, SLICE_PARTS, unitOf } from '../../src/slo/slices.ts';
import type { Budgeting } from '../../src/slo/slo.ts';
import { DAY, HOUR, MINUTE, T0 } from '../support/raw-cells.ts';
import { ratioTimeslices, Sliced, slicedSlo, timeslices } from '../support/sliced.ts';

const SECOND = 1000;
const STEP = 10 * SECOND;

/** Events in the step that ends `step` steps after T0, or that there were none. */
interface Count {
  readonly step: number;
  readonly good: number;
  readonly bad: number;
}

/** Slices told by brute force over raw counts: those with data, and how bad they are in units. */
function expectedSlices(counts: readonly Count[], budgeting: Exclude<Budgeting, { kind: 'occurrences' }>) {
  const slices = new Map<number, { bad: number; total: number }>();
  for (const { step, good, bad } of counts) {
    const slice = Math.ceil((T0 + step * STEP) / budgeting.width);
    const before = slices.get(slice) ?? { bad: 0, total: 0 };
    slices.set(slice, { bad: before.bad + bad, total: before.total + bad + good });
  }
  return new Map([...slices].map(([slice, { bad, total }]) => [slice, badOfSlice(budgeting, bad, total)]));
}

const count = (steps: number): fc.Arbitrary<Count> =>
  fc.record({ step: fc.integer({ min: 1, max: steps }), good: fc.nat(20), bad: fc.nat(3) });

function addCount(sliced: Sliced, { step, good, bad }: Count): void {
  const end = T0 + step * STEP;
  sliced.add(end - STEP, end, bad, good + bad);
}

function checkAll(sliced: Sliced, counts: readonly Count[], steps: number): void {
  const { budgeting } = sliced.slo;
  assert.ok(budgeting.kind !== 'occurrences');
  const expected = expectedSlices(counts, budgeting);
  const { width } = budgeting;
  const last = Math.ceil((T0 + steps * STEP) / width);
  const all = { bad: 0, total: 0 };
  for (let slice = Math.floor(T0 / width) + 1; slice <= last; slice += 1) {
    const { bad, total } = sliced.group.range(epochMs((slice - 1) * width), epochMs(slice * width));
    const wanted = expected.get(slice);
    const unit = unitOf(budgeting);
    assert.deepEqual([bad, total], wanted === undefined ? [0, 0] : [wanted, unit], `slice ${slice}`);
    all.bad += bad;
    all.total += total;
  }
  const { bad, total } = sliced.group.range(epochMs(T0), epochMs(last * width));
  assert.deepEqual({ bad, total }, all);
}

const KINDS: readonly (readonly [string, Budgeting, number])[] = [
  ['10 s by target', timeslices(STEP, '0.9'), 2000],
  ['30 s by ratio', ratioTimeslices(30 * SECOND), 2000],
  ['90 s by target', timeslices(90 * SECOND, '0.8'), 2000],
  ['1 min by target', timeslices(MINUTE), 20_000],
  ['5 min by ratio', ratioTimeslices(5 * MINUTE), 40_000],
  ['1 h by target', timeslices(HOUR, '0.85'), 100_000],
];

describe('slices are what brute force over the raw events says', () => {
  for (const [name, budgeting, steps] of KINDS) {
    test(`${name}: in any order, with reads and restarts in between`, () => {
      const input = fc.record({
        counts: fc.array(count(steps), { maxLength: 40 }),
        reads: fc.array(fc.nat(40), { maxLength: 6 }),
        restarts: fc.array(fc.nat(40), { maxLength: 2 }),
      });
      fc.assert(
        fc.property(input, ({ counts, reads, restarts }) => {
          const sliced = new Sliced(slicedSlo(budgeting));
          for (const [index, one] of counts.entries()) {
            if (reads.includes(index)) sliced.group.range(epochMs(T0), epochMs(T0 + steps * STEP));
            if (restarts.includes(index)) sliced.restart();
            addCount(sliced, one);
          }
          checkAll(sliced, counts, steps);
          sliced.restart();
          checkAll(sliced, counts, steps);
        }),
        { numRuns: 60 },
      );
    });
  }

  test('amounts over many slices are judged as their steps are, however they are cut', () => {
    const spans = fc.array(
      fc.record({ from: fc.nat(3000), length: fc.integer({ min: 1, max: 2000 }), bad: fc.nat(30), good: fc.nat(300) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(spans, fc.nat(12), (all, cut) => {
        const sliced = new Sliced(slicedSlo(timeslices(MINUTE, '0.9')));
        const plain = new Sliced({ ...slicedSlo({ kind: 'occurrences' }) });
        const touched = new Set<number>();
        for (const [index, { from, length, bad, good }] of all.entries()) {
          if (index === cut) sliced.restart();
          const [start, end] = [T0 + from * SECOND, T0 + (from + length) * SECOND];
          for (const one of [sliced, plain]) one.add(start, end, bad, bad + good);
          for (let slice = Math.floor(start / MINUTE) + 1; slice <= Math.ceil(end / MINUTE); slice += 1) {
            touched.add(slice);
          }
        }
        for (let slice = T0 / MINUTE + 1; slice <= T0 / MINUTE + 90; slice += 1) {
          const [from, to] = [epochMs((slice - 1) * MINUTE), epochMs(slice * MINUTE)];
          const events = plain.group.range(from, to);
          const found = sliced.group.range(from, to);
          // A span's parts may fall apart by rounding: more bad than all in one step. That slice counts as without data.
          const counts = touched.has(slice) && !events.inconsistent;
          const isBad = counts && events.bad * 10 > events.total;
          assert.deepEqual([found.bad, found.total], [isBad ? 1 : 0, counts ? 1 : 0]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('a jump of a week between two reads loses nothing that waited to be judged', () => {
    const sliced = new Sliced(slicedSlo(timeslices(30 * SECOND)));
    sliced.add(T0, T0 + STEP, 1, 1);
    // Without a read in between; the 10 s steps of the first slice are gone after 7 h.
    sliced.add(T0 + 7 * DAY, T0 + 7 * DAY + STEP, 0, 1);
    const { bad, total } = sliced.group.range(epochMs(T0), epochMs(T0 + 8 * DAY));
    assert.deepEqual([bad, total], [1, 2]);
  });

  test('data older than the steps that make up whole slices change no slice, read before or not', () => {
    for (const isRead of [false, true]) {
      const sliced = new Sliced(slicedSlo(timeslices(30 * SECOND)));
      sliced.add(T0, T0 + STEP, 0, 100);
      sliced.add(T0 + 8 * HOUR - STEP, T0 + 8 * HOUR, 0, 100);
      if (isRead) sliced.group.range(epochMs(T0), epochMs(T0 + DAY));
      sliced.add(T0, T0 + STEP, 50, 50);
      sliced.add(T0 + HOUR - STEP, T0 + HOUR, 50, 50);
      const { bad, total } = sliced.group.range(epochMs(T0), epochMs(T0 + DAY));
      assert.deepEqual([bad, total], [0, 2], `read ${isRead}`);
    }
  });

  test('idle balancers do not move the events on, and a late event still changes only its own slice', () => {
    const sliced = new Sliced(slicedSlo(timeslices(30 * SECOND)));
    sliced.add(T0, T0 + STEP, 0, 1);
    for (let at = T0 + MINUTE; at <= T0 + 9 * HOUR; at += MINUTE) sliced.hear(at);
    const before = sliced.group.range(epochMs(T0), epochMs(T0 + 9 * HOUR));
    sliced.add(T0 + MINUTE - STEP, T0 + MINUTE, 5, 5);
    assert.deepEqual(sliced.group.range(epochMs(T0), epochMs(T0 + 9 * HOUR)), before);
    sliced.add(T0 + 8 * HOUR, T0 + 8 * HOUR + STEP, 5, 5);
    const after = sliced.group.range(epochMs(T0), epochMs(T0 + 9 * HOUR));
    assert.deepEqual([after.bad - before.bad, after.total - before.total], [1, 0]);
  });

  test('an amount over years costs a bounded time and touches only what is kept', () => {
    const sliced = new Sliced(slicedSlo(timeslices(STEP)));
    sliced.add(T0 - 3000 * DAY, T0, 1000, 10_000_000);
    const { total } = sliced.group.range(epochMs(T0 - 30 * DAY), epochMs(T0));
    assert.equal(total, (7 * HOUR) / STEP);
  });
});

describe('late data judge their own slice again', () => {
  test('a bad minute becomes good, and a good one bad', () => {
    const sliced = new Sliced(slicedSlo(timeslices(MINUTE, '0.9')));
    const minute = (index: number) =>
      sliced.group.range(epochMs(T0 + (index - 1) * MINUTE), epochMs(T0 + index * MINUTE));
    for (let index = 1; index <= 60; index += 1) sliced.add(T0 + (index - 1) * MINUTE, T0 + index * MINUTE, 0, 10);
    sliced.add(T0 + 9 * MINUTE, T0 + 10 * MINUTE, 5, 5);
    assert.deepEqual([minute(10).bad, minute(9).bad, minute(11).bad], [1, 0, 0]);
    sliced.add(T0 + 9 * MINUTE, T0 + 10 * MINUTE, 0, 100);
    assert.equal(minute(10).bad, 0);
    assert.deepEqual([minute(10).total, minute(9).total], [1, 1]);
  });

  test('a slice whose events contradict themselves is left out and flagged, and comes back when they no longer do', () => {
    const sliced = new Sliced(slicedSlo(timeslices(MINUTE)));
    for (let index = 0; index < 60; index += 1) sliced.add(T0 + index * MINUTE, T0 + (index + 1) * MINUTE, 0, 10);
    sliced.add(T0 + HOUR - MINUTE, T0 + HOUR, 15, 0);
    sliced.hear(T0 + HOUR);
    const status = sliced.status(T0 + HOUR);
    assert.deepEqual([status.total, status.bad], [59, 0]);
    sliced.add(T0 + HOUR - MINUTE, T0 + HOUR, 0, 5);
    const mended = sliced.status(T0 + HOUR);
    assert.deepEqual([mended.total, mended.bad, mended.inconsistent], [60, 1, false]);
  });
});

describe('vectors', () => {
  // The window's old edge is kept in steps of 5 min: the attack begins so that it ends on one.
  const begin = T0 + 2 * MINUTE;
  function attacked(budgeting: Budgeting, badOfHundred: number, minutes: number): Sliced {
    const sliced = new Sliced(slicedSlo(budgeting, { target: '0.95', window: '14d' }));
    for (let minute = (-14 * DAY) / MINUTE; minute < minutes; minute += 1) {
      const bad = minute < 0 ? badOfHundred : 99;
      sliced.add(begin + minute * MINUTE, begin + (minute + 1) * MINUTE, bad, 100);
    }
    sliced.hear(begin + minutes * MINUTE);
    return sliced;
  }

  test('two weeks at 95 % under full attack: Timeslices spend the budget in 16 h 48 min', () => {
    for (const minutes of [1007, 1008]) {
      const status = attacked(timeslices(MINUTE), 1, minutes).status(begin + minutes * MINUTE);
      assert.equal(status.bad, minutes);
      assert.equal(status.exhaustion.exhausted, minutes === 16 * 60 + 48, `${minutes}`);
    }
  });

  test('the same by ratio, with 1 % errors before: in 13 h 43 min', () => {
    // Slices of 1 % roll out as slices of 99 % come in: 1,008 = 201.6 + 0.98 x 822.9.
    for (const minutes of [822, 823]) {
      const status = attacked(ratioTimeslices(MINUTE), 1, minutes).status(begin + minutes * MINUTE);
      assert.ok(Math.abs(status.bad - (201.6 + 0.98 * minutes)) < 0.05, `${status.bad}`);
      assert.equal(status.exhaustion.exhausted, minutes === 13 * 60 + 43, `${minutes}`);
    }
  });

  test('thirds add up to their threshold', () => {
    const sliced = new Sliced(slicedSlo(ratioTimeslices(MINUTE), { target: '0.99' }));
    for (let index = 0; index < 3; index += 1) sliced.add(T0 + index * MINUTE, T0 + (index + 1) * MINUTE, 1, 3);
    const { bad, total } = sliced.group.range(epochMs(T0), epochMs(T0 + 3 * MINUTE));
    assert.ok(bad >= SLICE_PARTS && bad <= SLICE_PARTS + 3);
    assert.equal(total, 3 * SLICE_PARTS);
  });
});

describe('when a slice counts', () => {
  test('only once the watermark has passed its end', () => {
    const sliced = new Sliced(slicedSlo(timeslices(MINUTE)));
    sliced.add(T0, T0 + MINUTE, 0, 10);
    sliced.add(T0 + MINUTE, T0 + MINUTE + 50 * SECOND, 10, 10);
    sliced.hear(T0 + MINUTE + 50 * SECOND);
    const before = sliced.status(T0 + MINUTE + 50 * SECOND);
    assert.deepEqual([before.bad, before.total], [0, 1]);
    sliced.hear(T0 + 2 * MINUTE);
    const after = sliced.status(T0 + 2 * MINUTE);
    assert.deepEqual([after.bad, after.total], [1, 2]);
  });

  test('a longer silence is a gap: neither good nor bad, and not padded', () => {
    const sliced = new Sliced(slicedSlo(timeslices(MINUTE), { target: '0.99' }));
    for (let end = T0 - HOUR; end <= T0; end += MINUTE) {
      if (end <= T0 - 40 * MINUTE || end > T0 - 10 * MINUTE) {
        sliced.add(end - STEP, end, end === T0 ? 1 : 0, 1);
        sliced.hear(end);
      }
    }
    const status = sliced.status(T0);
    // 21 minutes up to the silence, 10 after it; the first of those is told by its own last interval.
    assert.deepEqual([status.total, status.bad], [31, 1]);
  });

  test('without any event there is no traffic, and that is not 100 %', () => {
    const sliced = new Sliced(slicedSlo(timeslices(MINUTE)));
    for (let end = T0; end <= T0 + HOUR; end += MINUTE) {
      sliced.add(end - MINUTE, end, 0, 0);
      sliced.hear(end);
    }
    const status = sliced.status(T0 + HOUR);
    assert.deepEqual([status.state, status.sli, status.budgetRemaining], ['no_traffic', null, null]);
  });

  test('windows that hold no two whole slices show no burn', () => {
    const sliced = new Sliced(slicedSlo(timeslices(30 * MINUTE)));
    sliced.add(T0, T0 + 2 * HOUR, 10, 10);
    sliced.hear(T0 + 2 * HOUR);
    const { burn } = sliced.status(T0 + 2 * HOUR);
    assert.deepEqual([burn.get('5m'), burn.get('30m')], [null, null]);
    assert.ok((burn.get('1h') ?? 0) > 0);
  });
});
