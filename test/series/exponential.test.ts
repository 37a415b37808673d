import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { BucketsPayload, ExponentialHistogramPointPayload } from '../../src/otlp/metrics-payload.ts';
import {
  type BucketRun,
  countAtOrBelow,
  type ExponentialPoint,
  hasFallen,
  isInRange,
  seenScale,
  trimZeros,
} from '../../src/series/exponential.ts';
import { amounts, createRecording, nanos, type Recording, requestOf } from '../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;

const run = (offset: number, ...counts: number[]): BucketRun => ({
  numbers: Float64Array.from(counts),
  from: 0,
  length: counts.length,
  offset,
});
const point = (scale: number, positive: BucketRun, rest: Partial<ExponentialPoint> = {}): ExponentialPoint => ({
  scale,
  sum: Number.NaN,
  zeroCount: 0,
  zeroThreshold: 0,
  positive,
  negative: run(0),
  ...rest,
});
/** Counts per bucket after bringing a run to a lower scale, read through countAtOrBelow at each bound. */
const downscaled = (scale: number, positive: BucketRun, lower: number, from: number, length: number): number[] => {
  const below = (index: number): number => countAtOrBelow(point(scale, positive), lower, 2 ** (index * 2 ** -lower));
  return Array.from({ length }, (_, index) => below(from + index + 1) - below(from + index));
};

describe('exponential buckets', () => {
  test('V1, V39: lowering the scale loses no bucket, whatever the offset', () => {
    assert.deepEqual(downscaled(1, run(1, 1, 1), 0, 0, 2), [1, 1]);
    assert.deepEqual(downscaled(1, run(1, 1, 1, 1), 0, 0, 2), [1, 2]);
    assert.deepEqual(downscaled(9, run(0, 1, 1, 0, 0, 1, 1), 8, 0, 3), [2, 0, 2]);
    assert.deepEqual(downscaled(1, run(-3, 1, 2, 4), 0, -2, 2), [1, 6]);
  });

  test('V6: counts at each bound, with zero and negative values', () => {
    const six = point(2, run(0, 2, 3), { zeroCount: 1, negative: run(0, 1) });
    assert.deepEqual(
      [0, 1, 2 ** 0.25, 2 ** 0.5, 1e9].map((bound) => countAtOrBelow(six, 2, bound)),
      [2, 2, 4, 7, 7],
    );
  });

  test('a bucket counts when its upper bound is the threshold, also where the bound is no round number', () => {
    for (const scale of [-4, -1, 0, 3, 8, 20]) {
      for (const index of [-7, -1, 0, 1, 6]) {
        const bound = 2 ** (index * 2 ** -scale);
        assert.equal(countAtOrBelow(point(scale, run(index - 1, 5, 7)), scale, bound), 5, `${scale} ${index}`);
      }
    }
  });

  test('agrees with counting bucket by bucket in logarithms', () => {
    const counts = fc.array(fc.nat(9), { maxLength: 20 });
    fc.assert(
      fc.property(
        fc.integer({ min: -3, max: 6 }),
        fc.nat(4),
        fc.integer({ min: -40, max: 40 }),
        counts,
        fc.double({ min: 0.001, max: 1000, noNaN: true }),
        (scale, by, offset, values, threshold) => {
          const lower = scale - by;
          const limit = Math.log2(threshold) * 2 ** lower;
          fc.pre(Math.abs(limit - Math.round(limit)) > 1e-6);
          const expected = values.reduce((sum, count, index) => {
            const upper = Math.floor((offset + index) / 2 ** by) + 1;
            return upper <= limit ? sum + count : sum;
          }, 0);
          assert.equal(countAtOrBelow(point(scale, run(offset, ...values)), lower, threshold), expected);
        },
      ),
      { seed: 5, numRuns: 500 },
    );
  });

  test('a fall is seen at the coarser scale only', () => {
    const before = point(1, run(0, 3, 1));
    assert.equal(hasFallen(before, point(0, run(0, 4))), false);
    assert.equal(hasFallen(before, point(0, run(0, 3))), true);
    assert.equal(hasFallen(before, point(1, run(0, 2, 2))), true);
    assert.equal(hasFallen(before, point(1, run(-2, 1, 0, 3, 1))), false);
    assert.equal(hasFallen(point(0, run(0, 4)), point(1, run(0, 2, 2))), false);
  });

  test('X6: buckets beyond what a double can hold are out of range, empty ones at the edge are not', () => {
    const fits = (scale: number, buckets: BucketRun): boolean => {
      trimZeros(buckets);
      return isInRange(seenScale(scale), buckets);
    };
    assert.equal(fits(-4, run(64, 1)), false);
    assert.equal(fits(-4, run(63, 1, 0)), true);
    assert.equal(fits(-4, run(64, 0, 0)), true);
    assert.equal(fits(-10, run(-1, 1, 1)), true);
    assert.equal(fits(0, run(2 ** 31 - 1, 1)), false);
    assert.equal(fits(0, run(2 ** 31 - 1)), true);
    for (const scale of [-(2 ** 31), -12, -11]) {
      assert.equal(fits(scale, run(-1, 1, 1)), true);
      assert.equal(fits(scale, run(1, 1)), false);
      assert.equal(fits(scale, run(-2, 1)), false);
    }
    for (const scale of [31, 1000, 2 ** 31 - 1]) assert.equal(fits(scale, run(-(2 ** 31), 1)), true);
  });
});

