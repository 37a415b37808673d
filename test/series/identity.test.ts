import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import type { AnyValue, KeyValue, MetricPayload } from '../../src/otlp/metrics-payload.ts';
import { amounts, createRecording, cumulative, nanos, requestOf, text } from '../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;

const withAttributes = (name: string, at: number, value: number, attributes: readonly KeyValue[]): MetricPayload => ({
  name,
  sum: {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [{ timeUnixNano: nanos(at), startTimeUnixNano: nanos(T0), asInt: value, attributes }],
  },
});

describe('what makes a series', () => {
  test('V34: two attribute sets with the same hash are two series', () => {
    const recording = createRecording({ hash: () => 7 });
    for (const push of [1, 2, 3]) {
      const at = T0 + push * 10_000;
      const metrics = ['a', 'b', 'c'].map((key, index) => cumulative('m', at, push * (index + 1), T0, { key }));
      recording.send(requestOf(push === 2 ? metrics.reverse() : metrics), at);
    }
    assert.equal(recording.ingest.seriesCount(), 3);
    assert.deepEqual(amounts(recording.counted).sort(), [1, 1, 1, 2, 2, 2, 3, 3, 3]);
  });

  test('V32: attribute values of another type are other values, deep inside lists too', () => {
    const recording = createRecording();
    const values: AnyValue[] = [
      { boolValue: true },
      { intValue: 1n },
      { doubleValue: 1 },
      { stringValue: '1' },
      { bytesValue: Uint8Array.of(49) },
      {},
      { stringValue: '' },
      { arrayValue: { values: [{ intValue: 1n }] } },
      { arrayValue: { values: [{ stringValue: '1' }] } },
      { kvlistValue: { values: [{ key: '1', value: { intValue: 1n } }] } },
      { intValue: 2n ** 63n - 1n },
      { intValue: 2n ** 63n - 2n },
      { intValue: -1n },
    ];
    const metrics = values.map((value) => withAttributes('m', T0 + 1000, 1, [{ key: 'k', value }]));
    assert.equal(recording.send(requestOf(metrics), T0 + 1000).rejected, 0);
    assert.equal(recording.ingest.seriesCount(), values.length);
    const texts = recording.bound.map(({ attributes }) => attributes.get('k')?.text);
    assert.equal(texts[10], '9223372036854775807');
    assert.equal(texts[12], '-1');
  });

  test('the order of attributes and a repeated key make no other series; the last of two keys wins', () => {
    const recording = createRecording();
    const [a, b] = text({ a: '1', b: '2' }) as [KeyValue, KeyValue];
    const old: KeyValue = { key: 'a', value: { stringValue: 'old' } };
    const layouts = [
      [a, b],
      [b, a],
      [old, b, a],
      [a, b],
    ];
    layouts.forEach((attributes, index) => {
      const at = T0 + (index + 1) * 10_000;
      recording.send(requestOf([withAttributes('m', at, (index + 1) * 5, attributes)]), at);
    });
    assert.equal(recording.ingest.seriesCount(), 1);
    assert.equal(recording.bound.length, 1);
    assert.deepEqual(amounts(recording.counted), [5, 5, 5, 5]);
  });

  test('V33: name, unit, scope, kind, temporality and monotonicity each tell series apart; description does not', () => {
    const recording = createRecording();
    const at = T0 + 1000;
    const base = cumulative('m', at, 1, T0);
    const sum = base.sum as NonNullable<MetricPayload['sum']>;
    const variants: readonly (readonly [MetricPayload, string])[] = [
      [base, 'a'],
      [{ ...base, description: 'other words' }, 'a'],
      [base, 'b'],
      [{ ...base, name: 'n' }, 'a'],
      [{ ...base, unit: 's' }, 'a'],
      [{ name: 'm', sum: { ...sum, isMonotonic: false } }, 'a'],
      [{ name: 'm', sum: { ...sum, aggregationTemporality: 1 } }, 'a'],
      [{ name: 'm', gauge: { dataPoints: sum.dataPoints } }, 'a'],
    ];
    for (const [metric, scope] of variants) recording.send(requestOf([metric], undefined, scope), at);
    assert.equal(recording.ingest.seriesCount(), variants.length - 1);
  });

  test('V23: an attribute called __name__ or __proto__ is an ordinary attribute', () => {
    const recording = createRecording();
    const attributes = text({ __name__: 'evil', __proto__: 'x', constructor: 'y' });
    recording.send(requestOf([withAttributes('requests', T0 + 1000, 1, attributes)]), T0 + 1000);
    assert.equal(recording.bound[0]?.name, 'requests');
    assert.equal(recording.bound[0]?.attributes.get('__name__')?.text, 'evil');
  });

  test('V13: start time and flags are no part of it, nor is an int instead of a double', () => {
    const recording = createRecording();
    const point = (at: number, value: object, start: number, flags: number): MetricPayload => ({
      name: 'm',
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [{ timeUnixNano: nanos(at), startTimeUnixNano: nanos(start), flags, ...value }],
      },
    });
    recording.send(requestOf([point(T0 + 10_000, { asInt: 5n }, T0, 0)]), T0 + 10_000);
    recording.send(requestOf([point(T0 + 20_000, { asDouble: 7.5 }, T0, 2)]), T0 + 20_000);
    recording.send(requestOf([point(T0 + 40_000, { asInt: 3n }, T0 + 30_000, 0)]), T0 + 40_000);
    assert.equal(recording.ingest.seriesCount(), 1);
    assert.deepEqual(amounts(recording.counted), [5, 2, 3]);
  });
});

