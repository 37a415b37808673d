import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CorrectionBook } from '../../src/aggregate/correction-book.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { type BurnEngine, createBurnEngine } from '../../src/burn/engine.ts';
import { BudgetCourse } from '../../src/burn/exhaustion.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import type { AlertChange } from '../../src/model/alert.ts';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import { bookOf, correctionOf, undone } from '../support/corrections.ts';
import { at, DAY, HOUR, MINUTE, RawCells, RawGroup, SECOND, sloOf, T0 } from '../support/raw-cells.ts';

const BUDGET = budgetRatioOf(sloOf().objective);

/** A tick of the engine over what the corrections leave, at `after` from T0. */
function tick(engine: BurnEngine, cells: RawCells, book: CorrectionBook, after: number) {
  cells.reveal(at(after));
  return engine.evaluate(book.over(cells, at(after)), at(after));
}

const only = (statuses: readonly GroupStatus[]): GroupStatus => {
  assert.equal(statuses.length, 1);
  return statuses[0] as GroupStatus;
};

const statusOf = (group: RawGroup, book: CorrectionBook, after: number): GroupStatus =>
  only(tick(createBurnEngine(), new RawCells(group), book, after).statuses);

/** `fired page`, `resolved corrected`, with minutes after T0. */
const told = (change: AlertChange): string => {
  const what = change.kind === 'resolved' ? change.reason : change.alert.severity;
  return `${(change.at - T0) / MINUTE} ${change.kind} ${what}`;
};

/** Everything but figures, over (from, to]. */
function news(cells: RawCells, book: CorrectionBook, from: number, to: number, engine = createBurnEngine()): string[] {
  const said: string[] = [];
  for (let after = from + 10 * SECOND; after <= to; after += 10 * SECOND) {
    const { changes } = tick(engine, cells, book, after);
    said.push(...changes.filter(({ kind }) => kind !== 'updated').map(told));
  }
  return said;
}

/** Thirty days of 100 events a minute before T0, then nothing yet. */
const month = (slo = sloOf()): RawGroup => new RawGroup(slo).steady(-31 * DAY, 0, 0, 100, MINUTE);

