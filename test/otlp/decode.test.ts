import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/app-error.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { type HistogramPointPayload, toAttributes } from '../../src/otlp/metrics-payload.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { everyKind, toJsonText } from '../support/otlp-client.ts';
import { messageType } from '../support/otlp-messages.ts';
import { payloads } from '../support/otlp-payloads.ts';
import { decoded, type Expected, expectedOf } from '../support/otlp-proto.ts';
import { bytesField, concat, fixed64Field, tagOf, varint } from '../support/wire-bytes.ts';

const REQUEST = 'ExportMetricsServiceRequest';
const type = messageType(REQUEST);
const encodeJson = (json: string): Uint8Array => type.encode(type.fromObject(JSON.parse(json))).finish();
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** A request of one metric, from the bodies of its levels. */
const requestOf = (metric: Uint8Array, resource = new Uint8Array(0)): Uint8Array =>
  bytesField(1, concat(bytesField(1, resource), bytesField(2, bytesField(2, metric))));
const sumOf = (...points: Uint8Array[]): Uint8Array =>
  requestOf(concat(bytesField(1, text('m')), bytesField(7, concat(...points.map((point) => bytesField(1, point))))));
const histogramOf = (point: Uint8Array): Uint8Array =>
  requestOf(concat(bytesField(1, text('m')), bytesField(9, bytesField(1, point))));
const keyValue = (key: string, value: string): Uint8Array =>
  concat(bytesField(1, text(key)), bytesField(2, bytesField(1, text(value))));

function agrees(bytes: Uint8Array): Expected {
  const expected = expectedOf(bytes);
  assert.deepEqual(decoded(bytes), expected);
  return expected;
}

function refuses(bytes: Uint8Array): void {
  assert.throws(
    () => decodeMetrics(bytes, new Staging()),
    (error) => error instanceof AppError && error.code === 'OTLP_MALFORMED',
  );
}

test('any request of protobufjs reads as protobufjs reads it', () => {
  fc.assert(
    fc.property(payloads, (payload) => {
      agrees(encodeJson(toJsonText(payload)));
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('every kind of metric reads with all of its points', () => {
  const { points } = agrees(encodeJson(toJsonText(everyKind())));
  assert.deepEqual(new Set(points.map(({ kind }) => kind)), new Set([1, 2, 3, 4, 5]));
});

test('exponential counts survive the growth of the pool that they are gathered in', () => {
  for (const length of [1023, 1024, 1025, 2049, 5000]) {
    const bucketCounts = Array.from({ length }, (_, index) => BigInt(index + 1));
    const point = { timeUnixNano: 1n, count: 0n, scale: 0, positive: { offset: 0, bucketCounts } };
    const exponentialHistogram = { aggregationTemporality: 2, dataPoints: [point] };
    const payload = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'e', exponentialHistogram }] }] }] };
    const [read] = agrees(encodeJson(toJsonText(payload))).points;
    assert.equal(read?.counts.at(-1), length);
  }
});

test('unknown fields of every wire type are passed at every level', () => {
  const unknown = concat(
    tagOf(90, 0),
    varint(300),
    fixed64Field(91, 7n),
    bytesField(92, text('later')),
    tagOf(93, 5),
    new Uint8Array(4),
  );
  const wrap = (body: Uint8Array): Uint8Array => concat(unknown, body, unknown);
  const point = wrap(concat(fixed64Field(3, 5n), fixed64Field(6, 9n), bytesField(7, wrap(keyValue('a', 'b')))));
  const metric = wrap(concat(bytesField(1, text('m')), bytesField(7, wrap(bytesField(1, point)))));
  const scope = wrap(concat(bytesField(1, wrap(bytesField(1, text('s')))), bytesField(2, metric)));
  const request = wrap(bytesField(1, wrap(concat(bytesField(1, unknown), bytesField(2, scope)))));
  const { points } = agrees(request);
  assert.equal(points.length, 1);
  assert.equal(points[0]?.name, 'm');
  assert.equal(points[0]?.value, 9);
});

