import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPrng } from '../../../src/base/prng.ts';
import { encodeMetrics } from '../../../src/otlp/encode-metrics.ts';
import { decodeAttributes } from '../../../src/series/attribute-reader.ts';
import { everyKind, send, toJsonText } from '../../support/otlp-client.ts';
import { messageType } from '../../support/otlp-messages.ts';
import { decoded, expectedOf } from '../../support/otlp-proto.ts';
import { startStack } from '../../support/otlp-stack.ts';
import { amounts, createRecording, cumulative, nanos, requestOf } from '../../support/recording-ingest.ts';
import { scramble } from '../../support/scramble.ts';
import { bytesField, concat, fixed64Field, tagOf, varint } from '../../support/wire-bytes.ts';

const T0 = 1_800_000_000_000;
const REQUEST = messageType('ExportMetricsServiceRequest');
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const doubleBits = (value: number): bigint => new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n;

const keyValue = (key: string, value: Uint8Array): Uint8Array => concat(bytesField(1, text(key)), bytesField(2, value));
const string = (value: string): Uint8Array => bytesField(1, text(value));
/** A request around one Metric's fields, with a resource. */
const request = (
  metric: Uint8Array,
  resource = bytesField(1, keyValue('service.instance.id', string('lb'))),
): Uint8Array => bytesField(1, concat(bytesField(1, resource), bytesField(2, bytesField(2, metric))));
const time = fixed64Field(3, nanos(T0));
const CUMULATIVE = concat(tagOf(2, 0), varint(2), tagOf(3, 0), varint(1));
/** A monotonic cumulative sum `m` of the points given as bodies. */
const sumOf = (...points: Uint8Array[]): Uint8Array =>
  concat(bytesField(1, text('m')), bytesField(7, concat(...points.map((point) => bytesField(1, point)), CUMULATIVE)));
const histogramOf = (point: Uint8Array): Uint8Array =>
  concat(bytesField(1, text('h')), bytesField(9, concat(bytesField(1, point), tagOf(2, 0), varint(2))));
const started = concat(fixed64Field(2, nanos(T0 - 10_000)), time);

/** HTTP status of protobuf bytes through the whole receiver, and how long the answer took. */
async function post(port: number, body: Uint8Array): Promise<{ status: number; tookMs: number }> {
  const from = performance.now();
  const { status } = await send(port, { headers: { 'content-type': 'application/x-protobuf' }, body });
  return { status, tookMs: performance.now() - from };
}

