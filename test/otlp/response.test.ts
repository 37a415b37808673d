import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Refusal, RefusalKind } from '../../src/otlp/consumer.ts';
import {
  encodeExportResponse,
  encodeGrpcMessage,
  encodeStatus,
  jitteredSeconds,
  toGrpcCode,
  toHttpStatus,
  toStatus,
  truncateUtf8,
} from '../../src/otlp/response.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const json = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));
const refusal = (kind: RefusalKind): Refusal => ({ kind, code: 'OTLP_X', message: 'because' });

test('full success leaves partial success unset in both encodings', () => {
  assert.equal(encodeExportResponse('protobuf', { rejectedPoints: 0, message: '' }).length, 0);
  assert.deepEqual(json(encodeExportResponse('json', { rejectedPoints: 0, message: '' })), {});
});

test('rejected points and a warning are told in both encodings', () => {
  // field 1 { field 1: 300, field 2: "no" }
  assert.equal(hex(encodeExportResponse('protobuf', { rejectedPoints: 300, message: 'no' })), '0a0708ac0212026e6f');
  assert.deepEqual(json(encodeExportResponse('json', { rejectedPoints: 300, message: 'no' })), {
    partialSuccess: { rejectedDataPoints: '300', errorMessage: 'no' },
  });
  assert.equal(hex(encodeExportResponse('protobuf', { rejectedPoints: 0, message: 'w' })), '0a03120177');
  assert.deepEqual(json(encodeExportResponse('json', { rejectedPoints: 0, message: 'w' })), {
    partialSuccess: { errorMessage: 'w' },
  });
});

test('each refusal has the status that decides whether a sender tries again', () => {
  const rows = (['malformed', 'unauthenticated', 'too_large', 'unsupported', 'unavailable'] as const).map((kind) => [
    kind,
    toHttpStatus(kind),
    toGrpcCode(kind),
  ]);
  assert.deepEqual(rows, [
    ['malformed', 400, 3],
    ['unauthenticated', 401, 16],
    ['too_large', 413, 8],
    ['unsupported', 415, 3],
    ['unavailable', 503, 14],
  ]);
});

test('a malformed request is told which part is wrong', () => {
  assert.deepEqual(json(encodeStatus('json', toStatus(refusal('malformed'), 9))), {
    code: 3,
    message: 'OTLP_X: because',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'body', description: 'OTLP_X: because' }],
      },
    ],
  });
});

test('only an overloaded receiver sends RetryInfo', () => {
  const type = 'type.googleapis.com/google.rpc.RetryInfo';
  assert.deepEqual(json(encodeStatus('json', toStatus(refusal('unavailable'), 9))), {
    code: 14,
    message: 'OTLP_X: because',
    details: [{ '@type': type, retryDelay: '9s' }],
  });
  for (const kind of ['malformed', 'unauthenticated', 'too_large', 'unsupported'] as const) {
    for (const encoding of ['json', 'protobuf'] as const) {
      const bytes = encodeStatus(encoding, toStatus(refusal(kind), 9));
      assert.ok(!Buffer.from(bytes).toString('latin1').includes(type), kind);
    }
  }
});

test('the protobuf status holds the same as the JSON one', () => {
  const bytes = encodeStatus('protobuf', { code: 14, message: 'm', retryAfterSeconds: 9 });
  const type = Buffer.from('type.googleapis.com/google.rpc.RetryInfo').toString('hex');
  // code 14, message "m", details { type_url, value { retry_delay { seconds: 9 } } }
  assert.equal(hex(bytes), `080e12016d1a300a28${type}12040a020809`);
  assert.equal(hex(encodeStatus('protobuf', { code: 5, message: 'gone' })), '08051204676f6e65');
});

test('a long message is cut to 4 KiB of UTF-8 between characters', () => {
  const message = '€'.repeat(5000);
  const { partialSuccess } = json(encodeExportResponse('json', { rejectedPoints: 1, message })) as {
    partialSuccess: { errorMessage: string };
  };
  assert.ok(Buffer.byteLength(partialSuccess.errorMessage) <= 4096);
  assert.match(partialSuccess.errorMessage, /^€+…$/);
  assert.ok(encodeStatus('protobuf', toStatus({ ...refusal('too_large'), message }, 1)).length < 4200);
});

test('a cut text is a prefix, fits, and is left alone when it fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 3, max: 60 }), (text, maxBytes) => {
      const cut = truncateUtf8(text, maxBytes);
      assert.ok(Buffer.byteLength(cut) <= maxBytes);
      if (Buffer.byteLength(text) <= maxBytes) assert.equal(cut, text);
      else assert.ok(cut.endsWith('…') && text.startsWith(cut.slice(0, -1)));
    }),
  );
});

test('the seconds to wait are whole, at least one, and spread', () => {
  assert.equal(jitteredSeconds(0, 0), 1);
  assert.equal(jitteredSeconds(0.2, 0.999), 2);
  assert.equal(jitteredSeconds(5, 0), 5);
  assert.equal(jitteredSeconds(5, 0.999), 10);
});

test('grpc-message is printable ASCII that decodes to the message', () => {
  assert.equal(encodeGrpcMessage('50% of "é"\n'), '50%25 of "%C3%A9"%0A');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const encoded = encodeGrpcMessage(text);
      assert.match(encoded, /^[\x20-\x7e]*$/);
      assert.equal(decodeURIComponent(encoded), text);
    }),
  );
});
