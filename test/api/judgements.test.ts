import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerPages } from '../../src/ui/register.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries } from '../support/fake-queries.ts';

test('pages are judged by API and by form, also those of an incident that is over', async (t) => {
  const { commands, judged } = createFakeCommands();
  const parts = { queries: createFakeQueries(), commands };
  const app = await startApi(t, { commands, registerPages: (server) => registerPages(server, parts) });
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload });
  assert.equal((await post('/api/v1/incidents/40/noise', { by: 'ada', note: ' a test ' })).statusCode, 200);
  assert.equal((await post('/api/v1/incidents/40/noise', { noise: false })).statusCode, 200);
  assert.equal((await post('/api/v1/incidents/999/noise', {})).statusCode, 404);
  assert.equal((await post('/api/v1/incidents/40/noise', { nose: true })).statusCode, 400);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = await app.inject({
    method: 'POST',
    url: '/incidents/41/noise',
    headers: form,
    payload: 'noise=no&by=bob',
  });
  assert.equal(sent.statusCode, 303);
  assert.deepEqual(judged, [
    { incident: 40, isNoise: true, by: 'ada', note: 'a test' },
    { incident: 40, isNoise: false, by: 'unknown', note: null },
    { incident: 999, isNoise: true, by: 'unknown', note: null },
    { incident: 41, isNoise: false, by: 'bob', note: null },
  ]);
  const page = (await app.inject('/incidents/41')).body;
  assert.match(page, /They count as noise/);
  assert.doesNotMatch(page, /ada <b>/);
});

test('a week that is none is refused, by API and page', async (t) => {
  const parts = { queries: createFakeQueries(), commands: createFakeCommands().commands };
  const app = await startApi(t, { registerPages: (server) => registerPages(server, parts) });
  assert.equal((await app.inject('/api/v1/review?week=2026-W60')).statusCode, 400);
  assert.equal((await app.inject('/review/2026-W60')).statusCode, 404);
  assert.equal((await app.inject('/review/2026-W60.md')).statusCode, 404);
  assert.match((await app.inject('/review/2026-W09.md')).body, /^# Weekly review 2026-W09/);
});