describe('protobuf decoding', () => {
  test('B1 unknown fields of every wire type are passed at every level, groups are 400', async (context) => {
    const unknown = concat(
      tagOf(90, 0),
      varint(300),
      fixed64Field(91, 7n),
      bytesField(92, text('x')),
      tagOf(93, 5),
      bytes(1, 2, 3, 4),
    );
    const wrap = (body: Uint8Array): Uint8Array => concat(unknown, body, unknown);
    const point = wrap(concat(started, fixed64Field(6, 5n), bytesField(7, wrap(keyValue('k', wrap(string('v')))))));
    const metric = wrap(
      concat(bytesField(1, text('m')), bytesField(7, wrap(concat(bytesField(1, point), CUMULATIVE)))),
    );
    const scope = wrap(concat(bytesField(1, wrap(string('scope'))), bytesField(2, metric)));
    const body = wrap(
      bytesField(
        1,
        wrap(concat(bytesField(1, wrap(bytesField(1, keyValue('host.name', string('h'))))), bytesField(2, scope))),
      ),
    );
    const { httpPort, counted } = await startStack(context);
    assert.equal((await post(httpPort, body)).status, 200);
    assert.deepEqual(
      counted.map(({ series, amount }) => [series, amount]),
      [['m{k=string:v} h', 5]],
    );
    for (const group of [bytes(0x5b, 0x5c), bytes(0x5b), bytes(0x5c)]) {
      for (const broken of [group, request(group), request(sumOf(group))]) {
        assert.equal((await post(httpPort, broken)).status, 400);
      }
    }
  });

  test('B2 a varint or length that is cut short is 400 at once', async (context) => {
    const { httpPort } = await startStack(context);
    const whole = REQUEST.encode(REQUEST.fromObject(JSON.parse(toJsonText(everyKind())))).finish();
    for (const broken of [
      bytes(0x0a),
      bytes(0x0a, 0x80),
      bytes(0x78, 0xff, 0xff),
      whole.subarray(0, -1),
      whole.subarray(0, 9),
    ]) {
      const { status, tookMs } = await post(httpPort, broken);
      assert.equal(status, 400);
      assert.ok(tookMs < 1000, String(tookMs));
    }
  });

  test('B3 a length beyond the end of its parent is 400', async (context) => {
    const { httpPort } = await startStack(context);
    const beyond = bytes(0x12, 0x7f, 0x00);
    for (const broken of [
      beyond.fill(0x0a, 0, 1),
      bytesField(1, beyond),
      request(bytes(0x3a, 0x05)),
      request(sumOf(bytes(0x3a, 0x09, 0))),
    ]) {
      assert.equal((await post(httpPort, broken)).status, 400);
    }
    const almost64 = concat(tagOf(1, 2), bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01));
    assert.equal((await post(httpPort, almost64)).status, 400);
  });

  test('B4 a varint of more than ten bytes is 400', async (context) => {
    const { httpPort } = await startStack(context);
    const ten = concat(tagOf(15, 0), new Uint8Array(9).fill(0xff), bytes(0x01));
    assert.equal((await post(httpPort, ten)).status, 200);
    const eleven = concat(new Uint8Array(10).fill(0x80), bytes(0x01));
    for (const broken of [eleven, concat(tagOf(15, 0), eleven), request(sumOf(concat(tagOf(8, 0), eleven)))]) {
      assert.equal((await post(httpPort, broken)).status, 400);
    }
  });

  test('B5 field number 0 is 400', async (context) => {
    const { httpPort } = await startStack(context);
    for (const wireType of [0, 1, 2, 5]) {
      const zero = concat(bytes(wireType), new Uint8Array(8));
      for (const broken of [zero, request(zero), request(sumOf(zero))])
        assert.equal((await post(httpPort, broken)).status, 400);
    }
  });

  test('B6 text that is not UTF-8 rejects the points that it names, and no others', () => {
    const bad = bytes(0xff, 0xfe);
    const good = bytesField(2, bytesField(2, sumOf(concat(started, fixed64Field(6, 7n)))));
    const point = concat(started, fixed64Field(6, 1n));
    const metric = (name: Uint8Array, unit = text('1'), attribute = keyValue('k', string('v'))): Uint8Array =>
      concat(
        bytesField(1, name),
        bytesField(3, unit),
        bytesField(7, concat(bytesField(1, concat(point, bytesField(7, attribute))), CUMULATIVE)),
      );
    const inScope = (one: Uint8Array, ...rest: Uint8Array[]): Uint8Array =>
      bytesField(2, concat(...rest, bytesField(2, one)));
    const places: readonly Uint8Array[] = [
      inScope(metric(bad)),
      inScope(metric(text('x'), bad)),
      inScope(metric(text('x'), text('1'), concat(bytesField(1, bad), bytesField(2, string('v'))))),
      inScope(metric(text('x'), text('1'), keyValue('k', bytesField(1, bad)))),
      inScope(metric(text('x')), bytesField(1, bytesField(1, bad))),
      inScope(metric(text('x')), bytesField(3, bad)),
    ];
    for (const [index, place] of places.entries()) {
      const recording = createRecording();
      const outcome = recording.sendBytes(bytesField(1, concat(good, place)), T0);
      assert.deepEqual([outcome.points, outcome.rejected, amounts(recording.counted)], [2, 1, [7]], `place ${index}`);
      assert.match(outcome.message, /1 attributes_unreadable/);
    }
  });

  test('B7 bucket counts and bounds decode packed, unpacked and mixed, in both kinds of histogram', () => {
    const counts = [3n, 4n];
    const raw = counts.map((count) => fixed64Field(6, count).subarray(1));
    const bound = fixed64Field(7, doubleBits(0.5));
    const head = concat(started, fixed64Field(4, 7n));
    const explicit = [
      concat(bytesField(6, concat(...raw)), bytesField(7, bound.subarray(1))),
      concat(...counts.map((count) => fixed64Field(6, count)), bound),
      concat(bytesField(6, raw[0] ?? bytes()), bound, fixed64Field(6, 4n)),
    ];
    for (const fields of explicit) {
      const recording = createRecording({ threshold: 0.5 });
      assert.equal(recording.sendBytes(request(histogramOf(concat(head, fields))), T0).rejected, 0);
      assert.deepEqual([amounts(recording.counted), amounts(recording.below)], [[7], [3]]);
    }
    const packed = bytesField(2, concat(varint(3), varint(300)));
    const unpacked = concat(tagOf(2, 0), varint(3), tagOf(2, 0), varint(300));
    for (const fields of [packed, unpacked, concat(bytesField(2, varint(3)), tagOf(2, 0), varint(300))]) {
      const point = concat(started, fixed64Field(4, 303n), bytesField(8, fields));
      const metric = concat(
        bytesField(1, text('e')),
        bytesField(10, concat(bytesField(1, point), tagOf(2, 0), varint(2))),
      );
      const recording = createRecording({ threshold: 2 });
      assert.equal(recording.sendBytes(request(metric), T0).rejected, 0);
      assert.deepEqual([amounts(recording.counted), amounts(recording.below)], [[303], [3]]);
    }
  });

  test('B8 fields in any order, messages in pieces, the last of a scalar and of a oneof', () => {
    const canonical = encodeMetrics(everyKind());
    for (let seed = 0; seed < 50; seed += 1) {
      assert.deepEqual(decoded(scramble(canonical, createPrng(seed))), expectedOf(canonical));
    }
    const point = concat(
      fixed64Field(6, 1n),
      fixed64Field(4, doubleBits(2.5)),
      fixed64Field(6, 8n),
      fixed64Field(3, 1n),
      started,
    );
    const backwards = bytesField(
      1,
      concat(
        bytesField(2, bytesField(2, sumOf(point))),
        bytesField(1, bytesField(1, keyValue('host.name', string('h')))),
      ),
    );
    const recording = createRecording();
    recording.sendBytes(backwards, T0);
    assert.deepEqual(
      recording.counted.map(({ series, amount }) => [series, amount]),
      [['m{} h', 8]],
    );
    const attributes = (...values: Uint8Array[]): Uint8Array =>
      bytesField(1, concat(bytesField(1, text('k')), ...values.map((value) => bytesField(2, value))));
    const readValue = (run: Uint8Array) => decodeAttributes(run, 0, run.length, 0x0a).get('k');
    const list = (field: number, one: Uint8Array): Uint8Array => bytesField(field, bytesField(1, one));
    assert.deepEqual(readValue(attributes(string('a'), bytes())), { type: 'string', text: 'a' });
    assert.deepEqual(readValue(attributes(string('a'), bytes(0x10, 1))), { type: 'bool', text: 'true' });
    assert.deepEqual(
      readValue(attributes(list(5, string('a')), list(5, string('b')))),
      readValue(attributes(bytesField(5, concat(bytesField(1, string('a')), bytesField(1, string('b')))))),
    );
    assert.deepEqual(
      readValue(attributes(list(6, keyValue('x', string('a'))), string('s'), list(6, keyValue('y', string('b'))))),
      {
        type: 'kvlist',
        text: '[["y","string","b"]]',
      },
    );
  });

  test('B9 64-bit numbers are exact over their whole range, times to the nanosecond', () => {
    for (const value of [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), -1n]) {
      const [read] = decoded(request(sumOf(concat(time, fixed64Field(6, BigInt.asUintN(64, value)))))).points;
      assert.equal(read?.exactInt, value);
    }
    for (const value of [1n, 999_999n, 1_000_000n, nanos(T0) + 123_456_789n, 2n ** 64n - 1n]) {
      const [read] = decoded(request(sumOf(concat(fixed64Field(2, value), fixed64Field(3, value))))).points;
      assert.deepEqual([read?.time, read?.start], [value, value]);
    }
    const recording = createRecording();
    for (const [index, value] of [2n ** 53n + 1n, 2n ** 53n + 4n, 2n ** 63n - 1n].entries()) {
      recording.send(requestOf([cumulative('m', T0 + index * 10_000, value, null)]), T0 + index * 10_000);
    }
    assert.deepEqual(recording.counted[0]?.amount, 3);
    assert.equal(recording.ingest.counters().get('value_too_large'), 1, 'an increment that no double holds exactly');
  });

  test('B10 doubles are carried bit by bit; what is not finite is rejected as a value and dropped as a sum', () => {
    for (const value of [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      -0,
      Number.MIN_VALUE,
      2.2e-308,
    ]) {
      const [read] = decoded(request(sumOf(concat(time, fixed64Field(4, doubleBits(value)))))).points;
      assert.ok(Object.is(read?.value, value), String(value));
      const recording = createRecording();
      const gauge = { name: 'g', gauge: { dataPoints: [{ timeUnixNano: nanos(T0), asDouble: value }] } };
      const { rejected } = recording.send(requestOf([gauge]), T0);
      assert.equal(rejected, Number.isFinite(value) ? 0 : 1);
      if (Number.isFinite(value)) assert.ok(Object.is(recording.gauges[0]?.amount, value));
    }
    for (const sum of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const recording = createRecording();
      const dataPoints = [
        {
          timeUnixNano: nanos(T0),
          startTimeUnixNano: nanos(T0 - 1000),
          count: 2,
          sum,
          bucketCounts: [2],
          explicitBounds: [],
        },
      ];
      recording.send(requestOf([{ name: 'h', histogram: { aggregationTemporality: 2, dataPoints } }]), T0);
      assert.deepEqual(
        recording.observed.map(({ counts, sum: kept }) => [counts, kept]),
        [[[2], null]],
      );
    }
  });

  test('B11 attribute values nested 10,000 deep are 400 and cost no stack', async (context) => {
    const { httpPort } = await startStack(context);
    const nested = (depth: number, isArray: boolean): Uint8Array => {
      let value = string('x');
      for (let level = 0; level < depth; level += 1) {
        value = isArray ? bytesField(5, bytesField(1, value)) : bytesField(6, bytesField(1, bytesField(2, value)));
      }
      return keyValue('k', value);
    };
    const point = concat(time, fixed64Field(6, 1n));
    const places: readonly ((attribute: Uint8Array) => Uint8Array)[] = [
      (attribute) => request(sumOf(concat(point, bytesField(7, attribute)))),
      (attribute) => request(sumOf(point), bytesField(1, attribute)),
      (attribute) =>
        bytesField(1, bytesField(2, concat(bytesField(1, bytesField(3, attribute)), bytesField(2, sumOf(point))))),
      (attribute) => request(concat(sumOf(point), bytesField(12, attribute))),
    ];
    for (const [index, place] of places.entries()) {
      for (const isArray of [true, false]) {
        assert.equal((await post(httpPort, place(nested(10_000, isArray)))).status, 400, `place ${index}`);
        assert.equal((await post(httpPort, place(nested(99, isArray)))).status, 200, `place ${index}`);
      }
    }
  });

  test('B12 nothing of one metric or point shows in the next', () => {
    const full = decoded(encodeMetrics(everyKind())).points;
    const bare = { timeUnixNano: nanos(T0), asInt: 1 };
    const metrics = [
      ...(everyKind().resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? []),
      {
        name: 'a',
        unit: 's',
        sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...bare, flags: 3 }, bare] },
      },
      { name: 'b', gauge: { dataPoints: [bare] } },
      { name: 'c', histogram: { aggregationTemporality: 1, dataPoints: [{ timeUnixNano: nanos(T0), count: 0 }] } },
    ];
    const { points } = decoded(encodeMetrics({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }));
    const [flagged, plain, gauge, histogram] = points.slice(full.length);
    assert.deepEqual([flagged?.unit, flagged?.flags, plain?.flags, plain?.attributes.length], ['s', 3, 0, 0]);
    assert.deepEqual([gauge?.unit, gauge?.temporality, gauge?.monotonic, gauge?.start], ['', 0, false, 0n]);
    assert.deepEqual([histogram?.sum, histogram?.counts, histogram?.bounds, histogram?.flags], [null, [], [], 0]);
  });
});
