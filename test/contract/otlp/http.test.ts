import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../src/base/app-error.ts';
import { epochMs } from '../../../src/base/units.ts';
import { DEFAULT_LISTEN, DEFAULT_OTLP } from '../../../src/config/resolve-service.ts';
import { encodeMetrics } from '../../../src/otlp/encode-metrics.ts';
import { createHttpReceiver } from '../../../src/otlp/http-receiver.ts';
import { toHttpStatus } from '../../../src/otlp/response.ts';
import { accepted, createRecordingConsumer, type HttpAnswer, send, toJsonText } from '../../support/otlp-client.ts';
import { toTree } from '../../support/otlp-messages.ts';
import { startStack } from '../../support/otlp-stack.ts';
import { startReceiver } from '../../support/receivers.ts';
import { amounts, cumulative, requestOf } from '../../support/recording-ingest.ts';
import { bytesField, concat } from '../../support/wire-bytes.ts';

const T0 = 1_800_000_000_000;
const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };
const ENCODINGS = [PROTOBUF, JSON_TYPE];

const push = (value: number, at = T0) => requestOf([cumulative('m', at, value, T0 - 10_000)]);
const bodyOf = (headers: Readonly<Record<string, string>>, value: number, at = T0): Uint8Array | string =>
  headers === PROTOBUF ? encodeMetrics(push(value, at)) : toJsonText(push(value, at));

/** The google.rpc.Status of an error answer, whichever encoding it came in; fails where it is none. */
function statusOf({ headers, body }: HttpAnswer): { code: number; message: string; details: string[] } {
  if (headers['content-type'] === 'application/json') {
    const { code, message, details = [] } = JSON.parse(body.toString());
    return { code, message, details: details.map((detail: Record<string, string>) => detail['@type']) };
  }
  assert.equal(headers['content-type'], 'application/x-protobuf');
  const status = toTree('Status', body) as { code: number; message: string; details?: { typeUrl: string }[] };
  return { ...status, details: (status.details ?? []).map(({ typeUrl }) => typeUrl) };
}

const receiver = (context: TestContext, options: Parameters<typeof startReceiver>[2] = {}) =>
  startReceiver(context, createHttpReceiver, options);

/** One response from a socket that is spoken to by hand. */
async function rawAnswer(port: number, head: string): Promise<HttpAnswer & { raw: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(head);
  await once(socket, 'close');
  const raw = Buffer.concat(chunks).toString();
  const [top = '', body = ''] = raw.split('\r\n\r\n');
  const headers = Object.fromEntries(
    top
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(': '))
      .map(([name = '', value]) => [name.toLowerCase(), value]),
  );
  return { status: Number(top.split(' ')[1]), headers, body: Buffer.from(body), raw };
}

