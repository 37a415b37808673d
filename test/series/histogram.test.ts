import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HistogramPointPayload } from '../../src/otlp/metrics-payload.ts';
import { amounts, createRecording, nanos, type Recording, requestOf } from '../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;

function send(
  recording: Recording,
  seconds: number,
  bucketCounts: readonly number[],
  explicitBounds: readonly number[],
  rest: Partial<HistogramPointPayload> & { readonly temporality?: number; readonly startSeconds?: number } = {},
) {
  const { temporality = 2, startSeconds = 0, ...fields } = rest;
  const time = T0 + seconds * 1000;
  const dataPoint = {
    timeUnixNano: nanos(time),
    startTimeUnixNano: nanos(T0 + startSeconds * 1000),
    count: bucketCounts.reduce((sum, one) => sum + one, 0),
    bucketCounts,
    explicitBounds,
    ...fields,
  };
  const metric = { name: 'm', histogram: { aggregationTemporality: temporality, dataPoints: [dataPoint] } };
  return recording.send(requestOf([metric]), time);
}

describe('explicit histograms', () => {
  test('bucket increments and sums reach stage histograms, bounds and sum in seconds', () => {
    const recording = createRecording({ toSeconds: 0.001 });
    send(recording, 10, [1, 2, 3], [250, 500], { sum: 2000 });
    send(recording, 20, [4, 2, 4], [250, 500], { sum: 3500 });
    assert.deepEqual(
      recording.observed.map(({ bounds, counts, sum }) => [bounds, counts, sum]),
      [
        [[0.25, 0.5], [1, 2, 3], 2],
        [[0.25, 0.5], [3, 0, 1], 1.5],
      ],
    );
  });

  test('V11: buckets are not cumulative, and bounds count inclusively', () => {
    for (const [threshold, expected] of [
      [0.05, 24_054],
      [0.2, 100_392],
      [1, 133_988],
      [2, 133_988],
      [0.15, 33_444],
    ] as const) {
      const recording = createRecording({ threshold });
      send(recording, 10, [24_054, 9390, 66_948, 28_997, 4599, 10_332], [0.05, 0.1, 0.2, 0.5, 1]);
      assert.deepEqual([amounts(recording.counted), amounts(recording.below)], [[144_320], [expected]]);
    }
  });

  test('a threshold that came out of a change of unit finds its bound', () => {
    const recording = createRecording({ threshold: 0.3 / 0.001 });
    send(recording, 10, [7, 1], [300]);
    const other = createRecording({ threshold: 0.1 + 0.2 });
    send(other, 10, [7, 1], [0.3]);
    assert.deepEqual([amounts(recording.below), amounts(other.below)], [[7], [7]]);
  });

  test('V9: without buckets the count counts, everything above every threshold', () => {
    const recording = createRecording();
    send(recording, 10, [], [], { count: 5, sum: 10 });
    send(recording, 20, [], [], { count: 8, sum: 11 });
    assert.deepEqual(
      [amounts(recording.counted), amounts(recording.below)],
      [
        [5, 3],
        [0, 0],
      ],
    );
    assert.deepEqual(
      recording.observed.map(({ counts, sum }) => [counts, sum]),
      [
        [[5], 10],
        [[3], 1],
      ],
    );
  });

  test('D15: an absent sum stays absent, and is not taken for zero afterwards', () => {
    const recording = createRecording();
    send(recording, 10, [1, 0], [1], { sum: 4 });
    send(recording, 20, [2, 0], [1]);
    send(recording, 30, [3, 0], [1], { sum: 6 });
    send(recording, 40, [4, 0], [1], { sum: 7 });
    assert.deepEqual(
      recording.observed.map(({ sum }) => sum),
      [4, null, null, 1],
    );
  });

  test('a bucket that fell is a reset even where the count grew', () => {
    const recording = createRecording();
    send(recording, 10, [9, 1], [1]);
    send(recording, 20, [2, 10], [1]);
    assert.deepEqual(
      [amounts(recording.counted), amounts(recording.below)],
      [
        [10, 12],
        [9, 2],
      ],
    );
  });

  test('D17: other bounds begin a stream that counts only from a start behind the last point', () => {
    const recording = createRecording();
    send(recording, 10, [9, 1], [1]);
    send(recording, 20, [9, 1, 5], [1, 2]);
    send(recording, 30, [9, 2, 6], [1, 2]);
    send(recording, 50, [3, 1], [1], { startSeconds: 40 });
    assert.deepEqual(amounts(recording.counted), [10, 2, 4]);
    assert.equal(recording.ingest.counters().get('new_bounds'), 2);
    assert.equal(recording.ingest.counters().get('reset'), 2);
  });

  test('delta histograms count each interval once, with any bounds', () => {
    const recording = createRecording();
    send(recording, 10, [1, 1], [1], { temporality: 1, startSeconds: 0 });
    send(recording, 20, [2, 2, 2], [1, 5], { temporality: 1, startSeconds: 10 });
    send(recording, 20, [2, 2, 2], [1, 5], { temporality: 1, startSeconds: 10 });
    assert.deepEqual(
      [amounts(recording.counted), amounts(recording.below)],
      [
        [2, 6],
        [1, 2],
      ],
    );
    assert.equal(recording.ingest.counters().get('duplicate'), 1);
  });

  test('bounds that do not grow, an infinite one and too many buckets each refuse the point', () => {
    const recording = createRecording();
    const cases: readonly (readonly [number[], number[], RegExp])[] = [
      [[1, 1, 1], [2, 2], /bounds_not_increasing/],
      [[1, 1, 1], [2, 1], /bounds_not_increasing/],
      [[1, 1], [Number.NaN], /bounds_not_increasing/],
      [[1, 1], [Number.POSITIVE_INFINITY], /bounds_not_increasing/],
      [[1, 1], [1, 2], /buckets_do_not_fit_bounds/],
      [Array.from({ length: 1025 }, () => 1), Array.from({ length: 1024 }, (_, index) => index), /too_many_buckets/],
    ];
    for (const [counts, bounds, reason] of cases) assert.match(send(recording, 10, counts, bounds).message, reason);
    assert.equal(recording.ingest.seriesCount(), 0);
  });

  test('a histogram whose bounds grow and shrink all the time keeps counting right', () => {
    const recording = createRecording();
    let seconds = 10;
    for (let size = 1; size < 40; size += 1) {
      const bounds = Array.from({ length: size % 7 }, (_, index) => index + 1);
      const counts = bounds.map(() => 1);
      send(recording, seconds, [...counts, 1], bounds);
      send(recording, seconds + 10, [...counts, 3], bounds);
      seconds += 20;
    }
    assert.deepEqual(amounts(recording.counted), [2, ...Array.from({ length: 39 }, () => 2)]);
  });
});