test('V26: packed, unpacked and mixed bucket counts and bounds are the same', () => {
  const double = (field: number, value: number): Uint8Array =>
    fixed64Field(field, new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n);
  const raw = (value: Uint8Array): Uint8Array => value.subarray(1);
  const head = concat(fixed64Field(3, 5n), fixed64Field(4, 6n));
  const counts = [1n, 2n, 3n].map((count) => fixed64Field(6, count));
  const bounds = [0.5, 2].map((bound) => double(7, bound));
  const packedCounts = bytesField(6, concat(...counts.map(raw)));
  const packedBounds = bytesField(7, concat(...bounds.map(raw)));
  const mixed = [bytesField(6, concat(...counts.slice(0, 2).map(raw))), bounds[0], counts[2], bounds[1]];
  for (const parts of [[packedCounts, packedBounds], [...bounds, ...counts], mixed]) {
    const { points } = agrees(histogramOf(concat(head, ...parts.map((part) => part ?? new Uint8Array(0)))));
    assert.deepEqual(points[0]?.counts, [1, 2, 3]);
    assert.deepEqual(points[0]?.bounds, [0.5, 2]);
  }
});

test('unpacked exponential counts and buckets in two pieces merge', () => {
  const piece = (offset: number, ...counts: number[]): Uint8Array =>
    concat(tagOf(1, 0), varint(offset), ...counts.map((count) => concat(tagOf(2, 0), varint(count))));
  const point = concat(fixed64Field(3, 5n), bytesField(8, piece(2, 1, 300)), bytesField(8, piece(4, 5)));
  const { points } = agrees(requestOf(bytesField(10, bytesField(1, point))));
  assert.deepEqual(points[0]?.counts, [1, 300, 5]);
});

test('a resource in two pieces around its scopes merges', () => {
  const attribute = (key: string): Uint8Array => bytesField(1, bytesField(1, keyValue(key, 'v')));
  const metric = concat(bytesField(1, text('m')), bytesField(7, bytesField(1, fixed64Field(3, 5n))));
  const request = bytesField(1, concat(attribute('a'), bytesField(2, bytesField(2, metric)), attribute('b')));
  const { points } = agrees(request);
  assert.deepEqual(points[0]?.resource, [
    ['a', 'v'],
    ['b', 'v'],
  ]);
});

test('attributes that do not stand together are gathered', () => {
  const attribute = (key: string): Uint8Array => bytesField(7, keyValue(key, 'v'));
  const { points } = agrees(
    sumOf(concat(attribute('a'), fixed64Field(3, 5n), attribute('b'), fixed64Field(6, 1n), attribute('c'))),
  );
  assert.deepEqual(
    points[0]?.attributes.map(([key]) => key),
    ['a', 'b', 'c'],
  );
});

test('of a metric that has two kinds of data the last stays, and the pieces of one kind merge', () => {
  const name = bytesField(1, text('m'));
  const one = (value: bigint): Uint8Array => bytesField(1, concat(fixed64Field(3, 5n), fixed64Field(6, value)));
  const sums = requestOf(concat(bytesField(7, one(1n)), name, bytesField(7, one(2n))));
  assert.deepEqual(
    agrees(sums).points.map(({ value }) => value),
    [1, 2],
  );
  const gaugeLast = decoded(requestOf(concat(name, bytesField(7, one(1n)), bytesField(5, one(2n)))));
  assert.deepEqual(
    gaugeLast.points.map(({ kind, value }) => [kind, value]),
    [[1, 2]],
  );
});

test('of two scalars the last stays, and of two members of a value the last decides the kind', () => {
  const [point] = decoded(sumOf(concat(fixed64Field(3, 1n), fixed64Field(4, 0n), fixed64Field(6, 8n)))).points;
  assert.equal(point?.value, 8);
  const [later] = decoded(sumOf(concat(fixed64Field(3, 1n), fixed64Field(3, 2_000_001n)))).points;
  assert.equal(later?.time, 2_000_001n);
});

test('V25: a unit does not leak from one metric to the next', () => {
  const at = { timeUnixNano: 1n, asInt: 1 };
  const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints: [at] };
  const metrics = [
    { name: 'a', unit: 's', sum },
    { name: 'b', sum },
  ];
  const { points } = agrees(encodeJson(toJsonText({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })));
  assert.deepEqual(
    points.map(({ unit }) => unit),
    ['s', ''],
  );
});

test('a request reads the same in a staging that held another', () => {
  const staging = new Staging();
  const first = encodeJson(toJsonText(everyKind()));
  decodeMetrics(first, staging);
  fc.assert(
    fc.property(payloads, (payload) => {
      const bytes = encodeJson(toJsonText(payload));
      assert.deepEqual(decoded(bytes, staging), decoded(bytes));
    }),
    { seed: 2, numRuns: 100 },
  );
});