describe('OTLP over HTTP', () => {
  test('H1 POST /v1/metrics on 4318 and 4317 by default, path configurable', async (context) => {
    assert.deepEqual([DEFAULT_LISTEN.otlpHttp.port, DEFAULT_LISTEN.otlpGrpc.port], [4318, 4317]);
    assert.equal(DEFAULT_OTLP.path, '/v1/metrics');
    const usual = await startStack(context);
    assert.equal((await send(usual.httpPort, { headers: PROTOBUF, body: bodyOf(PROTOBUF, 5) })).status, 200);
    assert.deepEqual(amounts(usual.counted), [5]);
    const other = await startStack(context, { receivers: { path: '/in/otlp' } });
    assert.equal((await send(other.httpPort, { path: '/in/otlp', headers: PROTOBUF })).status, 200);
    const missed = await send(other.httpPort, { headers: PROTOBUF });
    assert.equal(missed.status, 404);
    assert.match(statusOf(missed).message, /only \/in\/otlp is served/);
  });

  test('H2 protobuf and JSON on one port, told apart by Content-Type', async (context) => {
    const { httpPort, counted, clock } = await startStack(context);
    for (const [index, headers] of ENCODINGS.entries()) {
      const at = T0 + index * 10_000;
      clock.advanceTo(epochMs(at));
      assert.equal((await send(httpPort, { headers, body: bodyOf(headers, 5 + index, at) })).status, 200);
    }
    assert.deepEqual(amounts(counted), [5, 1]);
    const wrong = await send(httpPort, { headers: JSON_TYPE, body: bodyOf(PROTOBUF, 9) });
    assert.equal(wrong.status, 400);
  });

  test('H3 the content type matches without parameters and case', async (context) => {
    const { httpPort, counted } = await startStack(context);
    for (const type of [
      'Application/JSON; charset=utf-8',
      'application/json;charset=UTF-8',
      'APPLICATION/JSON ; a=b',
    ]) {
      const answer = await send(httpPort, { headers: { 'content-type': type }, body: bodyOf(JSON_TYPE, 5) });
      assert.deepEqual(
        [answer.status, answer.headers['content-type'], answer.body.toString()],
        [200, 'application/json', '{}'],
      );
    }
    const headers = { 'content-type': 'application/X-Protobuf; messageType="x"' };
    assert.equal((await send(httpPort, { headers, body: bodyOf(PROTOBUF, 5) })).status, 200);
    assert.deepEqual(amounts(counted), [5]);
  });

  test('H4 another content type or none is 415 and nothing is decoded, another method is 405', async (context) => {
    const { httpPort, logged, ingest } = await startStack(context);
    for (const type of [undefined, '', 'text/plain', 'application/octet-stream', 'multipart/form-data; boundary=x']) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const answer = await send(httpPort, { headers, body: bodyOf(JSON_TYPE, 5) });
      assert.equal(answer.status, 415, String(type));
      assert.match(statusOf(answer).message, /^OTLP_UNSUPPORTED_MEDIA_TYPE/);
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const answer = await send(httpPort, { method, headers: JSON_TYPE, body: '' });
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'], method);
    }
    assert.deepEqual([logged.length, ingest.counters().size], [0, 0]);
  });

  test('H5 the answer has the content type of the request, on success and on every error', async (context) => {
    const consumer = createRecordingConsumer(({ body }) =>
      body.length < 3
        ? accepted()
        : {
            kind: 'refused',
            refusal: { kind: body.length < 4 ? 'malformed' : 'unavailable', code: 'OTLP_X', message: 'x' },
          },
    );
    const tokens = [{ name: 'a', value: 'secret' }];
    const { port } = await receiver(context, { consumer, tokens, limits: { wireBytes: 10 } });
    for (const type of ['application/x-protobuf', 'application/json']) {
      const headers = { 'content-type': type, authorization: 'Bearer secret' };
      const cases: readonly [number, Parameters<typeof send>[1]][] = [
        [200, { headers, body: '{}' }],
        [400, { headers, body: '{,}' }],
        [503, { headers, body: '{...}' }],
        [401, { headers: { 'content-type': type }, body: '{}' }],
        [404, { headers, path: '/v1/traces', body: '{}' }],
        [405, { headers, method: 'PUT', body: '{}' }],
        [413, { headers, body: ' '.repeat(11) }],
        [415, { headers: { ...headers, 'content-encoding': 'br' }, body: '{}' }],
      ];
      for (const [status, request] of cases) {
        const answer = await send(port, request);
        assert.deepEqual([answer.status, answer.headers['content-type']], [status, type]);
      }
    }
  });

  test('H6 success is 200 with an empty response: no bytes in protobuf, {} in JSON', async (context) => {
    const { httpPort } = await startStack(context);
    const protobuf = await send(httpPort, { headers: PROTOBUF, body: bodyOf(PROTOBUF, 5) });
    assert.deepEqual([protobuf.status, protobuf.headers['content-length'], protobuf.body.length], [200, '0', 0]);
    const json = await send(httpPort, { headers: JSON_TYPE, body: bodyOf(JSON_TYPE, 5) });
    assert.deepEqual([json.status, json.body.toString()], [200, '{}']);
  });

  test('H7 an empty request is 200: no bytes, {}, and empty envelopes at every level', async (context) => {
    const { httpPort, logged } = await startStack(context);
    const empty = new Uint8Array(0);
    const envelopes = [empty, bytesField(1, empty), bytesField(1, bytesField(2, empty))];
    const metric = bytesField(1, bytesField(2, bytesField(2, empty)));
    const data = bytesField(1, bytesField(2, bytesField(2, bytesField(7, empty))));
    for (const body of [...envelopes, metric, data, concat(metric, data, bytesField(1, bytesField(1, empty)))]) {
      const answer = await send(httpPort, { headers: PROTOBUF, body });
      assert.deepEqual([answer.status, answer.body.length], [200, 0]);
    }
    for (const body of [
      '{}',
      '{"resourceMetrics":[]}',
      '{"resourceMetrics":[{}]}',
      '{"resourceMetrics":[{"resource":{},"scopeMetrics":[{"scope":{},"metrics":[{}]}]}]}',
      '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"dataPoints":[]}}]}]}]}',
    ]) {
      const answer = await send(httpPort, { headers: JSON_TYPE, body });
      assert.deepEqual([answer.status, answer.body.toString()], [200, '{}'], body);
    }
    assert.equal(logged.length, 0);
  });

  test('H8 every error has a google.rpc.Status with a message, also those that never reach the receiver', async (context) => {
    const { port } = await receiver(context, { limits: { wireBytes: 100 } });
    const post = 'POST /v1/metrics HTTP/1.1\r\n';
    const host = 'Host: x\r\nContent-Type: application/json\r\n';
    const rows: readonly [number, string, number, RegExp][] = [
      [400, 'nonsense\r\n\r\n', 3, /^OTLP_BAD_HTTP: /],
      [400, `${post}Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`, 3, /Host/],
      [400, `${post}${host}Content-Length: x\r\n\r\n`, 3, /^OTLP_BAD_HTTP: /],
      [431, `${post}${host}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 8, /^OTLP_HEADERS_TOO_LARGE: /],
      [
        413,
        `${post}${host}Content-Length: 101\r\nConnection: close\r\n\r\n${' '.repeat(101)}`,
        8,
        /^OTLP_PAYLOAD_TOO_LARGE/,
      ],
    ];
    for (const [status, head, code, message] of rows) {
      const answer = await rawAnswer(port, head);
      const found = statusOf(answer);
      assert.deepEqual([answer.status, found.code], [status, code], answer.raw);
      assert.match(found.message, message);
    }
    const expecting = await rawAnswer(
      port,
      `${post}${host}Expect: more\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    assert.equal(expecting.status, 200, 'an expectation that HTTP does not know is ignored');
  });

  test('H9 gzip and identity work, several members too; other encodings are 415, broken gzip is 400', async (context) => {
    const { httpPort, counted, clock } = await startStack(context);
    const bodies = [1, 2, 3, 4].map((value, index) => encodeMetrics(push(value, T0 + index * 10_000)));
    const [plain, gzip, members, x] = bodies as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
    const cut = 20;
    const wires: readonly [string | undefined, Uint8Array][] = [
      ['identity', plain],
      ['gzip', gzipSync(gzip)],
      ['gzip', Buffer.concat([gzipSync(members.subarray(0, cut)), gzipSync(members.subarray(cut))])],
      ['x-gzip', gzipSync(x)],
    ];
    clock.advanceTo(epochMs(T0 + 30_000));
    for (const [encoding, body] of wires) {
      const headers = { ...PROTOBUF, ...(encoding === undefined ? {} : { 'content-encoding': encoding }) };
      assert.equal((await send(httpPort, { headers, body })).status, 200, encoding);
    }
    assert.deepEqual(amounts(counted), [1, 1, 1, 1]);
    const unknown = await send(httpPort, { headers: { ...PROTOBUF, 'content-encoding': 'zstd' }, body: plain });
    assert.deepEqual([unknown.status, unknown.headers['accept-encoding']], [415, 'gzip, identity']);
    assert.match(statusOf(unknown).message, /^OTLP_UNSUPPORTED_ENCODING/);
    const wire = gzipSync(plain);
    const badCrc = Buffer.from(wire);
    badCrc[wire.length - 8] = (badCrc[wire.length - 8] as number) ^ 0xff;
    for (const body of [wire.subarray(0, -1), badCrc, plain, new Uint8Array(0)]) {
      const broken = await send(httpPort, { headers: { ...PROTOBUF, 'content-encoding': 'gzip' }, body });
      assert.deepEqual([broken.status, statusOf(broken).code], [400, 3]);
    }
    assert.equal(counted.length, 4);
  });

  test('H10 the cap holds for wire and inflated bytes while they stream: 413, by default at 64 MiB', async (context) => {
    assert.equal(DEFAULT_OTLP.maxBytes, 67_108_864);
    const { httpPort, logged } = await startStack(context, {
      receivers: { limits: { wireBytes: 40_000, inflatedBytes: 50_000 } },
    });
    const outgoing = httpRequest({ port: httpPort, method: 'POST', path: '/v1/metrics', headers: PROTOBUF });
    const answered = once(outgoing, 'response');
    outgoing.write(Buffer.alloc(30_000, 1));
    outgoing.write(Buffer.alloc(30_000, 1));
    const [incoming] = (await answered) as [import('node:http').IncomingMessage];
    assert.equal(incoming.statusCode, 413, 'chunked, without Content-Length, and before the body has ended');
    outgoing.destroy();
    const headers = { ...PROTOBUF, 'content-encoding': 'gzip' };
    const bomb = await send(httpPort, { headers, body: gzipSync(Buffer.alloc(50_001)) });
    assert.deepEqual([bomb.status, statusOf(bomb).code, bomb.headers['retry-after']], [413, 8, undefined]);
    assert.equal(logged.length, 0);
  });

  test('H11 an undecodable body is 400 with BadRequest, at once, and nothing of it is kept', async (context) => {
    const { httpPort, logged, ingest } = await startStack(context);
    const good = encodeMetrics(push(5));
    const bodies: readonly [Readonly<Record<string, string>>, Uint8Array | string][] = [
      [PROTOBUF, concat(good, Uint8Array.of(0x0a, 0x7f, 0x00))],
      [PROTOBUF, good.subarray(0, -1)],
      [PROTOBUF, Uint8Array.of(0xff)],
      [JSON_TYPE, toJsonText(push(5)).slice(0, -1)],
      [JSON_TYPE, toJsonText(push(5)).replace('"asInt":5', '"asInt":"five"')],
      [JSON_TYPE, ''],
    ];
    for (const [headers, body] of bodies) {
      const answer = await send(httpPort, { headers, body });
      const { code, message, details } = statusOf(answer);
      assert.deepEqual([answer.status, code], [400, 3]);
      assert.match(message, /^OTLP_MALFORMED: /);
      assert.deepEqual(details, ['type.googleapis.com/google.rpc.BadRequest']);
    }
    assert.deepEqual([logged.length, ingest.seriesCount(), ingest.counters().size], [0, 0, 0]);
  });

  test('H12 overload is 503 with Retry-After in whole seconds, never 0, and spread', async (context) => {
    const waits = new Set<string>();
    for (const random of [0, 0.5, 0.999]) {
      const { port } = await receiver(context, { random: () => random, limits: { inflightBytes: 10 } });
      const answer = await send(port, { headers: JSON_TYPE, body: ' '.repeat(20) });
      assert.equal(answer.status, 503);
      const retryAfter = answer.headers['retry-after'] ?? '';
      assert.match(retryAfter, /^[1-9]\d*$/);
      assert.deepEqual(statusOf(answer).details, ['type.googleapis.com/google.rpc.RetryInfo']);
      waits.add(retryAfter);
    }
    assert.equal(waits.size, 3);
    const { port } = await receiver(context, {
      consumer: createRecordingConsumer(() => ({
        kind: 'refused',
        refusal: { kind: 'unavailable', code: 'OTLP_X', message: 'soon', retryAfterSeconds: 0.01 },
      })),
    });
    assert.equal((await send(port, { headers: JSON_TYPE, body: '{}' })).headers['retry-after'], '1');
  });

  test('H13 what is permanent is never retryable and what is temporary always is', async (context) => {
    const retryable = [429, 502, 503, 504];
    for (const kind of ['malformed', 'unauthenticated', 'too_large', 'unsupported'] as const) {
      assert.ok(!retryable.includes(toHttpStatus(kind)), kind);
    }
    assert.ok(retryable.includes(toHttpStatus('unavailable')));
    const unwritable = new AppError('STORE_UNWRITABLE', 'the disk is full', { retryable: true });
    const full = await startStack(context, { refuse: () => unwritable });
    assert.equal((await send(full.httpPort, { headers: PROTOBUF, body: bodyOf(PROTOBUF, 5) })).status, 503);
    assert.deepEqual(full.counted, []);
    const { port } = await receiver(context, { limits: { requestTimeoutMs: 100 } });
    const slow = await rawAnswer(
      port,
      'POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    assert.deepEqual([slow.status, slow.headers['retry-after']], [503, '5']);
    assert.match(statusOf(slow).message, /^OTLP_TIMEOUT: /);
  });

  test('H14 the answer is small however much is wrong, and never compressed', async (context) => {
    const { httpPort } = await startStack(context);
    const metrics = Array.from({ length: 2000 }, (_, index) => ({
      name: `${'n'.repeat(2000)}${index}`,
      sum: {
        aggregationTemporality: index % 2,
        isMonotonic: true,
        dataPoints: [{ timeUnixNano: BigInt(index % 3), asInt: -1 }],
      },
    }));
    const headers = { ...JSON_TYPE, 'accept-encoding': 'gzip' };
    const answer = await send(httpPort, { headers, body: toJsonText(requestOf(metrics)) });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-encoding'], undefined);
    assert.equal(JSON.parse(answer.body.toString()).partialSuccess.rejectedDataPoints, '2000');
    assert.ok(answer.body.length < 5000, String(answer.body.length));
  });

  test('H15 connections are kept, many at once are served, and a batch that is sent again counts once', async (context) => {
    const { httpPort, counted, ingest } = await startStack(context);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    context.after(() => agent.destroy());
    const ports = new Set<number | undefined>();
    for (let run = 0; run < 3; run += 1) {
      const outgoing = httpRequest({ port: httpPort, method: 'POST', path: '/v1/metrics', headers: PROTOBUF, agent });
      outgoing.end(bodyOf(PROTOBUF, 5));
      const [incoming] = (await once(outgoing, 'response')) as [import('node:http').IncomingMessage];
      incoming.resume();
      await once(incoming, 'end');
      ports.add(outgoing.socket?.localPort);
    }
    assert.equal(ports.size, 1);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => send(httpPort, { headers: JSON_TYPE, body: bodyOf(JSON_TYPE, 5) })),
    );
    assert.ok(answers.every(({ status, body }) => status === 200 && body.toString() === '{}'));
    assert.deepEqual(amounts(counted), [5]);
    assert.equal(ingest.counters().get('duplicate'), 202);
  });
});
