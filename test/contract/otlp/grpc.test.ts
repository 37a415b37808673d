import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../src/base/app-error.ts';
import type { RefusalKind } from '../../../src/otlp/consumer.ts';
import { encodeMetrics } from '../../../src/otlp/encode-metrics.ts';
import { createGrpcReceiver } from '../../../src/otlp/grpc-receiver.ts';
import { createHttpReceiver } from '../../../src/otlp/http-receiver.ts';
import { toGrpcCode, toHttpStatus } from '../../../src/otlp/response.ts';
import { type CallAnswer, createCaller, createRaw, frame, GRPC_HEADERS, GRPC_PATH } from '../../support/grpc-client.ts';
import { accepted, createRecordingConsumer, send } from '../../support/otlp-client.ts';
import { toTree } from '../../support/otlp-messages.ts';
import { startStack } from '../../support/otlp-stack.ts';
import { startReceiver } from '../../support/receivers.ts';
import { amounts, cumulative, requestOf } from '../../support/recording-ingest.ts';

const T0 = 1_800_000_000_000;
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;
const KINDS: readonly RefusalKind[] = ['malformed', 'unauthenticated', 'too_large', 'unsupported', 'unavailable'];

const body = encodeMetrics(requestOf([cumulative('m', T0, 5, T0 - 10_000)]));

const receiver = (context: TestContext, options: Parameters<typeof startReceiver>[2] = {}) =>
  startReceiver(context, createGrpcReceiver, options);

/** Types of the details in grpc-status-details-bin, whose code must be that of the call. */
function detailsOf({ code, details }: CallAnswer): string[] {
  const status = toTree('Status', details ?? Buffer.alloc(0)) as { code: number; details?: { typeUrl: string }[] };
  assert.equal(status.code, code);
  return (status.details ?? []).map(({ typeUrl }) => typeUrl.replace('type.googleapis.com/google.rpc.', ''));
}

