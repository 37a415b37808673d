import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  AnyValue,
  HistogramPointPayload,
  KeyValue,
  MetricPayload,
  MetricsPayload,
  NumberPointPayload,
} from '../../../src/otlp/metrics-payload.ts';
import { amounts, createRecording, nanos, type Recording, requestOf, text } from '../../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;
const SECOND = 1000;
const DELTA = 1;
const CUMULATIVE = 2;
/** Seconds after T0 as nanoseconds. */
const at = (seconds: number): bigint => nanos(T0 + seconds * SECOND);

interface Shape {
  readonly temporality?: number;
  readonly monotonic?: boolean;
  readonly name?: string;
}
const sum = (
  points: readonly Partial<NumberPointPayload>[],
  { temporality = CUMULATIVE, monotonic = true, name = 'm' }: Shape = {},
): MetricPayload => ({
  name,
  sum: {
    aggregationTemporality: temporality,
    isMonotonic: monotonic,
    dataPoints: points.map((point) => ({ timeUnixNano: at(10), startTimeUnixNano: at(0), ...point })),
  },
});
const histogram = (point: Partial<HistogramPointPayload>, temporality = CUMULATIVE): MetricPayload => ({
  name: 'h',
  histogram: {
    aggregationTemporality: temporality,
    dataPoints: [{ timeUnixNano: at(10), startTimeUnixNano: at(0), count: 0, ...point }],
  },
});

/** Sends metrics as one request that is received at `seconds`. */
const send = (recording: Recording, seconds: number, ...metrics: readonly MetricPayload[]) =>
  recording.send(requestOf(metrics), T0 + seconds * SECOND);
/** Sends points [time, value, start] of one counter, each in a request of its own. */
function sendAll(points: readonly (readonly [number, number, number])[], shape: Shape = {}): Recording {
  const recording = createRecording();
  for (const [time, value, start] of points) {
    send(recording, time, sum([{ timeUnixNano: at(time), startTimeUnixNano: at(start), asInt: value }], shape));
  }
  return recording;
}
const count = ({ ingest }: Recording, name: string): number => ingest.counters().get(name) ?? 0;
const intervals = ({ counted }: Recording): number[][] =>
  counted.map(({ from, to, amount }) => [(from - T0) / SECOND, (to - T0) / SECOND, amount]);

/** A good point beside the bad one must be the only one that counts. */
function rejects(metric: MetricPayload, reason: string): void {
  const recording = createRecording();
  const outcome = send(recording, 10, sum([{ asInt: 7 }], { name: 'good' }), metric);
  assert.equal(outcome.rejected, 1, outcome.message);
  assert.ok(outcome.message.includes(`1 ${reason} (${metric.name})`), outcome.message);
  assert.deepEqual([amounts(recording.counted), recording.ingest.seriesCount()], [[7], 1]);
}

