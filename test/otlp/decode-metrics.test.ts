import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/app-error.ts';
import { createPrng } from '../../src/base/prng.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import type { MetricPayload } from '../../src/otlp/metrics-payload.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { WireWriter } from '../../src/otlp/wire-writer.ts';
import { messageType } from '../support/otlp-messages.ts';
import { payloads } from '../support/otlp-payloads.ts';
import { scramble } from '../support/scramble.ts';
import { oraclePoints, stagedPoints } from '../support/staged-tree.ts';

const staging = new Staging();
const decoded = (bytes: Uint8Array) => {
  decodeMetrics(bytes, staging);
  return stagedPoints(staging);
};
const request = (...metrics: MetricPayload[]): Uint8Array =>
  encodeMetrics({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
const bytesOf = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);
const isMalformed = (error: unknown): boolean => error instanceof AppError && error.code === 'OTLP_MALFORMED';

/** A field of length-delimited bytes. */
function field(number: number, ...bodies: Uint8Array[]): Uint8Array {
  const body = new WireWriter();
  for (const one of bodies) body.raw(one);
  const writer = new WireWriter();
  writer.bytesField(number, body.finish());
  return writer.finish();
}
/** A request around the fields of one Metric. */
const aroundMetric = (...fields: Uint8Array[]): Uint8Array => field(1, field(2, field(2, ...fields)));
const protobuf = (type: string, value: object): Uint8Array =>
  messageType(type).encode(messageType(type).fromObject(value)).finish();
const malformed = (bytes: Uint8Array, message: RegExp): void =>
  assert.throws(() => decodeMetrics(bytes, new Staging()), { code: 'OTLP_MALFORMED', message });

describe('decodeMetrics agrees with protobufjs', () => {
  test('on random requests of every kind of metric', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const bytes = encodeMetrics(payload);
        assert.deepEqual(decoded(bytes), oraclePoints(bytes));
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test('on the same requests with fields out of order, messages in pieces, unpacked numbers, unknown fields', () => {
    fc.assert(
      fc.property(payloads, fc.nat(), (payload, seed) => {
        const bytes = encodeMetrics(payload);
        assert.deepEqual(decoded(scramble(bytes, createPrng(seed))), oraclePoints(bytes));
      }),
      { seed: 2, numRuns: 400 },
    );
  });

  test('when a Buffer with an offset is given', () => {
    const bytes = request({ name: 'm', gauge: { dataPoints: [{ timeUnixNano: 1n, asInt: -5n }] } });
    const shifted = Buffer.concat([Buffer.from('xyz'), bytes]).subarray(3);
    assert.deepEqual(decoded(shifted), oraclePoints(bytes));
  });
});

describe('decodeMetrics refuses what is no request', () => {
  const attributes = [{ key: 'k', value: { stringValue: 'v' } }];
  const common = { timeUnixNano: 5n, attributes };
  const sample = request(
    { name: 'a', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...common, asInt: 1n }] } },
    {
      name: 'b',
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [{ ...common, count: 3n, bucketCounts: [1n, 2n], explicitBounds: [0.5] }],
      },
    },
    {
      name: 'c',
      exponentialHistogram: {
        aggregationTemporality: 1,
        dataPoints: [
          { ...common, count: 3n, scale: 2, zeroCount: 0n, positive: { offset: -1, bucketCounts: [1n, 2n] } },
        ],
      },
    },
  );

  test('every cut of a request is refused as malformed, and nothing else happens', () => {
    for (let length = 1; length < sample.length; length += 1) {
      assert.throws(() => decodeMetrics(sample.subarray(0, length), staging), isMalformed);
    }
    assert.equal(decoded(sample.subarray(0, 0)).length, 0);
  });

  test('random damage never does anything but refuse as malformed', () => {
    const prng = createPrng(7);
    for (let run = 0; run < 20_000; run += 1) {
      const bytes = sample.slice();
      for (let hit = 0; hit <= prng.below(4); hit += 1) bytes[prng.below(bytes.length)] = prng.below(256);
      try {
        decodeMetrics(bytes, staging);
      } catch (error) {
        assert.ok(isMalformed(error), String(error));
      }
    }
  });

  test('B2: a varint that is cut short', () => malformed(bytesOf(0x0a, 0x80), /varint is cut short/));
  test('B3: a length beyond its parent', () => malformed(field(1, bytesOf(0x12, 0x05, 0x00)), /beyond its message/));
  test('B4: a tag of 11 bytes', () => {
    malformed(bytesOf(0x98, ...Array.from({ length: 10 }, () => 0x80), 0x01), /longer than 10 bytes/);
  });
  test('B4: a value of 11 bytes', () => {
    malformed(bytesOf(0x78, ...Array.from({ length: 10 }, () => 0xff), 0x01), /longer than 10 bytes/);
  });
  test('B5: field number 0', () => malformed(bytesOf(0x02, 0x00), /field number/));
  test('B1: groups', () => malformed(bytesOf(0x7b, 0x7c), /wire type 3/));
  test('a 64-bit field that is cut short', () => {
    malformed(aroundMetric(field(7, field(1, bytesOf(0x19, 1, 2, 3)))), /64-bit field is cut short/);
  });
  test('packed buckets that are no multiple of eight bytes', () => {
    malformed(aroundMetric(field(9, field(1, field(6, bytesOf(1, 2, 3))))), /packed field/);
  });
  test('a known field with another wire type', () => {
    malformed(bytesOf(0x08, 0x01), /wire type 0/);
    malformed(aroundMetric(field(7, field(1, bytesOf(0x10, 0x01)))), /a time has wire type 0/);
  });
  test('a length of almost 2^64', () => {
    malformed(bytesOf(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), /beyond its message/);
  });
});

