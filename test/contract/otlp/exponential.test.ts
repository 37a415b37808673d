import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { BucketsPayload, ExponentialHistogramPointPayload } from '../../../src/otlp/metrics-payload.ts';
import {
  type BucketRun,
  countAtOrBelow,
  type ExponentialPoint,
  emptyRun,
  hasFallen,
  sharedZero,
  sumOf,
} from '../../../src/series/exponential.ts';
import { addBuckets, boundsFor } from '../../../src/series/exponential-buckets.ts';
import { amounts, createRecording, nanos, type Recording, requestOf } from '../../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;
const SECOND = 1000;
const DELTA = 1;
const CUMULATIVE = 2;

type Fields = Partial<ExponentialHistogramPointPayload> & { readonly count: number };
const side = (offset: number, ...bucketCounts: number[]): BucketsPayload => ({ offset, bucketCounts });

/** Sends one point of the stream `e`, `seconds` after T0. */
function send(recording: Recording, seconds: number, fields: Fields, aggregationTemporality = CUMULATIVE) {
  const start = aggregationTemporality === DELTA ? seconds - 10 : 0;
  const times = { timeUnixNano: nanos(T0 + seconds * SECOND), startTimeUnixNano: nanos(T0 + start * SECOND) };
  const dataPoints = [{ scale: 0, zeroCount: 0, ...times, ...fields }];
  const metric = { name: 'e', exponentialHistogram: { aggregationTemporality, dataPoints } };
  return recording.send(requestOf([metric]), T0 + seconds * SECOND);
}
const count = ({ ingest }: Recording, name: string): number => ingest.counters().get(name) ?? 0;
const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

const runOf = (offset: number, counts: readonly number[]): BucketRun => ({
  numbers: Float64Array.from(counts),
  from: 0,
  length: counts.length,
  offset,
});
const pointOf = (scale: number, positive: BucketRun, rest: Partial<ExponentialPoint> = {}): ExponentialPoint => ({
  scale,
  sum: Number.NaN,
  zeroCount: 0,
  zeroThreshold: 0,
  positive,
  negative: emptyRun(),
  ...rest,
});
const base = (scale: number, index: number): number => 2 ** (index * 2 ** -scale);

/** The definition, index by index and in exact integers: what a run holds at a lower scale. */
function lowered({ numbers, length, offset }: BucketRun, by: number): Map<number, number> {
  const held = new Map<number, number>();
  for (let place = 0; place < length; place += 1) {
    const index = Number(BigInt(offset + place) >> BigInt(by));
    held.set(index, (held.get(index) ?? 0) + (numbers[place] as number));
  }
  return held;
}

const RUN = fc.record({
  offset: fc.integer({ min: -60, max: 60 }),
  counts: fc.array(fc.nat(9), { maxLength: 24 }),
});
const SCALE = fc.integer({ min: -2, max: 8 });
const BY = fc.integer({ min: 0, max: 5 });