describe('which balancer it is', () => {
  const CHAIN: readonly (readonly [Readonly<Record<string, string>>, string | null, string])[] = [
    [{ 'service.instance.id': 'i', 'k8s.pod.uid': 'u', 'host.name': 'h' }, 'header', 'i'],
    [{ 'k8s.pod.uid': 'u', 'k8s.pod.name': 'n', 'host.name': 'h' }, 'header', 'u'],
    [{ 'k8s.pod.name': 'n', 'host.name': 'h' }, 'header', 'n'],
    [{ 'host.name': 'h', 'process.pid': '7', 'container.id': 'c' }, 'header', 'h/7'],
    [{ 'host.name': 'h', 'container.id': 'c' }, 'header', 'h'],
    [{ 'container.id': 'c' }, 'header', 'c'],
    [{ 'telemetry.sdk.name': 'envoy' }, 'header', 'header'],
    [{}, null, '10.9.9.9'],
    [{ 'service.instance.id': '' }, '', '10.9.9.9'],
  ];

  test('is said by the resource, else by the header, else by the peer address', () => {
    for (const [resource, identityHeader, expected] of CHAIN) {
      const recording = createRecording();
      const payload = requestOf([cumulative('m', T0 + 1000, 1, T0)], resource);
      recording.send(payload, T0 + 1000, { peer: '10.9.9.9', identityHeader });
      assert.equal(recording.bound[0]?.balancer, expected);
      assert.equal(recording.heard[0]?.balancer, expected);
    }
  });

  test('senders without a name are told apart by address; one with a name is the same from anywhere', () => {
    for (const [resource, expected] of [
      [{}, 2],
      [{ 'host.name': 'h' }, 1],
    ] as const) {
      const recording = createRecording();
      recording.send(requestOf([cumulative('m', T0 + 10_000, 5, T0)], resource), T0 + 10_000, { peer: '10.0.0.1' });
      recording.send(requestOf([cumulative('m', T0 + 20_000, 9, T0)], resource), T0 + 20_000, { peer: '10.0.0.2' });
      assert.equal(recording.ingest.seriesCount(), expected);
    }
  });

  test('a balancer is told once per request, with its newest accepted point, whatever its scopes', () => {
    const recording = createRecording();
    const resource = { attributes: text({ 'host.name': 'h' }) };
    const scopeMetrics = ['a', 'b'].map((name, index) => ({
      scope: { name },
      metrics: [cumulative('m', T0 + 1000 + index, 1, T0), cumulative('late', 0, 1, null)],
    }));
    const other = requestOf([cumulative('m', T0 + 700, 1, T0)], { 'host.name': 'i' }).resourceMetrics;
    recording.send({ resourceMetrics: [{ resource, scopeMetrics }, ...other] }, T0 + 2000);
    assert.deepEqual(
      recording.heard.map(({ balancer, newestPointAt, receivedAt }) => [balancer, newestPointAt - T0, receivedAt - T0]),
      [
        ['h', 1001, 2000],
        ['i', 700, 2000],
      ],
    );
  });

  test('the newest point of one scope is told wherever it stands', () => {
    const recording = createRecording();
    const times = [500, 900, 700];
    recording.send(requestOf(times.map((time) => cumulative(`m${time}`, T0 + time, 1, T0))), T0 + 2000);
    assert.deepEqual(
      recording.heard.map(({ newestPointAt }) => newestPointAt - T0),
      [900],
    );
  });

  test('a request without one good point is not heard', () => {
    const recording = createRecording();
    recording.send(requestOf([cumulative('m', 0, 1, null)]), T0);
    assert.deepEqual(recording.heard, []);
  });
});

