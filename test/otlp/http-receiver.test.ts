import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import type { MetricsOutcome } from '../../src/otlp/consumer.ts';
import { encodeMetrics } from '../../src/otlp/encode-metrics.ts';
import { createHttpReceiver } from '../../src/otlp/http-receiver.ts';
import { accepted, createRecordingConsumer, everyKind, send, toJsonText } from '../support/otlp-client.ts';
import { startReceiver } from '../support/receivers.ts';

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { ...PROTOBUF, 'content-encoding': 'gzip' };

const start = (context: TestContext, options: Parameters<typeof startReceiver>[2] = {}) =>
  startReceiver(context, createHttpReceiver, options);

const message = (body: Buffer): string => String((JSON.parse(body.toString()) as { message: unknown }).message);

test('protobuf and JSON arrive as sent, with the sender and its identity header', async (context) => {
  const { port, consumer, metrics } = await start(context);
  const protobuf = Buffer.from(encodeMetrics(everyKind()));
  const answer = await send(port, { headers: { ...PROTOBUF, 'x-lb-instance': ' lb-7 ' }, body: protobuf });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/x-protobuf');
  assert.equal(answer.headers['content-length'], '0');
  const json = toJsonText(everyKind());
  const second = await send(port, { headers: JSON_TYPE, body: json });
  assert.equal(second.headers['content-type'], 'application/json');
  assert.equal(second.body.toString(), '{}');
  const [first, other] = consumer.requests;
  assert.ok(first !== undefined && other !== undefined);
  assert.deepEqual(Buffer.from(first.body), protobuf);
  assert.deepEqual(
    [first.transport, first.encoding, first.compression, first.peer, first.identityHeader],
    ['http', 'protobuf', 'none', '127.0.0.1', 'lb-7'],
  );
  assert.equal(Buffer.from(other.body).toString(), json);
  assert.deepEqual([other.encoding, other.identityHeader], ['json', null]);
  assert.deepEqual(metrics.lines, [`http accepted ${protobuf.length}`, `http accepted ${Buffer.byteLength(json)}`]);
});

test('an empty protobuf body is a request like any other', async (context) => {
  const { port, consumer } = await start(context);
  assert.equal((await send(port, { headers: PROTOBUF })).status, 200);
  assert.equal(consumer.requests[0]?.body.length, 0);
});

