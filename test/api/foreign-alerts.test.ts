import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { AppError } from '../../src/base/app-error.ts';
import { startApi, TOKENS } from '../support/api-server.ts';
import { createFakeCommands } from '../support/fake-queries.ts';

const json = { 'content-type': 'application/json' };
const alert = { labels: { alertname: 'X' } };

describe('POST /api/v2/alerts and /api/v2/webhook', () => {
  test('hand on the alerts with the way they came, and answer what became of them', async (t) => {
    const { commands, received } = createFakeCommands();
    const app = await startApi(t, { commands });
    const direct = await app.inject({ method: 'POST', url: '/api/v2/alerts', headers: json, payload: [alert, 'odd'] });
    assert.equal(direct.statusCode, 200);
    assert.deepEqual(direct.json(), {
      accepted: 1,
      ignored: 0,
      bad: 1,
      overLimit: 0,
      refused: [{ index: 1, reason: 'is odd' }],
    });
    const payload = { version: '4', status: 'firing', groupKey: '{}:{}', alerts: [alert] };
    const hook = await app.inject({ method: 'POST', url: '/api/v2/webhook', headers: json, payload });
    assert.equal(hook.statusCode, 200);
    assert.deepEqual(received, [
      { alerts: [alert, 'odd'], way: 'alerts' },
      { alerts: [alert], way: 'webhook' },
    ]);
    const empty = await app.inject({ method: 'POST', url: '/api/v2/alerts', headers: json, payload: '[]' });
    assert.equal(empty.statusCode, 200);
  });

  test('a body that is no list is 400; one without a good alert too, by place and reason', async (t) => {
    const app = await startApi(t);
    for (const [url, payload] of [
      ['/api/v2/alerts', '{}'],
      ['/api/v2/alerts', ''],
      ['/api/v2/alerts', '[{'],
      ['/api/v2/webhook', '[]'],
      ['/api/v2/webhook', '{"alerts":{}}'],
      ['/api/v2/webhook', ''],
    ] as const) {
      const answer = await app.inject({ method: 'POST', url, headers: json, payload });
      assert.equal(answer.statusCode, 400, `${url} ${payload}`);
    }
    const bad = await app.inject({
      method: 'POST',
      url: '/api/v2/alerts',
      headers: json,
      payload: '["a","b","c","d"]',
    });
    assert.equal(bad.statusCode, 400);
    assert.match(
      bad.json(),
      /^API_BAD_REQUEST No alert was understood: \[0\] is a; \[1\] is b; \[2\] is c; and so on\.$/,
    );
  });

  test('no room and an unwritable store are 503 with Retry-After, never 429', async (t) => {
    const app = await startApi(t);
    const full = await app.inject({ method: 'POST', url: '/api/v2/alerts', headers: json, payload: [alert, 'over'] });
    assert.deepEqual([full.statusCode, full.headers['retry-after']], [503, '5']);
    assert.match(full.json(), /1 alerts were taken, 1 were not: \[1\] is over/);
    const { commands } = createFakeCommands();
    const broken = await startApi(t, {
      commands: {
        ...commands,
        receiveAlerts() {
          throw new AppError('STORE_UNWRITABLE', 'the disk is full', { retryable: true });
        },
      },
    });
    const refused = await broken.inject({ method: 'POST', url: '/api/v2/alerts', headers: json, payload: [alert] });
    assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '5']);
    assert.match(refused.json(), /^STORE_UNWRITABLE the disk is full/);
  });

  test('a body may have 4 MiB', async (t) => {
    const app = await startApi(t);
    const send = (bytes: number) =>
      app.inject({
        method: 'POST',
        url: '/api/v2/alerts',
        headers: json,
        payload: JSON.stringify([{ labels: { alertname: 'x'.repeat(bytes) } }]),
      });
    assert.equal((await send(3_000_000)).statusCode, 200);
    const large = await send(4_200_000);
    assert.equal(large.statusCode, 413);
    assert.equal(large.json(), 'API_PAYLOAD_TOO_LARGE A body may have 4 MiB.');
  });

  test('a seventeenth message at one time is told to come again, and there is room once others are done', async (t) => {
    const app = await startApi(t);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as { port: number };
    const head =
      'POST /api/v2/alerts HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n';
    const slow = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        socket.write(head);
        return socket;
      }),
    );
    const post = () => fetch(`http://127.0.0.1:${port}/api/v2/alerts`, { method: 'POST', headers: json, body: '[]' });
    let answer = await post();
    for (let tries = 0; answer.status !== 503 && tries < 50; tries += 1) answer = await post();
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5']);
    for (const socket of slow.slice(0, 8)) socket.destroy();
    slow[8]?.write('[]');
    for (let tries = 0; answer.status !== 200 && tries < 50; tries += 1) answer = await post();
    assert.equal(answer.status, 200);
    for (const socket of slow) socket.destroy();
  });

  test('a token of role push or operate may send, none other; no token that can push, none is asked for', async (t) => {
    const app = await startApi(t, { tokens: TOKENS });
    const onlyPush = await startApi(t, { tokens: TOKENS.filter(({ role }) => role === 'push') });
    const none = await startApi(t);
    const send = async (server: typeof app, token?: string, url = '/api/v2/alerts') => {
      const headers = token === undefined ? json : { ...json, authorization: `Bearer ${token}` };
      const payload = url.endsWith('alerts') ? [alert] : { alerts: [alert] };
      return (await server.inject({ method: 'POST', url, headers, payload })).statusCode;
    };
    for (const url of ['/api/v2/alerts', '/api/v2/webhook']) {
      assert.deepEqual(
        [
          await send(app, 'push-secret', url),
          await send(app, 'operate-secret', url),
          await send(app, 'read-secret', url),
          await send(app, 'guess', url),
          await send(app, undefined, url),
        ],
        [200, 200, 403, 401, 401],
      );
    }
    assert.deepEqual([await send(onlyPush), await send(onlyPush, 'push-secret'), await send(none)], [401, 200, 200]);
  });
});