describe('a budget less its corrections', () => {
  test('is that of the same events without those taken out; what was observed stays', () => {
    const minute = fc.integer({ min: 1, max: 32 * 1440 });
    const burst = fc.record({
      from: minute,
      minutes: fc.integer({ min: 1, max: 600 }),
      bad: fc.integer({ min: 1, max: 9 }),
    });
    const correction = fc.record({ from: minute, minutes: fc.integer({ min: 1, max: 2000 }) });
    fc.assert(
      fc.property(fc.array(burst, { maxLength: 5 }), fc.array(correction, { maxLength: 5 }), (bursts, list) => {
        const [whole, left] = [new RawGroup(sloOf()), new RawGroup(sloOf())];
        const corrections = list.map(({ from, minutes }, index) =>
          correctionOf(index + 1, T0 + (from - 32 * 1440) * MINUTE, T0 + (from + minutes - 32 * 1440) * MINUTE),
        );
        const step = 5 * MINUTE;
        for (let index = -32 * 1440 + 1; index <= 0; index += 1) {
          const time = T0 + index * MINUTE;
          const isOut = corrections.some(
            ({ time: when }) =>
              when.kind === 'once' &&
              time > Math.floor(when.from / step) * step &&
              time <= Math.ceil(when.to / step) * step,
          );
          const at32 = index + 32 * 1440;
          const bad = Math.max(
            0,
            ...bursts.map((one) => (at32 >= one.from && at32 < one.from + one.minutes ? one.bad : 0)),
          );
          whole.add(index * MINUTE, bad, 10);
          left.add(index * MINUTE, isOut ? 0 : bad, isOut ? 0 : 10);
        }
        const corrected = statusOf(whole, bookOf(...corrections), 0);
        const plain = statusOf(whole, bookOf(), 0);
        const expected = statusOf(left, bookOf(), 0);
        assert.equal(corrected.budgetRemaining, expected.budgetRemaining);
        assert.deepEqual(corrected.burn, expected.burn);
        assert.deepEqual(
          [corrected.good, corrected.bad, corrected.total, corrected.sli],
          [plain.good, plain.bad, plain.total, plain.sli],
        );
        assert.deepEqual(
          [plain.good - (corrected.leftOut?.good ?? 0), plain.bad - (corrected.leftOut?.bad ?? 0)],
          [expected.good, expected.bad],
        );
        assert.equal(statusOf(whole, bookOf(...corrections.map(undone)), 0).leftOut, null);
        assert.deepEqual(statusOf(whole, bookOf(...corrections.map(undone)), 0), plain);
      }),
      { seed: 51, numRuns: 40 },
    );
  });

  test('a correction made now for last week counts from the next tick, and undone is as if it had never been', () => {
    const group = month().steady(0, HOUR, 0, 100, MINUTE);
    // Half the budget: 0.5 x 0.001 x 100 x 43,200 minutes.
    group.steady(-7 * DAY, -7 * DAY + 40 * MINUTE, 54, 54, MINUTE);
    const cells = new RawCells(group);
    const book = bookOf();
    const engine = createBurnEngine();
    const at1 = only(tick(engine, cells, book, 10 * MINUTE).statuses);
    assert.ok((at1.budgetRemaining ?? 0) < 0.51 && (at1.budgetRemaining ?? 0) > 0.49, `${at1.budgetRemaining}`);
    const outage = correctionOf(1, T0 - 7 * DAY, T0 - 7 * DAY + 40 * MINUTE);
    book.replace([outage]);
    const at2 = only(tick(engine, cells, book, 10 * MINUTE + 10 * SECOND).statuses);
    assert.deepEqual([at2.budgetRemaining, at2.leftOut?.bad, at2.leftOut?.corrections], [1, 40 * 54, [1]]);
    assert.equal(at2.bad, at1.bad);
    book.replace([undone(outage)]);
    const at3 = only(tick(engine, cells, book, 10 * MINUTE + 20 * SECOND).statuses);
    assert.deepEqual({ ...at3 }, { ...statusOf(group, bookOf(), 10 * MINUTE + 20 * SECOND) });
  });

  test('a group that is wholly taken out has no budget to judge by, but an SLI', () => {
    const group = new RawGroup(sloOf()).steady(-HOUR, 0, 1, 2, MINUTE);
    const status = statusOf(group, bookOf(correctionOf(1, T0 - DAY, T0 + DAY)), 0);
    assert.deepEqual(
      [status.budgetRemaining, status.sli, status.total, status.burn.get('1h'), status.exhaustion.exhausted],
      [null, 0.5, 120, null, false],
    );
  });

  test('a young group: the lead before its first data has the rate of the time that counts', () => {
    // Two days of data, one of them taken out: the lead of 28 days counts as 100 a minute, not 50.
    const group = new RawGroup(sloOf()).steady(-2 * DAY, 0, 0, 100, MINUTE).add(-MINUTE, 100, 0);
    const status = statusOf(group, bookOf(correctionOf(1, T0 - 2 * DAY, T0 - DAY)), 0);
    const total = 100 * 1440 * (28 + 1);
    const expected = 1 - 100 / (0.001 * total);
    assert.ok(Math.abs((status.budgetRemaining ?? 0) - expected) < 1e-9, `${status.budgetRemaining}, not ${expected}`);
  });
});

