import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createLogger } from '../../src/telemetry/logger.ts';
import { startApi, TOKENS } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries, FAKE_INCIDENTS } from '../support/fake-queries.ts';

async function listen(app: FastifyInstance): Promise<string> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** The API with a log, whose lines are returned. */
async function startLogged(t: TestContext, over: Parameters<typeof startApi>[1]) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', output: { write: (line) => lines.push(line) } });
  return { app: await startApi(t, { ...over, logger }), lines };
}

describe('over a real socket', () => {
  test('a client reads, acts with a JSON body, and is asked for a token', async (t) => {
    const { commands, acted } = createFakeCommands();
    const base = await listen(await startApi(t, { commands, tokens: TOKENS }));
    const refused = await fetch(`${base}/api/v1/incidents/41`);
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer .*, Basic /);
    const authorization = 'Bearer operate-secret';
    const read = await fetch(`${base}/api/v1/incidents/41`, { headers: { authorization } });
    assert.deepEqual(await read.json(), JSON.parse(JSON.stringify(FAKE_INCIDENTS[0])));
    const headers = { authorization, 'content-type': 'application/json' };
    const body = JSON.stringify({ note: 'draining' });
    const done = await fetch(`${base}/api/v1/incidents/41/note`, { method: 'POST', headers, body });
    assert.equal(done.status, 200);
    assert.deepEqual(acted, [{ incident: 41, kind: 'note', by: 'ana', note: 'draining', until: null }]);
  });

  test('a body without length that grows too long is cut off with 413', async (t) => {
    const base = await listen(await startApi(t));
    const status = await new Promise<number | undefined>((done, failed) => {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const sent = request(`${base}/api/v1/incidents/41/note`, { method: 'POST', headers }, (answer) => {
        done(answer.statusCode);
        answer.resume();
      });
      sent.on('error', failed);
      sent.write(`{"note":"${'x'.repeat(1_200_000)}`);
    });
    assert.equal(status, 413);
  });

  test('it stops while a client keeps its connection open', async (t) => {
    const app = await startApi(t);
    const base = await listen(app);
    assert.equal((await fetch(`${base}/healthz`)).status, 200);
    await app.close();
    await assert.rejects(fetch(`${base}/healthz`));
  });
});

describe('the log of the API', () => {
  test('tells of a bug, with its stack and without what the request carried', async (t) => {
    const queries = createFakeQueries({
      alerts() {
        throw new Error('BUG: planted');
      },
    });
    const { app, lines } = await startLogged(t, { queries, tokens: TOKENS });
    const headers = { authorization: 'Bearer read-secret' };
    assert.equal((await app.inject({ url: '/api/v1/alerts', headers })).statusCode, 500);
    assert.equal(lines.length, 1);
    const { level, err } = JSON.parse(lines[0] ?? '') as { level: string; err: { message: string; stack: string } };
    assert.deepEqual([level, err.message], ['error', 'BUG: planted']);
    assert.match(err.stack, /server\.test/);
    assert.ok(!lines.join('').includes('read-secret'));
  });

  test('stays silent about requests that are fine or wrong', async (t) => {
    const { app, lines } = await startLogged(t, {});
    for (const url of ['/api/v1/slos', '/nope', '/api/v1/incidents/x', '/%zz']) await app.inject(url);
    assert.deepEqual(lines, []);
  });
});
