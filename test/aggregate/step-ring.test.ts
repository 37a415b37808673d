import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LevelSpec } from '../../src/aggregate/count-level.ts';
import { planRange } from '../../src/aggregate/range-plan.ts';
import { FEATURE_LEVELS, SLO_LEVELS, StepRing } from '../../src/aggregate/step-ring.ts';

const STEP = 10_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Small levels, so that random walks age out of each of them: 10 s x 12, 1 min x 10, 5 min x 8. */
const SMALL: readonly LevelSpec[] = [
  { stepMs: 10_000, steps: 12 },
  { stepMs: 60_000, steps: 10 },
  { stepMs: 300_000, steps: 8 },
];

/** Counts per finest step, never forgotten. */
class Oracle {
  readonly counts = new Map<number, number>();
  newest = Number.NEGATIVE_INFINITY;

  add(at: number, amount: number): void {
    if (amount === 0) return;
    const end = Math.ceil(at / STEP) * STEP;
    this.counts.set(end, (this.counts.get(end) ?? 0) + amount);
    this.newest = Math.max(this.newest, end);
  }

  sum(from: number, to: number): number {
    let total = 0;
    for (const [end, count] of this.counts) if (end > from && end <= to) total += count;
    return total;
  }
}

/** Where the window's old edge must lie: rounded down to the step of the finest level that still holds it. */
function oldEdge(levels: readonly LevelSpec[], newest: number, from: number): number {
  for (const { stepMs, steps } of levels) {
    const edge = Math.floor(from / stepMs) * stepMs;
    if (edge >= (Math.ceil(newest / stepMs) - steps) * stepMs) return edge;
  }
  const { stepMs, steps } = levels.at(-1) as LevelSpec;
  return (Math.ceil(newest / stepMs) - steps) * stepMs;
}

const moves = fc.array(
  fc.record({
    /** Seconds by which time goes on; now and then hours. */
    ahead: fc.oneof({ weight: 8, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(7200) }),
    /** How late this addition is, in seconds. */
    late: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(1500) }),
    amount: fc.oneof(
      { weight: 5, arbitrary: fc.nat(20) },
      { weight: 1, arbitrary: fc.integer({ min: -30, max: -1 }) },
      { weight: 1, arbitrary: fc.constantFrom(255, 65_535, 2_147_483_647, 5_000_000_000) },
    ),
  }),
  { maxLength: 80 },
);

test('sums are those of a plain list of all counts, wherever a window lies and however late counts come', () => {
  const windows = fc.array(fc.tuple(fc.nat(4000), fc.nat(4000)), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(moves, windows, (steps, spans) => {
      const ring = new StepRing(SMALL);
      const oracle = new Oracle();
      let now = 1_000_000;
      for (const { ahead, late, amount } of steps) {
        now += ahead * 1000;
        const at = Math.max(0, now - late * 1000);
        const lost = ring.add(at, at, amount);
        const end = Math.ceil(at / STEP) * STEP;
        const newest = Math.max(oracle.newest, end);
        const isKept = Math.ceil(end / 300_000) > Math.ceil(newest / 300_000) - 8;
        assert.equal(lost, isKept ? 0 : amount, 'what is too old to keep is said');
        if (isKept) oracle.add(at, amount);
      }
      for (const [back, length] of spans) {
        const to = Math.floor((now - back * 1000) / STEP) * STEP;
        const from = to - Math.ceil((length * 1000) / STEP) * STEP;
        const plan = planRange(SMALL, ring.newestAt, from, to);
        assert.equal(
          ring.range(from, to),
          oracle.sum(plan.from, plan.to),
          `(${from}, ${to}] as (${plan.from}, ${plan.to}]`,
        );
      }
    }),
    { numRuns: 600 },
  );
});