describe('exponential histograms as series', () => {
  const send = (
    recording: Recording,
    seconds: number,
    fields: Partial<ExponentialHistogramPointPayload> & { readonly count: number; readonly scale: number },
    aggregationTemporality = 2,
  ) => {
    const times = { timeUnixNano: nanos(T0 + seconds * 1000), startTimeUnixNano: nanos(T0) };
    const dataPoints = [{ zeroCount: 0, ...times, ...fields }];
    const metric = { name: 'm', exponentialHistogram: { aggregationTemporality, dataPoints } };
    return recording.send(requestOf([metric]), T0 + seconds * 1000);
  };
  const side = (offset: number, ...bucketCounts: number[]): BucketsPayload => ({ offset, bucketCounts });

  test('V2, X8: increments are exact across a change of scale and from an empty side', () => {
    const recording = createRecording({ threshold: 2 });
    send(recording, 10, { scale: 1, count: 0 });
    send(recording, 20, { scale: 1, count: 4, positive: side(0, 1, 1, 1, 1) });
    send(recording, 30, { scale: 0, count: 9, positive: side(0, 5, 4) });
    send(recording, 40, { scale: 0, count: 11, positive: side(0, 7, 4) });
    assert.deepEqual(amounts(recording.counted), [0, 4, 5, 2]);
    assert.deepEqual(amounts(recording.below), [0, 2, 3, 2]);
  });

  test('a restart counts its whole value', () => {
    const recording = createRecording({ threshold: 2 });
    send(recording, 10, { scale: 0, count: 9, positive: side(0, 5, 4) });
    send(recording, 20, { scale: 0, count: 10, positive: side(0, 4, 6) });
    assert.deepEqual(
      [amounts(recording.counted), amounts(recording.below)],
      [
        [9, 10],
        [5, 4],
      ],
    );
    assert.equal(recording.ingest.counters().get('reset'), 1);
  });

  test('V10: buckets short of the count refuse the point, and so does a bucket of 2^64 - 1', () => {
    const recording = createRecording();
    for (const fields of [
      { scale: 0, count: 10, positive: side(0, 8) },
      { scale: 0, count: 29_502, positive: { offset: 0, bucketCounts: [18_446_744_073_709_551_615n] } },
    ]) {
      assert.match(send(recording, 10, fields).message, /count_is_not_sum_of_buckets/);
    }
    assert.equal(recording.ingest.seriesCount(), 0);
  });

  test('X7: an offset of 2^31 - 1 refuses the point and takes no memory', () => {
    const recording = createRecording();
    const outcome = send(recording, 10, { scale: 0, count: 1, positive: side(2 ** 31 - 1, 1) });
    assert.match(outcome.message, /exponential_range/);
  });

  test('a snapshot keeps their buckets', () => {
    const first = createRecording({ threshold: 2 });
    send(first, 10, { scale: 1, count: 4, zeroCount: 1, positive: side(0, 1, 1, 1), negative: side(0) });
    const second = createRecording({ threshold: 2 });
    second.ingest.restore(structuredClone(first.ingest.snapshot()));
    send(second, 20, { scale: 0, count: 9, zeroCount: 2, positive: side(0, 4, 3) });
    assert.deepEqual([amounts(second.counted), amounts(second.below)], [[5], [3]]);
  });
});