test('a message cut at any byte is refused, or is a prefix of the whole', () => {
  const bytes = encodeJson(toJsonText(everyKind()));
  let refused = 0;
  for (let length = 0; length < bytes.length; length += 1) {
    const staging = new Staging();
    try {
      decodeMetrics(bytes.subarray(0, length), staging);
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'OTLP_MALFORMED', String(error));
      refused += 1;
    }
  }
  assert.equal(refused, bytes.length - 1);
});

test('bytes flipped at random are refused or read, never worse', () => {
  const bytes = encodeJson(toJsonText(everyKind()));
  fc.assert(
    fc.property(
      fc.array(fc.record({ at: fc.nat(bytes.length - 1), to: fc.nat(255) }), { minLength: 1, maxLength: 4 }),
      (flips) => {
        const damaged = bytes.slice();
        for (const { at, to } of flips) damaged[at] = to;
        try {
          decodeMetrics(damaged, new Staging());
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === 'OTLP_MALFORMED', String(error));
        }
      },
    ),
    { seed: 3, numRuns: 3000 },
  );
});

test('V36: an attribute nested 10,000 deep is refused, as array and as list of pairs', () => {
  for (const isArray of [true, false]) {
    let value: Uint8Array = bytesField(1, text('x'));
    for (let depth = 0; depth < 10_000; depth += 1) {
      value = isArray ? bytesField(5, bytesField(1, value)) : bytesField(6, bytesField(1, bytesField(2, value)));
    }
    refuses(sumOf(concat(fixed64Field(3, 1n), bytesField(7, concat(bytesField(1, text('k')), bytesField(2, value))))));
  }
});

test('a varint over ten bytes, a field number of 0, groups, and lengths beyond their message are refused', () => {
  const eleven = new Uint8Array([...new Array<number>(10).fill(0x80), 1]);
  refuses(concat(tagOf(9, 0), eleven));
  refuses(sumOf(concat(tagOf(8, 0), eleven)));
  refuses(new Uint8Array([0x00, 0x01]));
  refuses(new Uint8Array([0x02, 0x00]));
  refuses(new Uint8Array([0x0b, 0x0c]));
  refuses(sumOf(new Uint8Array([0x5b, 0x5c])));
  refuses(new Uint8Array([0x0a, 0x05, 0x00]));
  refuses(sumOf(new Uint8Array([0x3a, 0x7f, 0x00])));
});

test('a known field of another wire type is refused, also where the request has to be normalised', () => {
  refuses(concat(tagOf(1, 0), varint(1)));
  refuses(sumOf(concat(tagOf(3, 0), varint(1))));
  refuses(histogramOf(concat(tagOf(6, 0), varint(1))));
  const scattered = concat(bytesField(7, keyValue('a', 'b')), fixed64Field(3, 1n), bytesField(7, keyValue('c', 'd')));
  agrees(sumOf(scattered));
  refuses(concat(sumOf(scattered), tagOf(1, 0), varint(1)));
});

test('64-bit times split to the nanosecond and ints to the last bit', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      (time, value) => {
        const point = concat(fixed64Field(3, time), fixed64Field(6, BigInt.asUintN(64, value)));
        const [read] = decoded(sumOf(point)).points;
        assert.equal(read?.time, time);
        assert.equal(read?.exactInt, value);
      },
    ),
    { seed: 4, numRuns: 1000 },
  );
});

test('doubles are carried bit by bit: NaN, infinities, the negative zero and subnormals', () => {
  for (const asDouble of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, Number.MIN_VALUE]) {
    const bits = new BigUint64Array(new Float64Array([asDouble]).buffer)[0] ?? 0n;
    const [read] = decoded(sumOf(concat(fixed64Field(3, 1n), fixed64Field(4, bits)))).points;
    assert.ok(Object.is(read?.value, asDouble));
  }
});

test('a metric without points and an empty request are read as nothing', () => {
  assert.deepEqual(agrees(new Uint8Array(0)).points, []);
  const point: HistogramPointPayload = { timeUnixNano: 1n, count: 5, attributes: toAttributes({ a: 'b' }) };
  const metrics = [
    { name: 'a', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [] } },
    { name: 'b', histogram: { aggregationTemporality: 2, dataPoints: [point] } },
  ];
  const { points } = agrees(encodeJson(toJsonText({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })));
  assert.deepEqual(
    points.map(({ name, count }) => [name, count]),
    [['b', 5]],
  );
});