describe('data model', () => {
  test('D1 a point without a time is rejected', () => {
    rejects(sum([{ timeUnixNano: 0n, asInt: 1 }]), 'time_missing');
    rejects({ name: 'g', gauge: { dataPoints: [{ timeUnixNano: 0n, asInt: 1 }] } }, 'time_missing');
    rejects(histogram({ timeUnixNano: 0n, count: 1 }), 'time_missing');
  });

  test('D2 a start of 0 is unknown; a time far ahead is placed at arrival and counted', () => {
    const recording = createRecording();
    const point = (time: number, asInt: number) => sum([{ timeUnixNano: at(time), startTimeUnixNano: 0n, asInt }]);
    send(recording, 10, point(10, 100));
    send(recording, 20, point(20, 105));
    assert.deepEqual([intervals(recording), count(recording, 'baseline')], [[[10, 20, 5]], 1]);
    for (const ahead of [3600, 400 * 86_400]) {
      const future = createRecording();
      send(future, 10, sum([{ timeUnixNano: at(10 + ahead), startTimeUnixNano: at(5 + ahead), asInt: 3 }]));
      assert.deepEqual([intervals(future), count(future, 'future')], [[[5, 10, 3]], 1]);
    }
  });

  test('D3 points of unspecified temporality are rejected, the request is not', () => {
    rejects(sum([{ asInt: 1 }], { temporality: 0 }), 'temporality_unspecified');
    rejects(sum([{ asInt: 1 }], { temporality: 7 }), 'temporality_unspecified');
    rejects(histogram({ count: 1 }, 0), 'temporality_unspecified');
  });

  test('D4 a number without a value is rejected, unless it says that there is none', () => {
    rejects(sum([{}]), 'value_missing');
    rejects({ name: 'g', gauge: { dataPoints: [{ timeUnixNano: at(10) }] } }, 'value_missing');
    const recording = createRecording();
    assert.equal(send(recording, 10, sum([{ flags: 1 }])).rejected, 0);
  });

  test('D5 the bit "no recorded value" is a stale marker whatever the other bits: no value, no reset', () => {
    const recording = createRecording();
    const marker = (time: number, flags: number) =>
      send(recording, time, sum([{ timeUnixNano: at(time), flags, asInt: 999 }]), {
        ...histogram({ timeUnixNano: at(time), flags, count: 5, bucketCounts: [1, 1], explicitBounds: [] }),
      });
    send(recording, 10, sum([{ asInt: 5 }]));
    for (const [time, flags] of [
      [20, 1],
      [30, 3],
      [40, 0xffff_ffff],
    ] as const) {
      assert.equal(marker(time, flags).rejected, 0);
    }
    send(recording, 50, sum([{ timeUnixNano: at(50), asInt: 8 }]));
    assert.deepEqual([amounts(recording.counted), recording.observed], [[5, 3], []]);
    assert.deepEqual([count(recording, 'stale_marker'), count(recording, 'reset')], [6, 0]);
  });

  test('D6 reserved flag bits are ignored', () => {
    const recording = createRecording();
    for (const [index, flags] of [0, 2, 0x8000_0000, 0xffff_fffe].entries()) {
      const time = 10 + index * 10;
      send(recording, time, sum([{ timeUnixNano: at(time), flags, asInt: 5 * (index + 1) }]));
    }
    assert.deepEqual([amounts(recording.counted), recording.ingest.seriesCount()], [[5, 5, 5, 5], 1]);
  });

  test('D7 a new start is a reset whose whole value counts from it; a start at the time counts nothing', () => {
    const reset = sendAll([
      [10, 100, 0],
      [20, 130, 0],
      [40, 7, 32],
    ]);
    assert.deepEqual(intervals(reset), [
      [0, 10, 100],
      [10, 20, 30],
      [32, 40, 7],
    ]);
    assert.equal(count(reset, 'reset'), 1);
    const unknown = sendAll([
      [10, 100, 0],
      [20, 500, 20],
      [30, 504, 20],
    ]);
    assert.deepEqual(intervals(unknown), [
      [0, 10, 100],
      [20, 30, 4],
    ]);
  });

  test('D8 deltas: contiguous, behind a gap, and an overlap that is counted once', () => {
    const recording = sendAll(
      [
        [10, 5, 0],
        [20, 3, 10],
        [40, 2, 30],
        [45, 9, 35],
        [50, 1, 40],
      ],
      { temporality: DELTA },
    );
    assert.deepEqual(intervals(recording), [
      [0, 10, 5],
      [10, 20, 3],
      [30, 40, 2],
      [40, 50, 1],
    ]);
    assert.deepEqual(
      ['gap', 'overlapping_interval', 'reset'].map((name) => count(recording, name)),
      [1, 1, 0],
    );
  });

  test('D9 intervals are (start, end]; points of one request are taken by time, older than the last are rejected', () => {
    const recording = createRecording();
    const points = [30, 10, 20].map((time) => ({ timeUnixNano: at(time), asInt: time }));
    assert.equal(send(recording, 30, sum(points)).rejected, 0);
    assert.deepEqual(intervals(recording), [
      [0, 10, 10],
      [10, 20, 10],
      [20, 30, 10],
    ]);
    const late = send(recording, 31, sum([{ timeUnixNano: at(25), asInt: 25 }]));
    assert.deepEqual([late.rejected, count(recording, 'out_of_order')], [1, 1]);
    assert.match(late.message, /1 out_of_order \(m\)/);
  });

  test('D10 a fall under the same start is a reset, never negative nor huge; a negative delta is rejected', () => {
    const recording = sendAll([
      [10, 1000, 0],
      [20, 4, 0],
      [30, 6, 0],
    ]);
    assert.deepEqual([amounts(recording.counted), count(recording, 'reset')], [[1000, 4, 2], 1]);
    rejects(sum([{ asInt: -1 }], { temporality: DELTA }), 'negative_delta');
    rejects(sum([{ asInt: -1 }]), 'negative_total');
  });

  test('D11 a sum that may fall is a level: falls are values, and its deltas add up', () => {
    const level = sendAll(
      [
        [10, 10, 0],
        [20, 7, 0],
      ],
      { monotonic: false },
    );
    assert.deepEqual([amounts(level.gauges), level.counted, count(level, 'reset')], [[10, 7], [], 0]);
    const deltas = sendAll(
      [
        [10, 5, 0],
        [20, -3, 10],
        [30, 1, 20],
      ],
      { monotonic: false, temporality: DELTA },
    );
    assert.deepEqual([amounts(deltas.gauges), deltas.counted], [[5, 2, 3], []]);
  });

  test('D12 integers and doubles are one stream; of a counter whole events are counted', () => {
    const both = (shape: Shape): Recording => {
      const recording = createRecording();
      send(recording, 10, sum([{ asInt: 5 }], shape));
      send(recording, 20, sum([{ timeUnixNano: at(20), startTimeUnixNano: at(10), asDouble: 2.5 }], shape));
      send(recording, 30, sum([{ timeUnixNano: at(30), startTimeUnixNano: at(20), asDouble: 2.5 }], shape));
      assert.equal(recording.ingest.seriesCount(), 1);
      return recording;
    };
    assert.deepEqual(amounts(both({ temporality: DELTA, monotonic: false }).gauges), [5, 7.5, 10]);
    assert.deepEqual(amounts(both({ temporality: DELTA }).counted), [5, 2, 3]);
  });

  test('D13 a histogram whose buckets, bounds and count do not fit rejects that point only', () => {
    const bad: readonly (readonly [number[], number[], number, string])[] = [
      [[1, 1], [], 2, 'buckets_do_not_fit_bounds'],
      [[1], [1], 1, 'buckets_do_not_fit_bounds'],
      [[], [1], 0, 'buckets_do_not_fit_bounds'],
      [[1, 1, 1], [2, 2], 3, 'bounds_not_increasing'],
      [[1, 1, 1], [2, 1], 3, 'bounds_not_increasing'],
      [[1, 1], [Number.POSITIVE_INFINITY], 2, 'bounds_not_increasing'],
      [[1, 1], [Number.NaN], 2, 'bounds_not_increasing'],
      [[1, 1], [1], 3, 'count_is_not_sum_of_buckets'],
    ];
    for (const [bucketCounts, explicitBounds, total, reason] of bad) {
      rejects(histogram({ bucketCounts, explicitBounds, count: total }), reason);
    }
    const recording = createRecording();
    assert.equal(send(recording, 10, histogram({ count: 5, sum: 10 })).rejected, 0);
    assert.deepEqual(
      recording.observed.map(({ counts, sum: total }) => [counts, total]),
      [[[5], 10]],
    );
  });

  test('D14 buckets are not cumulative; an upper bound belongs to its bucket, a lower one does not', () => {
    for (const [threshold, expected] of [
      [0.5, 0],
      [1, 3],
      [1.9, 3],
      [2, 7],
    ] as const) {
      const recording = createRecording({ threshold });
      send(recording, 10, histogram({ count: 12, bucketCounts: [3, 4, 5], explicitBounds: [1, 2] }));
      assert.deepEqual([amounts(recording.counted), amounts(recording.below)], [[12], [expected]]);
    }
  });

  test('D15 a sum is there only where both points have one; min and max are never un-merged', () => {
    const recording = createRecording();
    const point = (time: number, total: number, rest: Partial<HistogramPointPayload>) =>
      send(
        recording,
        time,
        histogram({ timeUnixNano: at(time), count: total, bucketCounts: [total, 0], explicitBounds: [1], ...rest }),
      );
    point(10, 1, { sum: 4, min: 1, max: 9 });
    point(20, 2, { min: 0, max: 99 });
    point(30, 3, { sum: 6 });
    point(40, 4, { sum: 7, min: -5 });
    assert.deepEqual(
      recording.observed.map(({ sum: total }) => total),
      [4, null, null, 1],
    );
    assert.ok(recording.observed.every((observed) => !('min' in observed) && !('max' in observed)));
  });

  test('D16 a sum of no values is flagged and not taken', () => {
    const recording = createRecording();
    const point = (time: number, total: number, seconds: number) =>
      send(
        recording,
        time,
        histogram(
          {
            timeUnixNano: at(time),
            startTimeUnixNano: at(time - 10),
            count: total,
            sum: seconds,
            bucketCounts: [total, 0],
            explicitBounds: [1],
          },
          DELTA,
        ),
      );
    assert.equal(point(10, 0, 5).rejected, 0);
    point(20, 0, 0);
    point(30, 2, 3);
    assert.deepEqual(
      recording.observed.map(({ sum: total }) => total),
      [null, 0, 3],
    );
    assert.equal(count(recording, 'sum_without_count'), 1);
  });

  test('D17 other bounds begin a new epoch and are never added bucket by bucket', () => {
    const recording = createRecording({ threshold: 1 });
    const point = (time: number, bucketCounts: number[], explicitBounds: number[]) =>
      send(
        recording,
        time,
        histogram({
          timeUnixNano: at(time),
          count: bucketCounts.reduce((a, b) => a + b),
          bucketCounts,
          explicitBounds,
        }),
      );
    point(10, [9, 1], [1]);
    point(20, [9, 1, 5], [1, 2]);
    point(30, [10, 1, 6], [1, 2]);
    assert.deepEqual(
      [amounts(recording.counted), amounts(recording.below)],
      [
        [10, 2],
        [9, 1],
      ],
    );
    assert.equal(count(recording, 'new_bounds'), 1);
  });

  test('D18 a summary is rejected by its reason and fails nothing else', () => {
    const quantileValues = [
      { quantile: 0.99, value: 1 },
      { quantile: 0.5, value: 2 },
    ];
    const summary = {
      dataPoints: [{ timeUnixNano: at(10), startTimeUnixNano: at(0), count: 3, sum: 1.5, quantileValues }],
    };
    rejects({ name: 's', summary }, 'summary_not_supported');
  });

  test('D19 an exemplar, good or bad, changes nothing of any point', () => {
    const exemplars = [
      { timeUnixNano: 0n },
      { timeUnixNano: at(-1_000_000), asDouble: Number.NaN },
      { timeUnixNano: 2n ** 64n - 1n, asInt: -5, filteredAttributes: text({ __proto__: 'x', k: 'v' }) },
    ];
    const plain = createRecording();
    const marked = createRecording();
    const points = [
      { asInt: 3, attributes: text({ a: '1' }) },
      { asInt: 4, attributes: text({ a: '2' }) },
    ] as const;
    send(plain, 10, sum(points));
    const outcome = send(marked, 10, sum([{ ...points[0], exemplars }, points[1]]));
    assert.equal(outcome.rejected, 0);
    assert.deepEqual([marked.counted, marked.bound], [plain.counted, plain.bound]);
  });

  test('D20 identity is resource, scope with its schema, name, unit, kind, temporality, monotonicity and typed attributes', () => {
    const recording = createRecording();
    const base = sum([{ asInt: 1 }]);
    const data = base.sum as NonNullable<MetricPayload['sum']>;
    type Scope = MetricsPayload['resourceMetrics'][number]['scopeMetrics'][number];
    const request = (metric: MetricPayload, scope: Partial<Scope> = {}, host = 'h'): void => {
      const scopeMetrics = [{ scope: { name: 's' }, ...scope, metrics: [metric] }];
      recording.send(
        { resourceMetrics: [{ resource: { attributes: text({ 'host.name': host }) }, scopeMetrics }] },
        T0 + 10_000,
      );
    };
    const withValue = (value: AnyValue): MetricPayload => sum([{ asInt: 1, attributes: [{ key: 'k', value }] }]);
    const apart: (() => void)[] = [
      () => request(base),
      () => request(base, {}, 'other'),
      () => request(base, { scope: { name: 't' } }),
      () => request(base, { scope: { name: 's', version: '2' } }),
      () => request(base, { scope: { name: 's', attributes: text({ a: 'b' }) } }),
      () => request(base, { schemaUrl: 'https://opentelemetry.io/schemas/1.30.0' }),
      () => request(base, { schemaUrl: 'https://opentelemetry.io/schemas/1.31.0' }),
      () => request({ ...base, name: 'n' }),
      () => request({ ...base, unit: 's' }),
      () => request({ name: 'm', gauge: { dataPoints: data.dataPoints } }),
      () => request(sum([{ asInt: 1 }], { temporality: DELTA })),
      () => request(sum([{ asInt: 1 }], { monotonic: false })),
      ...[{ boolValue: true }, { intValue: 1 }, { doubleValue: 1 }, { stringValue: '1' }].map(
        (value) => () => request(withValue(value)),
      ),
    ];
    for (const one of apart) one();
    assert.equal(recording.ingest.seriesCount(), apart.length);
    const restored = createRecording();
    restored.ingest.restore(structuredClone(recording.ingest.snapshot()));
    assert.equal(restored.ingest.seriesCount(), apart.length);
  });

  test('D20 description, start, flags, bounds, kind of number and the order of attributes are no part of identity', () => {
    const recording = createRecording();
    const [a, b] = text({ a: '1', b: '2' }) as [KeyValue, KeyValue];
    const old = { key: 'a', value: { stringValue: 'old' } };
    const variants: Partial<NumberPointPayload>[] = [
      { attributes: [a, b], asInt: 1 },
      { attributes: [b, a], asDouble: 2 },
      { attributes: [old, b, a], asInt: 3, flags: 2 },
      { attributes: [a, b], asInt: 4, startTimeUnixNano: at(35) },
    ];
    for (const [index, point] of variants.entries()) {
      const time = 10 * (index + 1);
      send(recording, time, { ...sum([{ timeUnixNano: at(time), ...point }]), description: `words ${index}` });
    }
    for (const [index, explicitBounds] of [[1], [1, 2]].entries()) {
      const time = 10 * (index + 1);
      send(
        recording,
        time,
        histogram({ timeUnixNano: at(time), bucketCounts: [0, ...explicitBounds.map(() => 0)], explicitBounds }),
      );
    }
    assert.equal(recording.ingest.seriesCount(), 2, 'of two values of one key the last stands');
  });

  test('D21 one name under two scopes or two resources is two streams', () => {
    const recording = createRecording();
    const metric = sum([{ asInt: 5 }]);
    recording.send(requestOf([metric], { 'host.name': 'h' }, 'A'), T0 + 10_000);
    recording.send(requestOf([metric], { 'host.name': 'h' }, 'B'), T0 + 10_000);
    recording.send(requestOf([metric], { 'host.name': 'i' }, 'A'), T0 + 10_000);
    assert.deepEqual([recording.ingest.seriesCount(), amounts(recording.counted)], [3, [5, 5, 5]]);
    assert.equal(count(recording, 'duplicate'), 0);
  });

  test('D22 a metric without points is passed over', () => {
    const recording = createRecording();
    const outcome = send(recording, 10, sum([], { name: 'empty' }), sum([{ asInt: 5 }]), { name: 'bare' });
    assert.deepEqual([outcome, amounts(recording.counted)], [{ points: 1, rejected: 0, message: '' }, [5]]);
  });

  test('D23 a series with otel.metric.overflow is kept, counted and told once as a warning', () => {
    const recording = createRecording();
    const overflow = (time: number, value: AnyValue) =>
      send(
        recording,
        time,
        sum([{ timeUnixNano: at(time), asInt: time, attributes: [{ key: 'otel.metric.overflow', value }] }]),
      );
    const first = overflow(10, { boolValue: true });
    assert.deepEqual([first.rejected, /otel\.metric\.overflow/.test(first.message)], [0, true]);
    assert.deepEqual(overflow(20, { boolValue: true }), { points: 1, rejected: 0, message: '' });
    overflow(20, { boolValue: false });
    assert.deepEqual([amounts(recording.counted), count(recording, 'sender_overflow')], [[10, 10, 20], 1]);
  });
});
