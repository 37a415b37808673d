import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { MetricsOutcome, RefusalKind } from '../../src/otlp/consumer.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { createGrpcReceiver } from '../../src/otlp/grpc-receiver.ts';
import { createCaller, createRaw, frame, GRPC_HEADERS, GRPC_PATH } from '../support/grpc-client.ts';
import { accepted, createRecordingConsumer, everyKind } from '../support/otlp-client.ts';
import { startReceiver } from '../support/receivers.ts';

const start = (context: TestContext, options: Parameters<typeof startReceiver>[2] = {}) =>
  startReceiver(context, createGrpcReceiver, options);

test('a request arrives as sent, plain and gzip, with the sender and its identity header', async (context) => {
  const { port, consumer, metrics } = await start(context);
  const body = Buffer.from(encodeMetrics(everyKind()));
  const plain = await createCaller(context, port)(body, { 'x-lb-instance': 'lb-9' });
  assert.deepEqual([plain.code, plain.body.length], [0, 0]);
  const gzip = await createCaller(context, port, { gzip: true })(body);
  assert.deepEqual([gzip.code, gzip.body.length], [0, 0]);
  const [first, second] = consumer.requests;
  assert.ok(first !== undefined && second !== undefined);
  for (const request of [first, second]) {
    assert.deepEqual(Buffer.from(request.body), body);
    assert.deepEqual([request.transport, request.encoding, request.peer], ['grpc', 'protobuf', '127.0.0.1']);
  }
  assert.deepEqual([first.compression, first.identityHeader], ['none', 'lb-9']);
  assert.deepEqual([second.compression, second.identityHeader], ['gzip', null]);
  assert.equal(Buffer.from(second.received).subarray(0, 2).toString('hex'), '1f8b');
  assert.deepEqual(metrics.lines, [`grpc accepted ${body.length}`, `grpc accepted ${second.received.length}`]);
});

test('an empty request and one of many frames of HTTP/2 are requests like any other', async (context) => {
  const { port, consumer } = await start(context);
  const call = createCaller(context, port);
  assert.equal((await call(new Uint8Array(0))).code, 0);
  const large = Buffer.alloc(5_000_000, 7);
  assert.equal((await call(large)).code, 0);
  assert.ok(Buffer.from(consumer.requests[1]?.body ?? []).equals(large));
});

test('calls side by side on one connection each get their own answer', async (context) => {
  const consumer = createRecordingConsumer((request) => accepted(request.body[0] ?? 0));
  const { port } = await start(context, { consumer });
  const call = createCaller(context, port);
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => call(Uint8Array.of(index + 1))));
  answers.forEach((answer, index) => {
    assert.deepEqual([...answer.body], [0x0a, 2, 0x08, index + 1]);
  });
});

test('each refusal has its code, and only an overloaded receiver sends RetryInfo', async (context) => {
  const kinds: readonly RefusalKind[] = ['malformed', 'too_large', 'unavailable'];
  const queue = kinds.map((kind) => ({
    kind: 'refused' as const,
    refusal: { kind, code: 'OTLP_T', message: `ä ${kind} 100%` },
  }));
  const { port, metrics } = await start(context, {
    consumer: createRecordingConsumer(() => queue.shift() ?? accepted()),
  });
  const call = createCaller(context, port);
  const rows = [];
  for (const kind of kinds) {
    const { code, message, details } = await call(Uint8Array.of(0));
    const text = details?.toString('latin1') ?? '';
    rows.push([code, message, text.includes('google.rpc.RetryInfo'), text.includes('google.rpc.BadRequest')]);
    assert.equal(details?.[1], code, kind);
  }
  assert.deepEqual(rows, [
    [3, 'OTLP_T: ä malformed 100%', false, true],
    [8, 'OTLP_T: ä too_large 100%', false, false],
    [14, 'OTLP_T: ä unavailable 100%', true, false],
  ]);
  assert.deepEqual(
    metrics.lines,
    kinds.map((kind) => `grpc ${kind} 1`),
  );
});

test('a long message is cut so that headers stay small', async (context) => {
  const refusal = { kind: 'malformed' as const, code: 'OTLP_T', message: 'é'.repeat(10_000) };
  const { port } = await start(context, { consumer: createRecordingConsumer(() => ({ kind: 'refused', refusal })) });
  const { code, message } = await createCaller(context, port)(Uint8Array.of(0));
  assert.equal(code, 3);
  assert.ok(Buffer.byteLength(message) <= 1024 && message.endsWith('…'));
});