test('the media type is matched without regard to case and parameters and echoed', async (context) => {
  const { port, consumer } = await start(context);
  const answer = await send(port, { headers: { 'content-type': 'Application/JSON ; charset=utf-8' }, body: '{}' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(consumer.requests[0]?.encoding, 'json');
  const query = await send(port, { path: '/v1/metrics?x=1', headers: PROTOBUF });
  assert.equal(query.status, 200);
});

test('another or no media type is 415 with a status and nothing consumed', async (context) => {
  const { port, consumer, metrics } = await start(context);
  for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/x-protobuf2' }]) {
    const answer = await send(port, { headers, body: '{}' });
    assert.equal(answer.status, 415);
    assert.match(message(answer.body), /^OTLP_UNSUPPORTED_MEDIA_TYPE: /);
  }
  assert.equal(consumer.requests.length, 0);
  assert.deepEqual(metrics.lines, Array(3).fill('http unsupported 0'));
});

test('other methods are 405 with Allow, other paths 404, in the encoding asked', async (context) => {
  const { port, consumer } = await start(context);
  const get = await send(port, { method: 'GET' });
  assert.equal(get.status, 405);
  assert.equal(get.headers.allow, 'POST');
  assert.match(message(get.body), /^OTLP_METHOD_NOT_ALLOWED: /);
  for (const path of ['/', '/v1/metrics/', '/v1/traces', '/V1/metrics']) {
    const answer = await send(port, { path, headers: PROTOBUF, body: 'x' });
    assert.equal(answer.status, 404, path);
    assert.equal(answer.headers['content-type'], 'application/x-protobuf');
    assert.equal(answer.body.subarray(0, 3).toString('hex'), '080512');
  }
  assert.equal(consumer.requests.length, 0);
});

test('gzip is inflated, several members too, and kept as received', async (context) => {
  const { port, consumer, metrics } = await start(context);
  const first = gzipSync('{"resource');
  const wire = Buffer.concat([first, gzipSync('Metrics":[]}')]);
  const headers = { ...JSON_TYPE, 'content-encoding': ' GZIP ' };
  assert.equal((await send(port, { headers, body: wire })).status, 200);
  const [request] = consumer.requests;
  assert.equal(Buffer.from(request?.body ?? []).toString(), '{"resourceMetrics":[]}');
  assert.deepEqual(Buffer.from(request?.received ?? []), wire);
  assert.equal(request?.compression, 'gzip');
  assert.deepEqual(metrics.lines, [`http accepted ${wire.length}`]);
});

test('a body too large to inflate inline gives the same bytes', async (context) => {
  const { port, consumer } = await start(context);
  const body = Buffer.alloc(9 * 1024 * 1024);
  for (let index = 0; index < body.length; index += 4) body.writeUInt32LE(Math.imul(index, 2_654_435_761) >>> 0, index);
  for (const wire of [gzipSync(body), gzipSync(Buffer.alloc(body.length)), gzipSync(body.subarray(0, 300_000))]) {
    assert.equal((await send(port, { headers: GZIP, body: wire })).status, 200);
  }
  assert.ok(Buffer.from(consumer.requests[0]?.body ?? []).equals(body));
  assert.ok(Buffer.from(consumer.requests[1]?.body ?? []).equals(Buffer.alloc(body.length)));
  assert.ok(Buffer.from(consumer.requests[2]?.body ?? []).equals(body.subarray(0, 300_000)));
});

test('a lying size in the last member does not matter', async (context) => {
  const { port, consumer } = await start(context);
  const wire = Buffer.concat([gzipSync(Buffer.alloc(6 * 1024 * 1024)), gzipSync('x')]);
  assert.equal((await send(port, { headers: GZIP, body: wire })).status, 200);
  assert.equal(consumer.requests[0]?.body.length, 6 * 1024 * 1024 + 1);
});

test('truncated gzip, a bad checksum and trailing garbage are 400', async (context) => {
  const { port, consumer, metrics } = await start(context);
  const wire = gzipSync('hello hello hello');
  const badChecksum = Buffer.from(wire);
  badChecksum[badChecksum.length - 6] = (badChecksum.at(-6) ?? 0) ^ 1;
  const large = gzipSync(Buffer.alloc(5_000_000));
  const broken = [
    wire.subarray(0, -9),
    badChecksum,
    Buffer.concat([wire, Buffer.from('xyz')]),
    Buffer.from('{}'),
    Buffer.alloc(0),
    large.subarray(0, -1),
  ];
  for (const body of broken) {
    const answer = await send(port, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body });
    assert.equal(answer.status, 400);
    assert.match(message(answer.body), /^OTLP_MALFORMED: the body is not valid gzip/);
  }
  assert.equal(consumer.requests.length, 0);
  assert.ok(metrics.lines.every((line) => line.startsWith('http malformed ')));
});

test('an unknown content encoding is 415 and says what is accepted', async (context) => {
  const { port } = await start(context);
  for (const encoding of ['deflate', 'br', 'gzip, gzip', 'zstd']) {
    const headers = { ...JSON_TYPE, 'content-encoding': encoding };
    const answer = await send(port, { headers, body: deflateSync('{}') });
    assert.equal(answer.status, 415, encoding);
    assert.equal(answer.headers['accept-encoding'], 'gzip, identity');
    assert.match(message(answer.body), /^OTLP_UNSUPPORTED_ENCODING: /);
  }
  assert.equal(
    (await send(port, { headers: { ...JSON_TYPE, 'content-encoding': 'identity' }, body: '{}' })).status,
    200,
  );
});