describe('OTLP over gRPC', () => {
  test('G1 MetricsService/Export is a unary call, gzip messages included', async (context) => {
    assert.equal(GRPC_PATH, '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export');
    for (const gzip of [false, true]) {
      const { grpcPort, counted, logged } = await startStack(context);
      const answer = await createCaller(context, grpcPort, { gzip })(body);
      assert.deepEqual([answer.code, answer.body.length, amounts(counted)], [0, 0, [5]]);
      assert.equal(logged[0]?.compression, gzip ? 'gzip' : 'none');
    }
  });

  test('G2 only what is worth a retry has a retryable code', async (context) => {
    const retryable = [1, 4, 10, 11, UNAVAILABLE, 15];
    for (const kind of KINDS) {
      assert.equal(retryable.includes(toGrpcCode(kind)), kind === 'unavailable', kind);
      const refusal = { kind, code: 'OTLP_X', message: 'x', retryAfterSeconds: 2 };
      const { port } = await receiver(context, {
        consumer: createRecordingConsumer(() => ({ kind: 'refused', refusal })),
      });
      const answer = await createCaller(context, port)(body);
      const hasRetryInfo = detailsOf(answer).includes('RetryInfo');
      const isRetried = retryable.includes(answer.code) || (answer.code === RESOURCE_EXHAUSTED && hasRetryInfo);
      assert.equal(isRetried, kind === 'unavailable', kind);
    }
    const { port } = await receiver(context, { limits: { requestTimeoutMs: 50 } });
    const stream = createRaw(context, port).session.request(GRPC_HEADERS);
    stream.on('error', () => undefined);
    stream.write(frame(Buffer.alloc(1), 0, 900));
    await once(stream, 'close');
    assert.equal(stream.rstCode, 8, 'a call that is too slow is CANCELLED');
  });

  test('G3 backpressure is UNAVAILABLE with RetryInfo', async (context) => {
    const { port } = await receiver(context, { limits: { inflightBytes: 10 } });
    const overloaded = await createCaller(context, port)(Buffer.alloc(20));
    assert.deepEqual([overloaded.code, detailsOf(overloaded)], [UNAVAILABLE, ['RetryInfo']]);
    const unwritable = new AppError('STORE_UNWRITABLE', 'the disk is full', { retryable: true });
    const full = await startStack(context, { refuse: () => unwritable });
    const refused = await createCaller(context, full.grpcPort)(body);
    assert.deepEqual([refused.code, detailsOf(refused), full.counted.length], [UNAVAILABLE, ['RetryInfo'], 0]);
  });

  test('G4 bad data is INVALID_ARGUMENT with BadRequest', async (context) => {
    const { grpcPort, logged, ingest } = await startStack(context);
    const call = createCaller(context, grpcPort);
    for (const bad of [body.subarray(0, -1), Uint8Array.of(0xff), Uint8Array.of(0x0b)]) {
      const answer = await call(bad);
      assert.deepEqual([answer.code, detailsOf(answer)], [INVALID_ARGUMENT, ['BadRequest']]);
      assert.match(answer.message, /^OTLP_MALFORMED: /);
    }
    assert.deepEqual([logged.length, ingest.seriesCount()], [0, 0]);
  });

  test('G5 a call without a good token is UNAUTHENTICATED', async (context) => {
    const { grpcPort, counted } = await startStack(context, { receivers: { tokens: [{ name: 'a', value: 'good' }] } });
    const call = createCaller(context, grpcPort);
    for (const headers of [{}, { authorization: 'Bearer bad' }])
      assert.equal((await call(body, headers)).code, UNAUTHENTICATED);
    assert.deepEqual(counted, []);
    assert.equal((await call(body, { authorization: 'Bearer good' })).code, 0);
    assert.deepEqual(amounts(counted), [5]);
  });

  test('G6 too large, as received or inflated, is RESOURCE_EXHAUSTED without RetryInfo', async (context) => {
    const { port, consumer } = await receiver(context, { limits: { wireBytes: 1000, inflatedBytes: 2000 } });
    const plain = await createCaller(context, port)(Buffer.alloc(1001));
    const bomb = await createCaller(context, port, { gzip: true })(Buffer.alloc(2001));
    for (const answer of [plain, bomb]) {
      assert.deepEqual([answer.code, detailsOf(answer)], [RESOURCE_EXHAUSTED, []]);
      assert.match(answer.message, /^OTLP_PAYLOAD_TOO_LARGE/);
    }
    assert.equal(consumer.requests.length, 0);
    const usual = await receiver(context);
    const five = await createCaller(context, usual.port)(Buffer.alloc(5 * 1024 * 1024));
    assert.equal(five.code, 0, 'more than the 4 MiB that most stacks stop at');
  });

  test('G7 a failure has the same class over HTTP and gRPC', async (context) => {
    const httpRetried = [429, 502, 503, 504];
    for (const kind of KINDS) {
      assert.equal(httpRetried.includes(toHttpStatus(kind)), toGrpcCode(kind) === UNAVAILABLE, kind);
    }
    const limits = { wireBytes: 2000, inflatedBytes: 1000, inflightBytes: 5000 };
    const tokens = [{ name: 'a', value: 'good' }];
    const consumer = () =>
      createRecordingConsumer(({ body: [first] }) => {
        if (first === 1) throw new Error('a bug');
        return first === 2
          ? { kind: 'refused', refusal: { kind: 'malformed', code: 'OTLP_X', message: 'x' } }
          : accepted();
      });
    const http = await startReceiver(context, createHttpReceiver, { limits, tokens, consumer: consumer() });
    const grpc = await receiver(context, { limits, tokens, consumer: consumer() });
    const { call } = createRaw(context, grpc.port);
    const good = { authorization: 'Bearer good' };
    const bomb = gzipSync(Buffer.alloc(100_000));
    const rows: readonly [string, Uint8Array, Record<string, string>, number, number][] = [
      ['no token', Uint8Array.of(0), {}, 401, UNAUTHENTICATED],
      ['bad data', Uint8Array.of(2), good, 400, INVALID_ARGUMENT],
      ['too large', Buffer.alloc(2001), good, 413, RESOURCE_EXHAUSTED],
      ['a bomb', bomb, { ...good, encoding: 'gzip' }, 413, RESOURCE_EXHAUSTED],
      ['a fault of ours', Uint8Array.of(1), good, 503, UNAVAILABLE],
      ['not gzip', Uint8Array.of(7), { ...good, encoding: 'gzip' }, 400, INVALID_ARGUMENT],
    ];
    for (const [what, message, { encoding, ...headers }, status, code] of rows) {
      const httpHeaders = { 'content-type': 'application/x-protobuf', ...headers };
      const compressed = encoding === undefined ? {} : { 'content-encoding': encoding };
      const answer = await send(http.port, { headers: { ...httpHeaders, ...compressed }, body: message });
      const flags = encoding === undefined ? {} : { 'grpc-encoding': encoding };
      const called = await call({ ...headers, ...flags }, frame(message, encoding === undefined ? 0 : 1));
      assert.deepEqual([answer.status, called.headers['grpc-status']], [status, String(code)], what);
    }
  });

  test('G7 a fault behind the answer leaves both kinds of sender with a reason to try again', async (context) => {
    const metrics = {
      lines: [],
      request: () => {
        throw new Error('a bug');
      },
    };
    const consumer = createRecordingConsumer();
    const options = { consumer, metrics, tokens: [], identityHeader: 'x' };
    const [http, grpc] = [createHttpReceiver(options), createGrpcReceiver(options)];
    context.after(() => Promise.all([http.close(), grpc.close()]));
    const address = { host: '127.0.0.1', port: 0 };
    const { port } = await http.listen(address);
    await assert.rejects(send(port, { headers: { 'content-type': 'application/json' }, body: '{}' }), {
      code: 'ECONNRESET',
    });
    const call = createCaller(context, (await grpc.listen(address)).port);
    assert.equal((await call(body)).code, 1, 'CANCELLED');
  });
});