describe('what cannot be read', () => {
  const good = cumulative('good', T0 + 1000, 7, T0);

  test('text that is not UTF-8 refuses the points that it belongs to and no others', () => {
    const places = [
      requestOf([good, cumulative('bad', T0 + 1000, 1, T0, { '#key#': 'v' })]),
      requestOf([good, cumulative('bad', T0 + 1000, 1, T0, { key: '#value#' })]),
      requestOf([good, cumulative('#name#', T0 + 1000, 1, T0)]),
      requestOf([good, { ...cumulative('bad', T0 + 1000, 1, T0), unit: '#unit#' }]),
    ];
    const resources = [
      ...requestOf([good]).resourceMetrics,
      ...requestOf([cumulative('bad', T0 + 1000, 1, T0)], { 'host.name': '#host#' }).resourceMetrics,
    ];
    for (const payload of [...places, { resourceMetrics: resources }]) {
      const bytes = encodeMetrics(payload).map((byte) => (byte === 0x23 ? 0xff : byte));
      const recording = createRecording();
      const outcome = recording.sendBytes(bytes, T0 + 1000);
      assert.deepEqual([outcome.points, outcome.rejected], [2, 1]);
      assert.match(outcome.message, /1 attributes_unreadable/);
      assert.deepEqual(amounts(recording.counted), [7]);
      assert.equal(recording.ingest.seriesCount(), 1);
    }
  });

  test('other alphabets are kept as they are', () => {
    const recording = createRecording();
    recording.send(requestOf([cumulative('größe', T0 + 1000, 1, T0, { ключ: '値🙂' })]), T0 + 1000);
    assert.equal(recording.bound[0]?.name, 'größe');
    assert.equal(recording.bound[0]?.attributes.get('ключ')?.text, '値🙂');
  });

  test('attributes of more than 64 KiB and names of more than 4 KiB are refused', () => {
    const recording = createRecording();
    const long = [good, cumulative('long', T0 + 1000, 1, T0, { k: 'x'.repeat(65_536) })];
    assert.match(recording.send(requestOf(long), T0 + 1000).message, /attributes_too_long \(long\)/);
    const named = recording.send(requestOf([cumulative('x'.repeat(4097), T0 + 1000, 1, T0)]), T0 + 1000);
    assert.equal(named.message, `data points not counted: 1 attributes_too_long (${'x'.repeat(80)})`);
  });

  test('a flood of series is refused beyond the limit while known series go on', () => {
    const recording = createRecording({ maxSeries: 3 });
    for (const push of [1, 2]) {
      const at = T0 + push * 10_000;
      const metrics = ['a', 'b', 'c', 'd', 'e'].map((k) => cumulative('m', at, push, T0, { k }));
      const outcome = recording.send(requestOf(metrics), at);
      assert.equal(outcome.rejected, 2);
      assert.match(outcome.message, /2 series_limit \(m\)/);
    }
    assert.equal(recording.ingest.seriesCount(), 3);
    assert.deepEqual(amounts(recording.counted), [1, 1, 1, 1, 1, 1]);
  });
});

describe('binding', () => {
  test('happens once per series, and again for all of them with the same descriptions after a reload', () => {
    const recording = createRecording();
    const at = T0 + 1000;
    const metrics = [cumulative('a', at, 1, T0, { k: 'v', n: 'größe' }), cumulative('b', at, 1, T0)];
    recording.send(requestOf(metrics, { 'host.name': 'h', zone: 'z' }, 'scope'), at);
    recording.send(requestOf([cumulative('c', at, 1, T0)], {}), at);
    const again: unknown[] = [];
    const idle = { understood: true, counters: [], atOrBelow: [], histograms: [], gauges: [] };
    const bind = (description: unknown) => {
      again.push(description);
      return idle;
    };
    recording.ingest.rebind({ bind });
    assert.equal(recording.bound.length, 3);
    assert.deepEqual(again, recording.bound);
    const restored = createRecording();
    restored.ingest.restore(structuredClone(recording.ingest.snapshot()));
    assert.deepEqual(restored.bound, recording.bound);
  });
});