test('without one of the tokens nothing is read', async (context) => {
  const tokens = [
    { name: 'a', value: 'first-token' },
    { name: 'b', value: 'second-token' },
  ];
  const { port, consumer, metrics } = await start(context, { tokens });
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer first',
    'Bearer first-token2',
    'Basic first-token',
    'first-token',
  ]) {
    const headers = authorization === undefined ? JSON_TYPE : { ...JSON_TYPE, authorization };
    const answer = await send(port, { headers, body: '{}' });
    assert.equal(answer.status, 401, String(authorization));
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
    assert.match(message(answer.body), /^OTLP_UNAUTHENTICATED: /);
    assert.ok(!answer.body.toString().includes('first'));
  }
  assert.equal(consumer.requests.length, 0);
  assert.ok(metrics.lines.every((line) => line === 'http unauthenticated 0'));
  for (const authorization of ['Bearer first-token', 'bearer second-token']) {
    assert.equal((await send(port, { headers: { ...JSON_TYPE, authorization }, body: '{}' })).status, 200);
  }
});

test('a declared length beyond the limit is 413 before the body is sent', async (context) => {
  const { port, consumer } = await start(context, { limits: { wireBytes: 1000 } });
  const socket = connect(port, '127.0.0.1');
  socket.write(
    'POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1001\r\n\r\n',
  );
  assert.match(await untilQuiet(socket), /^HTTP\/1\.1 413 /);
  socket.destroy();
  assert.equal(consumer.requests.length, 0);
});

test('a sender that is still writing sees the 413 and then the end', async (context) => {
  const { port, consumer, metrics } = await start(context, { limits: { wireBytes: 100_000 } });
  const outgoing = httpRequest({ host: '127.0.0.1', port, method: 'POST', path: '/v1/metrics', headers: JSON_TYPE });
  const answered = once(outgoing, 'response');
  // Chunked and far more than the limit: what follows the answer must not break the connection before it is read.
  for (let sent = 0; sent < 64; sent++) outgoing.write(Buffer.alloc(64 * 1024));
  const [incoming] = (await answered) as [import('node:http').IncomingMessage];
  assert.equal(incoming.statusCode, 413);
  assert.equal(incoming.headers.connection, 'close');
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  outgoing.end();
  await once(incoming, 'end');
  assert.match(message(Buffer.concat(chunks)), /^OTLP_PAYLOAD_TOO_LARGE: .*100000 bytes as received/);
  assert.equal(consumer.requests.length, 0);
  assert.equal(metrics.lines[0]?.startsWith('http too_large '), true);
});

test('the limit itself is allowed, one byte more is not, with and without compression', async (context) => {
  const { port } = await start(context, { limits: { wireBytes: 5000, inflatedBytes: 5000 } });
  const status = async (body: Buffer, headers: Record<string, string> = PROTOBUF) =>
    (await send(port, { headers, body })).status;
  assert.equal(await status(Buffer.alloc(5000)), 200);
  assert.equal(await status(Buffer.alloc(5001)), 413);
  assert.equal(await status(gzipSync(Buffer.alloc(5000)), GZIP), 200);
  assert.equal(await status(gzipSync(Buffer.alloc(5001)), GZIP), 413);
  assert.equal(await status(gzipSync(Buffer.alloc(50_000_000)), GZIP), 413);
});

test('a bomb of 256 MiB is 413 with the default limits', async (context) => {
  const { port, consumer } = await start(context);
  const wire = gzipSync(Buffer.alloc(256 * 1024 * 1024));
  assert.ok(wire.length < 300_000);
  const answer = await send(port, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: wire });
  assert.equal(answer.status, 413);
  assert.match(message(answer.body), /67108864 bytes after decompression/);
  assert.equal(consumer.requests.length, 0);
});

test('bytes in flight are bounded and given back', async (context) => {
  let release = (): void => undefined;
  const held = new Promise<MetricsOutcome>((resolve) => {
    release = () => resolve(accepted());
  });
  const consumer = createRecordingConsumer((request) => (request.body.length === 60_000 ? held : accepted()));
  const { port } = await start(context, { consumer, limits: { inflightBytes: 100_000 } });
  const first = send(port, { headers: PROTOBUF, body: Buffer.alloc(60_000) });
  while (consumer.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const refused = await send(port, { headers: JSON_TYPE, body: ' '.repeat(50_000) });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers['retry-after'], '5');
  assert.match(message(refused.body), /^OTLP_OVERLOADED: /);
  const bomb = await send(port, { headers: GZIP, body: gzipSync(Buffer.alloc(50_000)) });
  assert.equal(bomb.status, 503);
  const chunked = await send(port, {
    headers: { ...PROTOBUF, 'transfer-encoding': 'chunked' },
    body: Buffer.alloc(50_000),
  });
  assert.equal(chunked.status, 503);
  release();
  assert.equal((await first).status, 200);
  assert.equal((await send(port, { headers: PROTOBUF, body: Buffer.alloc(90_000) })).status, 200);
});