describe('V36: nesting of attribute values', () => {
  const nested = (depth: number): Uint8Array => {
    let value = bytesOf(0x0a, 0x01, 0x78);
    for (let level = 1; level < depth; level += 1) value = field(5, field(1, value));
    return field(2, value);
  };
  const point = field(1, bytesOf(0x19, 1, 0, 0, 0, 0, 0, 0, 0));
  const inPoint = (depth: number): Uint8Array => aroundMetric(field(5, field(1, field(7, nested(depth)))));
  const inResource = (depth: number): Uint8Array =>
    field(1, field(1, field(1, nested(depth))), field(2, field(2, field(5, point))));

  test('100 levels are taken, 101 and 10,000 are refused, in points and resources', () => {
    for (const around of [inPoint, inResource]) {
      decodeMetrics(around(100), staging);
      assert.equal(staging.pointCount, 1);
      malformed(around(101), /nested deeper than 100/);
      malformed(around(10_000), /nested deeper than 100/);
    }
  });
});

describe('what one request holds', () => {
  const one = [{ timeUnixNano: 1n, asInt: 1n }];

  test('V21: a metric without points leaves nothing, the next one stays', () => {
    const empty = { name: 'a', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [] } };
    const names = decoded(request(empty, { name: 'b', gauge: { dataPoints: one } })).map(({ name }) => name);
    assert.deepEqual([names, staging.metricCount], [['b'], 1]);
  });

  test('V25: the unit of one metric does not leak into the next', () => {
    const bytes = request(
      { name: 'a', unit: 's', gauge: { dataPoints: one } },
      { name: 'b', gauge: { dataPoints: one } },
    );
    const units = decoded(bytes).map(({ unit }) => unit);
    assert.deepEqual(units, ['s', '']);
  });

  test('V26: bucket counts as unpacked fixed64 equal the packed form', () => {
    const counts = field(6, bytesOf(3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0));
    const bound = field(7, bytesOf(0, 0, 0, 0, 0, 0, 0xe0, 0x3f));
    const count = (value: number): Uint8Array => bytesOf(0x31, value, 0, 0, 0, 0, 0, 0, 0);
    const packed = decoded(aroundMetric(field(9, field(1, counts, bound))));
    assert.deepEqual(decoded(aroundMetric(field(9, field(1, count(3), bound, count(4))))), packed);
    assert.deepEqual(packed[0]?.value, { count: 0, sum: null, counts: [3, 4], bounds: [0.5] });
  });

  test('temporality and monotonicity behind the points hold for all of them', () => {
    const point = field(1, protobuf('NumberDataPoint', { timeUnixNano: 9, asInt: 3 }));
    const data = field(7, point, bytesOf(0x10, 0x02, 0x18, 0x01));
    const [first] = decoded(aroundMetric(data, field(1, Buffer.from('late'))));
    assert.deepEqual([first?.temporality, first?.monotonic, first?.name], [2, true, 'late']);
  });

  test('a temporality that the enum does not have is none', () => {
    const point = field(1, protobuf('NumberDataPoint', { timeUnixNano: 9, asInt: 3 }));
    const negative = bytesOf(0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    for (const unknown of [bytesOf(0x10, 0x07), negative]) {
      assert.equal(decoded(aroundMetric(field(7, point, unknown)))[0]?.temporality, 0);
    }
  });

  test('of a oneof the last on the wire wins: in the value and in the data of a metric', () => {
    const value = bytesOf(0x31, 7, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f);
    assert.deepEqual(decoded(aroundMetric(field(5, field(1, value))))[0]?.value, { double: 1.5 });
    const int = (byte: number): Uint8Array => field(1, bytesOf(0x31, byte, 0, 0, 0, 0, 0, 0, 0));
    const pieces = decoded(aroundMetric(field(7, int(1)), field(5, int(2)), field(7, int(3)), field(7, int(4))));
    const found = pieces.map((piece) => [piece.kind, piece.value]);
    assert.deepEqual(found, [
      ['sum', { int: '3', rounded: 3 }],
      ['sum', { int: '4', rounded: 4 }],
    ]);
  });

  test('V24: exemplars are passed, also a broken one', () => {
    const broken = field(5, bytesOf(0xff, 0xff));
    const bytes = aroundMetric(field(7, field(1, broken, bytesOf(0x31, 7, 0, 0, 0, 0, 0, 0, 0))));
    assert.deepEqual(decoded(bytes)[0]?.value, { int: '7', rounded: 7 });
  });

  test('exponential buckets stay right while the pool of numbers grows', () => {
    const bucketCounts = Array.from({ length: 5000 }, (_, index) => BigInt(index));
    const dataPoint = { timeUnixNano: 1n, count: 0n, scale: 0, positive: { offset: 0, bucketCounts } };
    const bytes = request({ name: 'm', exponentialHistogram: { aggregationTemporality: 2, dataPoints: [dataPoint] } });
    decodeMetrics(bytes, new Staging());
    const fresh = new Staging();
    decodeMetrics(bytes, fresh);
    assert.deepEqual(stagedPoints(fresh), oraclePoints(bytes));
  });

  test('a request of 3 million empty points is refused before it takes gigabytes', () => {
    const body = new Uint8Array(6_000_000);
    for (let at = 0; at < body.length; at += 2) body[at] = 0x0a;
    malformed(aroundMetric(field(5, body)), /may hold \d+ data points/);
  });
});