describe('exponential histograms', () => {
  test('X1 bucket i covers (base^i, base^(i+1)], bucket j of the array is offset + j, negative ones by absolute value', () => {
    for (const scale of [-2, 0, 3, 8]) {
      for (const offset of [-7, -1, 0, 5]) {
        const point = pointOf(scale, runOf(offset, [3, 4]), { negative: runOf(offset, [5]), zeroCount: 2 });
        const upTo = (index: number): number => countAtOrBelow(point, scale, base(scale, index));
        assert.deepEqual([offset, offset + 1, offset + 2].map(upTo), [7, 10, 14], `scale ${scale} offset ${offset}`);
        const between = base(scale, offset + 0.5);
        assert.equal(countAtOrBelow(point, scale, between), 7, 'inside a bucket it does not count');
      }
    }
  });

  test('X2 lowering the scale is a floor shift that loses nothing', () => {
    const sinks = lowered(runOf(-3, [1, 2, 4]), 1);
    assert.deepEqual(
      [...sinks],
      [
        [-2, 1],
        [-1, 6],
      ],
    );
    fc.assert(
      fc.property(SCALE, BY, RUN, (scale, by, { offset, counts }) => {
        const run = runOf(offset, counts);
        const point = pointOf(scale, run);
        const held = lowered(run, by);
        for (
          let index = Math.floor(offset / 2 ** by) - 1;
          index <= Math.ceil((offset + counts.length) / 2 ** by) + 1;
          index += 1
        ) {
          const expected = total([...held].filter(([bucket]) => bucket < index).map(([, amount]) => amount));
          assert.equal(countAtOrBelow(point, scale - by, base(scale - by, index)), expected);
        }
        assert.equal(total([...held.values()]), sumOf(run));
      }),
      { seed: 2, numRuns: 500 },
    );
  });

  test('X3 two points meet at the lower scale; empty edges do not count towards the span, and a wide span is refused', () => {
    const recording = createRecording({ threshold: 4 });
    send(recording, 10, { scale: 3, count: 6, positive: side(14, 1, 2, 3) });
    send(recording, 20, { scale: 1, count: 10, positive: side(3, 3, 7) });
    send(recording, 30, { scale: 2, count: 15, positive: side(6, 3, 0, 5, 7) });
    assert.deepEqual(
      [amounts(recording.counted), amounts(recording.below), count(recording, 'reset')],
      [[6, 4, 5], [3, 0, 0], 0],
    );
    const zeros = Array.from({ length: 5000 }, () => 0);
    assert.equal(
      send(recording, 40, { scale: 2, count: 15, positive: side(-4994, ...zeros, 3, 0, 5, 7, ...zeros) }).rejected,
      0,
    );
    const wide = Array.from({ length: 1025 }, () => 1);
    assert.match(
      send(createRecording(), 10, { scale: 8, count: 1025, positive: side(0, ...wide) }).message,
      /too_many_buckets/,
    );
  });

  test('X4 scales first, then the zero region: the wider threshold, raised to the bound of a bucket that it falls into', () => {
    const a = pointOf(0, runOf(-1, [4]));
    const b = pointOf(-1, runOf(0, [3]), { zeroCount: 2, zeroThreshold: 0.75 });
    assert.equal(sharedZero(a, b, -1), 1);
    assert.equal(sharedZero(pointOf(0, runOf(3, [4])), b, -1), 0.75, 'an empty bucket raises nothing');
    for (const [threshold, expected] of [
      [0.9, 0],
      [1, 6],
      [4, 9],
    ] as const) {
      assert.equal(countAtOrBelow(a, -1, threshold, 1) + countAtOrBelow(b, -1, threshold, 1), expected);
    }
    for (const threshold of [0.5, 1, 2, 4]) {
      const recording = createRecording({ threshold });
      send(recording, 10, { count: 5, positive: side(-2, 2, 3) });
      send(recording, 20, { count: 9, zeroCount: 4, zeroThreshold: 0.6, positive: side(-1, 4, 1) });
      send(recording, 30, { count: 9, zeroCount: 8, zeroThreshold: 1, positive: side(0, 1) });
      const below = amounts(recording.below);
      assert.ok(
        below.every((amount) => amount >= 0),
        `${threshold}: ${below}`,
      );
      assert.equal(count(recording, 'reset'), 0);
      if (threshold >= 1) assert.equal(total(below), threshold >= 2 ? 9 : 8);
    }
    const fell = pointOf(0, runOf(0, [2]), { zeroCount: 3, zeroThreshold: 1 });
    assert.equal(hasFallen(pointOf(0, runOf(-2, [2, 2, 2])), fell), true, 'four were below 1');
    assert.equal(hasFallen(pointOf(0, runOf(-2, [1, 2, 2])), fell), false);
  });

  test('X5 the count is the sum of both sides and zero, or the point is rejected', () => {
    const whole = { zeroCount: 1, positive: side(0, 2, 3), negative: side(0, 4) };
    assert.equal(send(createRecording(), 10, { count: 10, ...whole }).rejected, 0);
    for (const wrong of [9, 11, 0]) {
      const recording = createRecording();
      assert.match(send(recording, 10, { count: wrong, ...whole }).message, /1 count_is_not_sum_of_buckets/);
      assert.equal(recording.ingest.seriesCount(), 0);
    }
  });

  test('X6 buckets whose bounds no double holds reject the point, a bucket that reaches in is taken', () => {
    const outcome = (scale: number, offset: number) =>
      send(createRecording(), 10, { scale, count: 1, positive: side(offset, 1) });
    for (const [scale, offset] of [
      [-4, 64],
      [0, 1024],
      [0, -1076],
      [0, 2 ** 31 - 1],
      [0, -(2 ** 31)],
      [-11, 1],
      [-2000, -2],
    ] as const) {
      assert.match(outcome(scale, offset).message, /1 exponential_range/, `${scale} ${offset}`);
    }
    for (const [scale, offset] of [
      [-4, 63],
      [0, 1023],
      [0, -1074],
      [-10, 0],
      [-11, -1],
    ] as const) {
      assert.equal(outcome(scale, offset).rejected, 0, `${scale} ${offset}`);
    }
    for (const zeroThreshold of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.match(send(createRecording(), 10, { count: 0, zeroThreshold }).message, /exponential_range/);
    }
  });

  test('X7 an offset of 2^31 and a sparse range take no memory', () => {
    const recording = createRecording();
    const before = process.memoryUsage().arrayBuffers;
    for (let run = 0; run < 50; run += 1) {
      const time = 10 * (run + 1);
      const edge = run % 2 === 0 ? 2 ** 31 - 1 : -(2 ** 31);
      assert.equal(
        send(recording, time, { scale: 25, count: run, zeroCount: run, positive: side(edge, 0, 0) }).rejected,
        0,
      );
      send(recording, time + 1, { scale: 30, count: run + 1, zeroCount: run, positive: side(edge, 1) });
      send(recording, time + 2, { scale: -11, count: run + 1, zeroCount: run, positive: side(0, 1) });
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 10_000_000);
    assert.equal(recording.ingest.seriesCount(), 1);
  });

  test('X8 an empty side merges cleanly and every scale is taken', () => {
    const recording = createRecording({ threshold: 2 });
    send(recording, 10, { scale: 0, count: 0 });
    send(recording, 20, { scale: 5, count: 2, positive: side(3, 2) });
    send(recording, 30, { scale: 5, count: 5, positive: side(3, 2), negative: side(0, 3) });
    send(recording, 40, { scale: -1, count: 6, zeroCount: 0, positive: side(0, 3), negative: side(0, 3) });
    assert.deepEqual(
      [amounts(recording.counted), amounts(recording.below), count(recording, 'reset')],
      [[0, 2, 3, 1], [0, 2, 3, 0], 0],
    );
    for (const scale of [-(2 ** 31), -5, -4, 8, 9, 20, 31, 60, 1000, 2 ** 31 - 1]) {
      const any = createRecording({ threshold: 2 });
      assert.equal(send(any, 10, { scale, count: 7, positive: side(-1, 3, 4) }).rejected, 0, String(scale));
      assert.equal(send(any, 20, { scale: 0, count: 8, positive: side(-1, 3, 5) }).rejected, 0, String(scale));
      assert.deepEqual(amounts(any.counted), [7, 1]);
      assert.equal(count(any, 'reset'), 0);
      // At scales of 0 and above the bucket above 1 ends at 2 or before; below it reaches beyond.
      assert.equal(amounts(any.below)[0], scale >= 0 ? 7 : 3, String(scale));
    }
  });

  test('X9 a threshold off a bucket bound counts the buckets below it only; stage histograms get whole buckets', () => {
    for (const [threshold, expected] of [
      [1, 0],
      [1.5, 0],
      [2, 3],
      [3.9, 3],
      [4, 8],
    ] as const) {
      const recording = createRecording({ threshold });
      send(recording, 10, { count: 8, positive: side(0, 3, 5) });
      assert.deepEqual(amounts(recording.below), [expected], String(threshold));
    }
    const recording = createRecording({ toSeconds: 0.001 });
    send(recording, 10, { scale: 3, count: 10, sum: 900, zeroCount: 1, positive: side(56, 1, 2, 3, 3) });
    send(recording, 20, {
      scale: 1,
      count: 14,
      sum: 1000,
      zeroCount: 2,
      positive: side(14, 9, 2),
      negative: side(0, 1),
    });
    const [first, second] = recording.observed;
    assert.deepEqual([first?.sum, second?.sum], [0.9, 0.1]);
    const filled = (observed: typeof first): (readonly [number | undefined, number])[] =>
      (observed?.counts ?? []).flatMap((amount, index) =>
        amount === 0 ? [] : [[observed?.bounds[index], amount] as const],
      );
    const ms = (scale: number, index: number): number => base(scale, index) * 0.001;
    const lowest = first?.bounds[0];
    assert.deepEqual(filled(first), [
      [lowest, 1],
      [ms(2, 29), 3],
      [ms(2, 30), 6],
    ]);
    assert.deepEqual(filled(second), [
      [second?.bounds[0], 2],
      [ms(1, 16), 2],
    ]);
    assert.ok((lowest ?? 1) < 1e-5 && (first?.bounds.at(-1) ?? 0) > 500, 'microseconds to minutes');
  });

  test('X10 increments add up, in any grouping, and nothing depends on the steps in which a scale is lowered', () => {
    const point = fc.record({ scale: SCALE, run: RUN, zeroCount: fc.nat(5) });
    const bounds = (scale: number): number[] => Array.from({ length: 40 }, (_, index) => base(scale, index - 20));
    fc.assert(
      fc.property(point, BY, BY, ({ scale, run, zeroCount }, d1, d2) => {
        const one = pointOf(scale, runOf(run.offset, run.counts), { zeroCount });
        const positive = [...lowered(one.positive, d1)].sort(([x], [y]) => x - y);
        const first = positive[0]?.[0] ?? 0;
        const counts = positive.map(([, amount]) => amount);
        const once = pointOf(scale - d1, runOf(first, counts), { zeroCount });
        for (const bound of bounds(scale - d1 - d2)) {
          assert.equal(countAtOrBelow(once, scale - d1 - d2, bound), countAtOrBelow(one, scale - d1 - d2, bound));
        }
      }),
      { seed: 10, numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.array(point, { minLength: 2, maxLength: 6 }), (points) => {
        const inOrder = createRecording();
        const reversed = createRecording();
        const field = ({ scale, run, zeroCount }: (typeof points)[number]): Fields => ({
          scale,
          count: total(run.counts) + zeroCount,
          zeroCount,
          positive: side(run.offset, ...run.counts),
        });
        points.forEach((one, index) => void send(inOrder, 10 * (index + 1), field(one), DELTA));
        [...points].reverse().forEach((one, index) => void send(reversed, 10 * (index + 1), field(one), DELTA));
        assert.equal(total(amounts(inOrder.below)), total(amounts(reversed.below)), 'commutative and associative');
        assert.equal(total(amounts(inOrder.counted)), total(points.map((one) => field(one).count)));
        assert.deepEqual(total(inOrder.observed.flatMap(({ counts }) => [...counts])), total(amounts(inOrder.counted)));
      }),
      { seed: 11, numRuns: 100 },
    );
    fc.assert(
      fc.property(point, BY, ({ scale, run, zeroCount }, by) => {
        const one = pointOf(scale, runOf(run.offset, run.counts), { zeroCount });
        const empty = pointOf(scale - by, emptyRun());
        assert.equal(hasFallen(empty, one), false, 'merge(a, empty) = a');
        const kept = boundsFor(scale - by, 1);
        kept.set.increments.fill(0);
        addBuckets(kept, one, 0, 1);
        addBuckets(kept, empty, 0, 1);
        assert.equal(total([...kept.set.increments]), sumOf(one.positive) + zeroCount);
        addBuckets(kept, one, 0, -1);
        assert.ok(kept.set.increments.every((amount) => amount === 0));
      }),
      { seed: 12, numRuns: 300 },
    );
  });
});