test('sums of the levels of the product are exact over weeks, across blocks, spans and the end of the ring', () => {
  const jump = fc.oneof(fc.nat(50), fc.integer({ min: 300, max: 5_000 }), fc.integer({ min: 50_000, max: 200_000 }));
  const adds = fc.array(fc.tuple(jump, fc.integer({ min: 1, max: 70_000 })), { minLength: 20, maxLength: 200 });
  const windows = fc.array(fc.tuple(fc.nat(300), fc.nat(260_000)), { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(adds, windows, (steps, spans) => {
      const ring = new StepRing(SLO_LEVELS);
      const oracle = new Oracle();
      let now = 20_000 * DAY;
      for (const [ahead, amount] of steps) {
        now += ahead * STEP;
        ring.add(now, now, amount);
        oracle.add(now, amount);
      }
      for (const [lag, length] of spans) {
        const to = now - lag * STEP;
        const plan = planRange(SLO_LEVELS, ring.newestAt, to - length * STEP, to);
        assert.equal(plan.from, oldEdge(SLO_LEVELS, now, to - length * STEP));
        assert.equal(plan.to, to);
        assert.equal(ring.sum(plan), oracle.sum(plan.from, plan.to));
      }
    }),
    { numRuns: 200 },
  );
});

test('windows of the product end exactly where asked, and begin on the step of the level that still holds them', () => {
  const newest = 1_000 * DAY + 12_340_000;
  for (const ageMs of [
    5 * 60_000,
    HOUR,
    6 * HOUR,
    7 * HOUR,
    7 * HOUR + STEP,
    DAY,
    3 * DAY,
    75 * HOUR + 60_000,
    30 * DAY,
  ]) {
    for (const lagMs of [0, STEP, 90_000, 300_000]) {
      const to = newest - lagMs;
      const plan = planRange(SLO_LEVELS, newest, to - ageMs, to);
      assert.equal(plan.to, to);
      assert.equal(plan.from, oldEdge(SLO_LEVELS, newest, to - ageMs));
      let edge = plan.from;
      for (const { level, first, last } of plan.segments) {
        const { stepMs } = SLO_LEVELS[level] as LevelSpec;
        assert.equal((first - 1) * stepMs, edge, 'segments join without gap or overlap');
        edge = last * stepMs;
      }
      assert.equal(edge, to);
    }
  }
});

test('what is older than everything kept is cut off at the oldest step, and the edge says so', () => {
  const newest = 100 * DAY;
  const plan = planRange(SLO_LEVELS, newest, newest - 50 * DAY, newest);
  assert.equal(plan.from, newest - 36 * DAY);
  assert.equal(plan.to, newest);
});

test('an old window that ends inside a coarse step is rounded to what is known', () => {
  const newest = 100 * DAY;
  const plan = planRange(SLO_LEVELS, newest, newest - 10 * DAY, newest - 9 * DAY + 70_000);
  assert.equal(plan.to, newest - 9 * DAY);
  const middle = planRange(SLO_LEVELS, newest, newest - 20 * HOUR, newest - 10 * HOUR + 70_000);
  assert.equal(middle.to, newest - 10 * HOUR + 60_000);
});

test('a time belongs to the step that ends at or after it', () => {
  const ring = new StepRing(SLO_LEVELS);
  ring.add(20_000, 20_000, 1);
  ring.add(20_001, 20_001, 10);
  assert.equal(ring.range(10_000, 20_000), 1);
  assert.equal(ring.range(20_000, 30_000), 10);
});

test('the step in progress counts, and so does the one before it', () => {
  const ring = new StepRing(SLO_LEVELS);
  const now = 50 * DAY;
  ring.add(now - STEP, now, 3);
  ring.add(now, now + STEP, 5);
  assert.equal(ring.range(now - STEP, now + STEP), 8);
  assert.equal(ring.range(now - STEP, now), 3);
  assert.equal(ring.range(now - 30 * DAY, now + STEP), 8);
});

test('a gap of ten hours is spread over every step of it, exactly, at every level', () => {
  const ring = new StepRing(SLO_LEVELS);
  const from = 50 * DAY;
  const to = from + 10 * HOUR;
  ring.add(from, to, 36_000);
  assert.equal(ring.range(from, to), 36_000);
  assert.equal(ring.range(to - 60_000, to), 60);
  assert.equal(ring.range(to - 8 * HOUR, to), 28_800);
});

test('a long silence clears what lies between, without touching what is kept', () => {
  const ring = new StepRing(SLO_LEVELS);
  const start = 50 * DAY;
  ring.add(start, start, 4);
  ring.add(start + 20 * DAY, start + 20 * DAY, 6);
  const to = start + 20 * DAY;
  assert.equal(ring.range(to - 7 * HOUR, to), 6);
  assert.equal(ring.range(to - 30 * DAY, to), 10);
  ring.add(to + 40 * DAY, to + 40 * DAY, 1);
  assert.equal(ring.range(to + 10 * DAY, to + 40 * DAY), 1);
});

test('a correction takes away exactly what it corrects', () => {
  const ring = new StepRing(SLO_LEVELS);
  const from = 50 * DAY + 3_000;
  ring.add(from, from + 95_000, 77);
  ring.add(from, from + 95_000, -77);
  for (let end = 50 * DAY; end <= 50 * DAY + 110_000; end += STEP) assert.equal(ring.range(end - STEP, end), 0);
});

test('a ring restored from a snapshot goes on exactly as the original', () => {
  fc.assert(
    fc.property(moves, moves, (before, after) => {
      const original = new StepRing(SMALL);
      let now = 1_000_000;
      const play = (ring: StepRing, list: typeof before, start: number): number => {
        let at = start;
        for (const { ahead, late, amount } of list) {
          at += ahead * 1000;
          ring.add(Math.max(0, at - late * 1000 - 7_000), Math.max(0, at - late * 1000), amount);
        }
        return at;
      };
      now = play(original, before, now);
      const restored = new StepRing(SMALL);
      restored.restore(structuredClone(original.snapshot()));
      play(original, after, now);
      now = play(restored, after, now);
      for (let back = 0; back < 3_000_000; back += 70_000) {
        const to = Math.floor(now / STEP) * STEP;
        assert.equal(restored.range(to - back, to), original.range(to - back, to));
      }
      assert.deepEqual(restored.snapshot(), original.snapshot());
    }),
    { numRuns: 300 },
  );
});

test('rings cost little until they are used, and give memory back when all has aged out', () => {
  const ring = new StepRing(FEATURE_LEVELS);
  assert.equal(ring.byteLength(), 0);
  ring.add(DAY, DAY, 1);
  ring.add(2 * DAY, 2 * DAY, 1);
  assert.ok(ring.byteLength() > 0 && ring.byteLength() < 8000, `${ring.byteLength()} bytes with small counts`);
  ring.releaseIfExpired(9 * DAY);
  assert.equal(ring.range(DAY, 9 * DAY), 1);
  ring.releaseIfExpired(11 * DAY);
  assert.equal(ring.byteLength(), 0);
  ring.add(12 * DAY, 12 * DAY, 2);
  assert.equal(ring.range(11 * DAY, 12 * DAY), 2);
});

test('an amount that reaches into the next step makes it the newest only if something of it falls there', () => {
  const ring = new StepRing(SLO_LEVELS);
  ring.add(0, 10_000, 5);
  ring.add(9000, 10_100, 1);
  assert.equal(ring.newestAt, 10_000);
  assert.equal(ring.range(0, 10_000), 6);
  ring.add(9000, 10_100, 11);
  assert.equal(ring.newestAt, 20_000);
  assert.deepEqual([ring.range(0, 10_000), ring.range(10_000, 20_000)], [16, 1]);
  ring.add(9900, 20_100, -204);
  assert.deepEqual([ring.range(0, 10_000), ring.range(10_000, 20_000), ring.range(20_000, 30_000)], [14, -199, -2]);
});