test('a partial success and a warning are told with 200', async (context) => {
  const outcomes = [accepted(3, 'no value'), accepted(0, 'mind the gap')];
  const consumer = createRecordingConsumer(() => outcomes.shift() ?? accepted());
  const { port } = await start(context, { consumer });
  const rejected = await send(port, { headers: JSON_TYPE, body: '{}' });
  assert.equal(rejected.status, 200);
  assert.deepEqual(JSON.parse(rejected.body.toString()), {
    partialSuccess: { rejectedDataPoints: '3', errorMessage: 'no value' },
  });
  const warned = await send(port, { headers: JSON_TYPE, body: '{}' });
  assert.deepEqual(JSON.parse(warned.body.toString()), { partialSuccess: { errorMessage: 'mind the gap' } });
});

test('a refusal of the consumer becomes its status, retryable only where it says so', async (context) => {
  const kinds = ['malformed', 'too_large', 'unavailable'] as const;
  const outcomes = kinds.map((kind) => ({
    kind: 'refused' as const,
    refusal: { kind, code: 'OTLP_T', message: kind },
  }));
  const consumer = createRecordingConsumer(() => outcomes.shift() ?? accepted());
  const { port } = await start(context, { consumer });
  const answers = [];
  for (const kind of kinds) {
    const { status, headers, body } = await send(port, { headers: JSON_TYPE, body: '{}' });
    answers.push([kind, status, headers['retry-after'], message(body)]);
  }
  assert.deepEqual(answers, [
    ['malformed', 400, undefined, 'OTLP_T: malformed'],
    ['too_large', 413, undefined, 'OTLP_T: too_large'],
    ['unavailable', 503, '5', 'OTLP_T: unavailable'],
  ]);
});

test('a consumer that throws is 503, reported, and the next request is served', async (context) => {
  const fault = new Error('secret detail');
  let calls = 0;
  const consumer = createRecordingConsumer(() => {
    calls += 1;
    if (calls === 1) throw fault;
    return accepted();
  });
  const { port, metrics, errors } = await start(context, { consumer });
  const answer = await send(port, { headers: JSON_TYPE, body: '{}' });
  assert.equal(answer.status, 503);
  assert.match(message(answer.body), /^OTLP_INTERNAL: /);
  assert.ok(!answer.body.toString().includes('secret'));
  assert.deepEqual(errors, [fault]);
  assert.equal((await send(port, { headers: JSON_TYPE, body: '{}' })).status, 200);
  assert.deepEqual(metrics.lines, ['http unavailable 2', 'http accepted 2']);
});

