import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { type MetricsPayload, toAttributes } from '../../src/otlp/metrics-payload.ts';
import { encodeExportResponse, encodeStatus } from '../../src/otlp/response.ts';
import { WIRE_VARINT, WireWriter, zigzag32 } from '../../src/otlp/wire-writer.ts';
import { everyKind, toJsonText } from '../support/otlp-client.ts';
import { messageType, reencode, toTree } from '../support/otlp-messages.ts';
import { payloads } from '../support/otlp-payloads.ts';

const REQUEST = 'ExportMetricsServiceRequest';

/** The payload as protobufjs gives it back: from its own JSON form, through its own encoder and decoder. */
function expectedTree(payload: MetricsPayload): unknown {
  const type = messageType(REQUEST);
  return toTree(REQUEST, type.encode(type.fromObject(JSON.parse(toJsonText(payload)))).finish());
}

test('every kind of metric reads in protobufjs as it was given', () => {
  assert.deepEqual(toTree(REQUEST, encodeMetrics(everyKind())), expectedTree(everyKind()));
});

test('any request reads in protobufjs as it was given, and has the very bytes that it would write', () => {
  fc.assert(
    fc.property(payloads, (payload) => {
      const bytes = encodeMetrics(payload);
      assert.deepEqual(toTree(REQUEST, bytes), expectedTree(payload));
      assert.deepEqual(reencode(REQUEST, bytes), Buffer.from(bytes));
    }),
    { numRuns: 300 },
  );
});

test('64-bit values are the same as bigint, number and decimal text', () => {
  const withInt = (value: bigint | number | string): Uint8Array =>
    encodeMetrics({
      resourceMetrics: [
        {
          resource: { attributes: [{ key: 'k', value: { intValue: value } }] },
          scopeMetrics: [{ metrics: [{ name: 'g', gauge: { dataPoints: [{ timeUnixNano: 1n, asInt: value }] } }] }],
        },
      ],
    });
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      assert.deepEqual(withInt(value), withInt(BigInt(value)));
      assert.deepEqual(withInt(value), withInt(String(value)));
    }),
  );
  assert.throws(() => withInt(2 ** 53), RangeError);
  assert.throws(() => withInt(0.5), RangeError);
});

test('plain records become attributes of the kind that they hold', () => {
  assert.deepEqual(toAttributes({ s: 'x', i: 5, d: 0.5, b: false, l: 7n }), [
    { key: 's', value: { stringValue: 'x' } },
    { key: 'i', value: { intValue: 5 } },
    { key: 'd', value: { doubleValue: 0.5 } },
    { key: 'b', value: { boolValue: false } },
    { key: 'l', value: { intValue: 7n } },
  ]);
});

test('nested messages of any length get the right length in front', () => {
  for (const size of [0, 1, 125, 126, 127, 128, 129, 16_383, 16_384, 16_385, 2_097_151, 2_097_152]) {
    const writer = new WireWriter(1);
    const outer = writer.begin();
    writer.stringField(1, 'x'.repeat(size));
    writer.end(outer);
    writer.byte(0x7f);
    const tree = messageType('KeyValue').decodeDelimited(writer.finish().subarray(0, -1)).toJSON();
    assert.equal(String(tree['key'] ?? '').length, size);
    assert.equal(writer.finish().at(-1), 0x7f);
  }
});

test('varints of any size read back', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      const writer = new WireWriter(1);
      writer.tag(3, WIRE_VARINT);
      writer.varint(value);
      assert.equal(messageType('AnyValue').decode(writer.finish()).toJSON()['intValue'], String(value));
    }),
  );
});

test('signed numbers are folded so that small ones stay short', () => {
  assert.deepEqual(
    [0, -1, 1, -2, 2_147_483_647, -2_147_483_648].map(zigzag32),
    [0, 1, 2, 3, 4_294_967_294, 4_294_967_295],
  );
});

test('text is UTF-8, and half of a surrogate pair becomes the replacement character', () => {
  const writer = new WireWriter(1);
  writer.text('aé€𝄞');
  writer.text('\ud834');
  assert.equal(new TextDecoder().decode(writer.finish()), 'aé€𝄞\ufffd');
});

test('answers read in protobufjs as they were given', () => {
  const response = encodeExportResponse('protobuf', { rejectedPoints: 300, message: 'né' });
  assert.deepEqual(toTree('ExportMetricsServiceResponse', response), {
    partialSuccess: { rejectedDataPoints: '300', errorMessage: 'né' },
  });
  const status = encodeStatus('protobuf', { code: 14, message: 'm', retryAfterSeconds: 9, badField: 'body' });
  const { details, ...rest } = toTree('Status', status) as { details: { typeUrl: string; value: string }[] };
  assert.deepEqual(rest, { code: 14, message: 'm' });
  const read = details.map(({ typeUrl, value }) => {
    const type = typeUrl.replace('type.googleapis.com/google.rpc.', '');
    return [type, toTree(type, Buffer.from(value, 'base64'))];
  });
  assert.deepEqual(read, [
    ['BadRequest', { fieldViolations: [{ field: 'body', description: 'm' }] }],
    ['RetryInfo', { retryDelay: { seconds: '9' } }],
  ]);
});