describe('time to exhaustion under corrections', () => {
  /** Minute by minute over what is left, with constant traffic to come. */
  function slow(view: ReturnType<CorrectionBook['view']>, ratio: number, to: EpochMs): number | null {
    const length = 30 * DAY;
    for (let ahead = 0; ahead <= length; ahead += MINUTE) {
      const kept = view.range(epochMs(to - length + ahead), to);
      const arriving = (100 / MINUTE) * ahead;
      const bad = kept.bad + ratio * arriving;
      if (bad > 0 && bad >= BUDGET.value * (kept.total + arriving)) return ahead;
    }
    return null;
  }

  test('sees what rolls out of the past as it is corrected', () => {
    const share = fc.constantFrom(0, 0, 0, 1, 3);
    const correction = fc.record({ day: fc.integer({ min: 0, max: 29 }), hours: fc.integer({ min: 1, max: 60 }) });
    fc.assert(
      fc.property(
        fc.array(share, { minLength: 31, maxLength: 31 }),
        fc.array(correction, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(0.0005, 0.002, 0.01, 0.1),
        (days, list, ratio) => {
          const group = new RawGroup(sloOf());
          days.forEach((bad, day) => {
            group.steady((day - 31) * DAY, (day - 30) * DAY, 0, 100, MINUTE);
            for (let hour = 0; hour < 24; hour += 1) group.add((day - 31) * DAY + hour * HOUR + MINUTE, bad, 0);
          });
          const book = bookOf(
            ...list.map(({ day, hours }, index) => {
              const from = T0 - (day + 1) * DAY;
              return correctionOf(index + 1, from, Math.min(T0, from + hours * HOUR));
            }),
          );
          const view = book.view(group, at(0));
          const fast = new BudgetCourse(view, BUDGET, at(0)).timeAt(ratio);
          const expected = slow(view, ratio, at(0));
          if (fast === null || expected === null) assert.equal(fast, expected);
          else assert.ok(Math.abs(fast - expected) <= 5 * MINUTE, `${fast / MINUTE} min, not ${expected / MINUTE}`);
        },
      ),
      { seed: 52, numRuns: 25 },
    );
  });

  test('what is remembered between ticks follows a correction and its undoing', () => {
    const group = month().steady(0, HOUR, 5, 100, MINUTE);
    group.steady(-20 * DAY, -20 * DAY + HOUR, 20, 100, MINUTE);
    const cells = new RawCells(group);
    const book = bookOf();
    const engine = createBurnEngine();
    const one = correctionOf(1, T0 - 20 * DAY, T0 - 20 * DAY + HOUR);
    const other = correctionOf(2, T0 - 3 * DAY, T0 - DAY);
    let after = 30 * MINUTE;
    for (const list of [[], [one], [one, other], [undone(one), other], [undone(one), undone(other)], []]) {
      book.replace(list);
      after += 10 * SECOND;
      const kept = only(tick(engine, cells, book, after).statuses);
      const fresh = statusOf(group, book, after);
      assert.deepEqual(kept.exhaustion, fresh.exhaustion);
      assert.ok(kept.exhaustion.until !== null);
    }
  });

  test('traffic to come is that of the hours that count', () => {
    // Two of the last seven days were taken out at noon: the mean of that hour is that of the other five.
    const group = month();
    const noons = [1, 2].map((day) => correctionOf(day, T0 - day * DAY + 12 * HOUR, T0 - day * DAY + 13 * HOUR));
    const course = new BudgetCourse(bookOf(...noons).view(group, at(0)), BUDGET, at(0));
    const plain = new BudgetCourse(group, BUDGET, at(0));
    const [corrected, whole] = [course.timeAt(0.002), plain.timeAt(0.002)];
    assert.ok(corrected !== null && whole !== null);
    // Two hours less of the past, so that much sooner, and no more.
    assert.ok(Math.abs(corrected / whole - 1) < 0.01, `${corrected / HOUR} and ${whole / HOUR} h`);
  });
});

describe('alerts under corrections', () => {
  test('planned work that covers now pages nobody, however bad it is, and what goes on behind it does', () => {
    const group = month().steady(0, 3 * HOUR, 50, 100, MINUTE);
    const work = correctionOf(1, T0, T0 + 2 * HOUR);
    assert.deepEqual(news(new RawCells(group), bookOf(work), 0, 2 * HOUR), []);
    const after = news(new RawCells(group), bookOf(work), 0, 2 * HOUR + 15 * MINUTE);
    assert.equal(after.length > 0 && after[0]?.endsWith('fired page'), true, after.join());
    const [minute] = (after[0] ?? '').split(' ');
    assert.ok(Number(minute) > 120 && Number(minute) <= 130, after[0]);
  });

  test('errors just before planned work do not page during it', () => {
    // 84 of 6,000 are burn 14 over the hour; without the quiet minutes that leave it during the work it would be 14.4.
    const group = month()
      .steady(0, 4 * MINUTE, 21, 100, MINUTE)
      .steady(4 * MINUTE, HOUR, 0, 100, MINUTE);
    const work = correctionOf(1, T0 + 5 * MINUTE, T0 + HOUR);
    const pages = (book: CorrectionBook) =>
      news(new RawCells(group), book, 0, HOUR).filter((one) => one.includes('page'));
    assert.deepEqual(pages(bookOf(work)), []);
    // Nor does one whose evidence reaches into the work only by the watermark.
    const cells = new RawCells(group);
    cells.feedOf = (now) => ({ watermark: epochMs(now - MINUTE) });
    assert.deepEqual(news(cells, bookOf(work), 0, HOUR), []);
  });

  test('what fires when the work begins ends with a reason that names the correction, and comes back behind it', () => {
    const group = month().steady(0, 9 * HOUR, 50, 100, MINUTE);
    const work = correctionOf(7, T0 + 20 * MINUTE, T0 + 8 * HOUR);
    const cells = new RawCells(group);
    const engine = createBurnEngine();
    const book = bookOf(work);
    const first = news(cells, book, 0, 20 * MINUTE, engine);
    assert.ok(
      first.some((one) => one.endsWith('fired page')),
      first.join(),
    );
    const during = news(cells, book, 20 * MINUTE, 8 * HOUR, engine);
    assert.deepEqual(during.filter((one) => one.includes('resolved')).length, 1, during.join());
    assert.match(during.at(-1) ?? '', /resolved corrected$/);
    // Its last tier looks back over 6 h in its short window: the errors before the work hold it so long.
    assert.ok(Number((during.at(-1) ?? '').split(' ')[0]) <= 20 + 360, during.join());
    const behind = news(cells, book, 8 * HOUR, 8.5 * HOUR, engine);
    assert.ok(behind[0]?.endsWith('fired page'), behind.join());
  });

  test('a correction for the past ends what rested on it at the next tick', () => {
    const group = month()
      .steady(0, 20 * MINUTE, 50, 100, MINUTE)
      .steady(20 * MINUTE, HOUR, 0, 100, MINUTE);
    const cells = new RawCells(group);
    const engine = createBurnEngine();
    const book = bookOf();
    assert.ok(news(cells, book, 0, 20 * MINUTE, engine).some((one) => one.endsWith('fired page')));
    book.replace([correctionOf(3, T0, T0 + 20 * MINUTE, { reason: 'a test of the load balancer' })]);
    const { changes } = tick(engine, cells, book, 20 * MINUTE + 10 * SECOND);
    const [change] = changes;
    assert.ok(change?.kind === 'resolved');
    assert.equal(change.reason, 'corrected');
    assert.match(change.alert.summary, /by correction 3 \(a test of the load balancer\)/);
  });

  test('a real recovery is called one, whatever was corrected nearby', () => {
    const group = month()
      .steady(0, 10 * MINUTE, 50, 100, MINUTE)
      .steady(10 * MINUTE, 7 * HOUR, 0, 100, MINUTE);
    const book = bookOf(correctionOf(1, T0 - 30 * MINUTE, T0 - 20 * MINUTE));
    const all = news(new RawCells(group), book, 0, 7 * HOUR);
    assert.match(all.at(-1) ?? '', /resolved recovered$/);
  });
});