test('a consumer that throws is UNAVAILABLE with RetryInfo, and the next call is served', async (context) => {
  let calls = 0;
  const consumer = createRecordingConsumer(() => {
    calls += 1;
    if (calls === 1) throw new Error('secret');
    return accepted();
  });
  const { port, errors } = await start(context, { consumer });
  const call = createCaller(context, port);
  const { code, message, details } = await call(Uint8Array.of(0));
  assert.equal(code, 14);
  assert.match(message, /^OTLP_INTERNAL: (?!.*secret)/);
  assert.ok(details?.toString('latin1').includes('RetryInfo'));
  assert.equal(errors.length, 1);
  assert.equal((await call(Uint8Array.of(0))).code, 0);
});

test('without one of the tokens a call is UNAUTHENTICATED and nothing is consumed', async (context) => {
  const { port, consumer, metrics } = await start(context, { tokens: [{ name: 'a', value: 'token-1' }] });
  const call = createCaller(context, port);
  for (const headers of [{}, { authorization: 'Bearer token-2' }, { authorization: 'token-1' }]) {
    const { code, message } = await call(Buffer.alloc(100_000), headers);
    assert.equal(code, 16);
    assert.match(message, /^OTLP_UNAUTHENTICATED: /);
  }
  assert.equal(consumer.requests.length, 0);
  assert.deepEqual(metrics.lines, Array(3).fill('grpc unauthenticated 0'));
  assert.equal((await call(Uint8Array.of(0), { authorization: 'Bearer token-1' })).code, 0);
});

test('other methods and services are UNIMPLEMENTED', async (context) => {
  const { port, consumer } = await start(context);
  const call = createCaller(context, port);
  for (const path of ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', `${GRPC_PATH}2`, '/x/y']) {
    assert.equal((await call(Uint8Array.of(0), {}, path)).code, 12, path);
  }
  assert.equal(consumer.requests.length, 0);
});

test('an unknown compression is UNIMPLEMENTED and says what is accepted', async (context) => {
  const { port } = await start(context);
  const { call } = createRaw(context, port);
  const { headers } = await call({ 'grpc-encoding': 'deflate' }, frame(Uint8Array.of(0), 1));
  assert.equal(headers['grpc-status'], '12');
  assert.equal(headers['grpc-accept-encoding'], 'identity,gzip');
});

test('messages beyond the limits are RESOURCE_EXHAUSTED, as received and inflated', async (context) => {
  const { port, consumer } = await start(context, { limits: { wireBytes: 5000, inflatedBytes: 6000 } });
  const plain = createCaller(context, port);
  const gzip = createCaller(context, port, { gzip: true });
  assert.equal((await plain(Buffer.alloc(5000))).code, 0);
  for (const size of [5001, 3_000_000]) {
    const { code, message, details } = await plain(Buffer.alloc(size));
    assert.equal(code, 8);
    assert.match(message, /^OTLP_PAYLOAD_TOO_LARGE: .* as received/);
    assert.ok(!details?.toString('latin1').includes('RetryInfo'));
  }
  assert.equal((await gzip(Buffer.alloc(6000))).code, 0);
  for (const size of [6001, 50_000_000]) {
    const { code, message } = await gzip(Buffer.alloc(size));
    assert.equal(code, 8);
    assert.match(message, size === 6001 ? /after decompression/ : /^OTLP_PAYLOAD_TOO_LARGE/);
  }
  assert.equal(consumer.requests.length, 2);
});

test('the default limit is 64 MiB', async (context) => {
  const { port, consumer } = await start(context);
  const gzip = createCaller(context, port, { gzip: true });
  assert.equal((await gzip(Buffer.alloc(64 * 1024 * 1024))).code, 0);
  assert.equal((await gzip(Buffer.alloc(64 * 1024 * 1024 + 1))).code, 8);
  const plain = createCaller(context, port);
  assert.equal((await plain(Buffer.alloc(65 * 1024 * 1024))).code, 8);
  assert.equal(consumer.requests.length, 1);
});

test('frames that are wrong are INVALID_ARGUMENT', async (context) => {
  const { port, consumer } = await start(context);
  const { call } = createRaw(context, port);
  const gzip = { 'grpc-encoding': 'gzip' };
  const wire = gzipSync('hello');
  const rows: readonly [string, OutgoingHttpHeaders, Uint8Array][] = [
    ['no message', {}, new Uint8Array(0)],
    ['half a header', {}, Uint8Array.of(0, 0, 0)],
    ['cut off', {}, frame(Uint8Array.of(1, 2), 0, 3)],
    ['two messages', {}, Buffer.concat([frame(Uint8Array.of(1)), frame(Uint8Array.of(2))])],
    ['unknown flag', {}, frame(Uint8Array.of(1), 2)],
    ['compressed without saying how', {}, frame(wire, 1)],
    ['not gzip', gzip, frame(Uint8Array.of(1, 2, 3), 1)],
    ['truncated gzip', gzip, frame(wire.subarray(0, -1), 1)],
  ];
  for (const [name, headers, body] of rows) {
    const answer = await call(headers, body);
    assert.equal(answer.headers['grpc-status'], '3', name);
    assert.match(String(answer.headers['grpc-message']), /^OTLP_MALFORMED: /);
  }
  assert.equal(consumer.requests.length, 0);
});