test('connections are kept alive, also behind an error', async (context) => {
  const { port } = await start(context);
  const socket = connect(port, '127.0.0.1');
  const ask = (type: string) =>
    socket.write(`POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 2\r\n\r\n{}`);
  ask('text/plain');
  assert.match(await untilQuiet(socket), /^HTTP\/1\.1 415 /);
  ask('application/json');
  assert.match(await untilQuiet(socket), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('"Expect: 100-continue" is answered with the refusal instead, or continued', async (context) => {
  const { port, consumer } = await start(context, { tokens: [{ name: 'a', value: 'token' }] });
  const head =
    'POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n';
  const refused = connect(port, '127.0.0.1');
  refused.write(`${head}\r\n`);
  const answer = await untilQuiet(refused);
  assert.match(answer, /^HTTP\/1\.1 401 /);
  assert.match(answer, /connection: close/i);
  refused.destroy();
  const allowed = connect(port, '127.0.0.1');
  allowed.write(`${head}Authorization: Bearer token\r\n\r\n`);
  assert.match(await untilQuiet(allowed), /^HTTP\/1\.1 100 /);
  allowed.write('{}');
  assert.match(await untilQuiet(allowed), /^HTTP\/1\.1 200 /);
  allowed.destroy();
  assert.equal(consumer.requests.length, 1);
});

test('a sender that goes away in the middle leaves nothing behind', async (context) => {
  const { port, consumer, metrics, errors } = await start(context, { limits: { inflightBytes: 1000 } });
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n${' '.repeat(800)}`,
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await send(port, { headers: JSON_TYPE, body: ' '.repeat(900) })).status, 200);
  assert.equal(consumer.requests.length, 1);
  assert.equal(metrics.lines.length, 1);
  assert.deepEqual(errors, []);
});

test('a connection that says nothing is closed without a word, and bytes behind the last request are passed over', async (context) => {
  const { port, consumer, metrics } = await start(context, { limits: { requestTimeoutMs: 50 } });
  const silent = connect(port, '127.0.0.1');
  const heard: Buffer[] = [];
  silent.on('data', (chunk: Buffer) => heard.push(chunk));
  const last = connect(port, '127.0.0.1');
  const answers: Buffer[] = [];
  last.on('data', (chunk: Buffer) => answers.push(chunk));
  const head = 'POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n';
  last.write(`${head}Content-Length: 2\r\n\r\n{}and more`);
  await Promise.all([once(silent, 'close'), once(last, 'close')]);
  assert.equal(heard.length, 0);
  assert.equal(
    Buffer.concat(answers)
      .toString()
      .match(/HTTP\/1\.1 \d+/g)
      ?.join(),
    'HTTP/1.1 200',
  );
  assert.deepEqual([consumer.requests.length, metrics.lines], [1, ['http accepted 2']]);
});

test('closing finishes what is in flight, closes the connection behind it, and refuses new ones', async (context) => {
  let release = (): void => undefined;
  const held = new Promise<MetricsOutcome>((resolve) => {
    release = () => resolve(accepted());
  });
  const { port, receiver, consumer } = await start(context, { consumer: createRecordingConsumer(() => held) });
  const agent = new Agent({ keepAlive: true });
  const idle = connect(port, '127.0.0.1');
  await once(idle, 'connect');
  const answered = new Promise<[number, string | undefined]>((resolve, reject) => {
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/v1/metrics',
      headers: JSON_TYPE,
      agent,
    });
    outgoing.on('response', (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve([incoming.statusCode ?? 0, incoming.headers.connection]));
    });
    outgoing.on('error', reject);
    outgoing.end('{}');
  });
  while (consumer.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = receiver.close();
  assert.equal(receiver.close(), closed);
  await assert.rejects(send(port, { headers: JSON_TYPE, body: '{}' }), { code: 'ECONNREFUSED' });
  release();
  assert.deepEqual(await answered, [200, 'close']);
  idle.destroy();
  await closed;
  agent.destroy();
});

test('closing cuts senders that do not finish within the grace', async (context) => {
  const { port, receiver, consumer } = await start(context, { limits: { closeGraceMs: 50 } });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
  await new Promise((resolve) => setTimeout(resolve, 30));
  await receiver.close();
  if (!socket.closed) await once(socket, 'close');
  assert.equal(consumer.requests.length, 0);
});

test('an address in use is an error of listen', async (context) => {
  const { port } = await start(context);
  const options = {
    consumer: createRecordingConsumer(),
    metrics: { request: () => undefined },
    tokens: [],
    identityHeader: 'x',
  };
  const other = createHttpReceiver(options);
  await assert.rejects(other.listen({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
  await other.close();
});

/** What arrives until the peer pauses: one response here. */
function untilQuiet(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const onData = (chunk: Buffer): void => {
      text += chunk.toString();
      clearTimeout(timer);
      timer = setTimeout(() => {
        socket.off('data', onData);
        resolve(text);
      }, 50);
    };
    socket.on('data', onData);
    socket.once('error', reject);
  });
}