test('a plain message under grpc-encoding gzip is taken as it is', async (context) => {
  const { port, consumer } = await start(context);
  const { call } = createRaw(context, port);
  const { headers, trailers, body } = await call(
    { 'grpc-encoding': 'gzip', 'content-type': 'application/grpc+proto' },
    frame(Uint8Array.of(9)),
  );
  assert.equal(headers[':status'], 200);
  assert.equal(trailers['grpc-status'], '0');
  assert.deepEqual([...body], [0, 0, 0, 0, 0]);
  assert.deepEqual([...(consumer.requests[0]?.body ?? [])], [9]);
});

test('what is not gRPC is refused by its HTTP status', async (context) => {
  const { port } = await start(context);
  const { call } = createRaw(context, port);
  for (const type of ['application/json', 'application/grpc-web', 'application/grpc+json', '']) {
    assert.equal((await call({ 'content-type': type }, frame(Uint8Array.of(9)))).headers[':status'], 415, type);
  }
  assert.equal((await call({ ':method': 'PUT' }, frame(Uint8Array.of(9)))).headers[':status'], 405);
});

test('HTTP/1 and noise on the port end their connection and nothing else', async (context) => {
  const { port, errors } = await start(context);
  for (const noise of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\u0000\u0001\u0002'.repeat(100)]) {
    const socket = connectTcp(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(noise);
    await once(socket, 'close');
  }
  assert.equal((await createCaller(context, port)(Uint8Array.of(0))).code, 0);
  assert.deepEqual(errors, []);
});

test('bytes in flight are bounded and given back', async (context) => {
  let release = (): void => undefined;
  const held = new Promise<MetricsOutcome>((resolve) => {
    release = () => resolve(accepted());
  });
  const consumer = createRecordingConsumer((request) => (request.body[0] === 1 ? held : accepted()));
  const { port } = await start(context, { consumer, limits: { inflightBytes: 100_000 } });
  const call = createCaller(context, port);
  const first = call(Buffer.alloc(60_000, 1));
  while (consumer.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const { code, message, details } = await call(Buffer.alloc(60_000));
  assert.equal(code, 14);
  assert.match(message, /^OTLP_OVERLOADED: /);
  assert.ok(details?.toString('latin1').includes('RetryInfo'));
  release();
  assert.equal((await first).code, 0);
  assert.equal((await call(Buffer.alloc(90_000))).code, 0);
});

test('a call that is cancelled in the middle leaves nothing behind', async (context) => {
  const { port, consumer, errors } = await start(context, { limits: { inflightBytes: 1000 } });
  const { session } = createRaw(context, port);
  const stream = session.request(GRPC_HEADERS);
  stream.on('error', () => undefined);
  stream.write(frame(Buffer.alloc(700), 0, 900));
  await new Promise((resolve) => setTimeout(resolve, 50));
  stream.close(8);
  await once(stream, 'close');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await createCaller(context, port)(Buffer.alloc(900))).code, 0);
  assert.equal(consumer.requests.length, 1);
  assert.deepEqual(errors, []);
});

test('a call that does not finish in time is cut', async (context) => {
  const { port, consumer } = await start(context, { limits: { requestTimeoutMs: 50 } });
  const { session } = createRaw(context, port);
  const stream = session.request(GRPC_HEADERS);
  stream.on('error', () => undefined);
  stream.write(frame(Buffer.alloc(1), 0, 900));
  await once(stream, 'close');
  assert.equal(stream.rstCode, 8);
  assert.equal(consumer.requests.length, 0);
});

test('closing finishes calls in flight and refuses new connections', async (context) => {
  let release = (): void => undefined;
  const held = new Promise<MetricsOutcome>((resolve) => {
    release = () => resolve(accepted());
  });
  const { port, receiver, consumer } = await start(context, { consumer: createRecordingConsumer(() => held) });
  const call = createCaller(context, port);
  const first = call(Uint8Array.of(1));
  while (consumer.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = receiver.close();
  assert.equal(receiver.close(), closed);
  const late = connectTcp(port, '127.0.0.1');
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ECONNREFUSED');
  release();
  assert.equal((await first).code, 0);
  await closed;
});

test('closing cuts calls that do not finish within the grace', async (context) => {
  const { port, receiver } = await start(context, { limits: { closeGraceMs: 50 } });
  const { session } = createRaw(context, port);
  const stream = session.request(GRPC_HEADERS);
  stream.on('error', () => undefined);
  stream.write(frame(Buffer.alloc(1), 0, 900));
  await new Promise((resolve) => setTimeout(resolve, 30));
  await receiver.close();
  if (!stream.closed) await once(stream, 'close');
});
