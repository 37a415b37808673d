import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { AppError } from '../../src/base/app-error.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries } from '../support/fake-queries.ts';

interface Case {
  readonly name: string;
  readonly request: InjectOptions;
  readonly status: number;
  readonly code: string;
  readonly field?: string;
}

const json = { 'content-type': 'application/json' };
const post = (action: string, payload?: string, headers: Record<string, string> = json): InjectOptions => ({
  method: 'POST',
  url: `/api/v1/incidents/41/${action}`,
  headers,
  ...(payload === undefined ? {} : { payload }),
});
const get = (url: string): InjectOptions => ({ method: 'GET', url });

const BAD = { status: 400, code: 'API_BAD_REQUEST' };
const CASES: readonly Case[] = [
  { name: 'an unknown path', request: get('/api/v1/nope'), status: 404, code: 'API_NOT_FOUND' },
  { name: 'an unknown SLO', request: get('/api/v1/slos/nope'), status: 404, code: 'API_NOT_FOUND' },
  { name: 'an unknown incident', request: get('/api/v1/incidents/999'), status: 404, code: 'API_NOT_FOUND' },
  { name: 'an unknown runbook', request: get('/runbooks/Nope'), status: 404, code: 'API_NOT_FOUND' },
  {
    name: 'a method that a path does not have',
    request: { method: 'DELETE', url: '/api/v1/slos/x' },
    status: 405,
    code: 'API_METHOD_NOT_ALLOWED',
  },
  { name: 'an incident id that is no number', request: get('/api/v1/incidents/abc'), ...BAD, field: 'id' },
  { name: 'an incident id of 0', request: get('/api/v1/incidents/0'), ...BAD, field: 'id' },
  { name: 'an unknown state', request: get('/api/v1/incidents?state=closed'), ...BAD, field: 'state' },
  { name: 'a limit of 0', request: get('/api/v1/incidents?limit=0'), ...BAD, field: 'limit' },
  { name: 'a limit above 1000', request: get('/api/v1/slos?limit=1001'), ...BAD, field: 'limit' },
  { name: 'a cursor of another list', request: get('/api/v1/slos?cursor=!'), ...BAD, field: 'cursor' },
  { name: 'an incident cursor with letters', request: get('/api/v1/incidents?cursor=1e9'), ...BAD, field: 'cursor' },
  { name: 'an unknown query parameter', request: get('/api/v1/incidents?stat=open'), ...BAD, field: 'stat' },
  { name: 'a broken percent escape', request: get('/api/v1/%zz'), ...BAD },
  { name: 'a body that is no JSON', request: post('acknowledge', '{"by":'), ...BAD },
  { name: 'an unknown body field', request: post('acknowledge', '{"bye":"ana"}'), ...BAD, field: 'bye' },
  { name: 'a body that is a list', request: post('acknowledge', '[1]'), ...BAD },
  { name: 'a name with a line break', request: post('acknowledge', '{"by":"a\\nb"}'), ...BAD, field: 'by' },
  { name: 'a name of 201 letters', request: post('acknowledge', `{"by":"${'x'.repeat(201)}"}`), ...BAD, field: 'by' },
  { name: 'snooze without a time', request: post('snooze', '{}'), ...BAD, field: 'until' },
  { name: 'snooze until a word', request: post('snooze', '{"until":"tomorrow"}'), ...BAD, field: 'until' },
  {
    name: 'snooze until the past',
    request: post('snooze', '{"until":"2026-03-01T03:42:10Z"}'),
    ...BAD,
    field: 'until',
  },
  {
    name: 'resolve with a time',
    request: post('resolve', '{"until":"2027-01-01T00:00:00Z"}'),
    ...BAD,
    field: 'until',
  },
  { name: 'a note without text', request: post('note', '{"note":" "}'), ...BAD, field: 'note' },
  {
    name: 'a body of another type',
    request: post('acknowledge', 'by=ana', { 'content-type': 'application/x-www-form-urlencoded' }),
    status: 415,
    code: 'API_UNSUPPORTED_MEDIA_TYPE',
  },
  {
    name: 'plain text, which a form of any site could send',
    request: post('acknowledge', '{}', { 'content-type': 'text/plain' }),
    status: 415,
    code: 'API_UNSUPPORTED_MEDIA_TYPE',
  },
  {
    name: 'a body above 1 MiB',
    request: post('note', JSON.stringify({ note: 'x'.repeat(1_048_576) })),
    status: 413,
    code: 'API_PAYLOAD_TOO_LARGE',
  },
  {
    name: 'an action that does not fit',
    request: { method: 'POST', url: '/api/v1/incidents/40/acknowledge' },
    status: 409,
    code: 'API_CONFLICT',
  },
  {
    name: 'an action on an unknown incident',
    request: { method: 'POST', url: '/api/v1/incidents/7/resolve' },
    status: 404,
    code: 'API_NOT_FOUND',
  },
];

describe('every failure is problem details', () => {
  for (const { name, request, status, code, field } of CASES) {
    test(`${name}: ${status} ${code}${field === undefined ? '' : ` names ${field}`}`, async (t) => {
      const app = await startApi(t);
      const answer = await app.inject(request);
      assert.equal(answer.statusCode, status, answer.body);
      assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
      const problem = answer.json<Record<string, unknown>>();
      assert.equal(problem['status'], status);
      assert.equal(problem['code'], code);
      assert.equal(problem['type'], `urn:slowburn:error:${code}`);
      assert.equal(problem['instance'], String(request.url).split('?')[0]);
      assert.ok(String(problem['title']).length > 0 && String(problem['detail']).length > 0);
      const errors = (problem['errors'] ?? []) as { field: string; message: string }[];
      if (field !== undefined)
        assert.deepEqual(
          errors.map((error) => error.field),
          [field],
        );
    });
  }

  test('405 names the methods that there are', async (t) => {
    const app = await startApi(t);
    assert.equal((await app.inject({ method: 'PUT', url: '/api/v1/slos' })).headers['allow'], 'GET, HEAD');
    const action = await app.inject('/api/v1/incidents/41/resolve');
    assert.deepEqual([action.statusCode, action.headers['allow']], [405, 'POST']);
  });

  test('a conflict says what to do instead', async (t) => {
    const app = await startApi(t);
    const answer = await app.inject({ method: 'POST', url: '/api/v1/incidents/40/acknowledge' });
    assert.equal(answer.json<{ detail: string }>().detail, 'incident 40 is resolved; reopen it first');
  });

  test('an unknown runbook lists those that exist', async (t) => {
    const app = await startApi(t);
    const { detail } = (await app.inject('/runbooks/Nope')).json<{ detail: string }>();
    assert.match(detail, /ErrorBudgetBurn, HostEjections/);
  });

  test('a store that refuses for now is 503 with Retry-After and the code of the store', async (t) => {
    const { commands } = createFakeCommands(() => {
      throw new AppError('STORE_UNWRITABLE', 'the disk is full', { retryable: true, hint: 'free some space' });
    });
    const app = await startApi(t, { commands });
    const answer = await app.inject({ method: 'POST', url: '/api/v1/incidents/41/acknowledge' });
    assert.equal(answer.statusCode, 503);
    assert.equal(answer.headers['retry-after'], '5');
    const { code, detail } = answer.json<{ code: string; detail: string }>();
    assert.deepEqual([code, detail], ['STORE_UNWRITABLE', 'the disk is full; free some space']);
  });

  test('a bug is 500 and keeps its text to the log', async (t) => {
    const queries = createFakeQueries({
      slos() {
        throw new Error('BUG: password is hunter2');
      },
    });
    const app = await startApi(t, { queries });
    const answer = await app.inject('/api/v1/slos');
    assert.equal(answer.statusCode, 500);
    assert.equal(answer.json<{ code: string }>().code, 'API_INTERNAL');
    assert.ok(!answer.body.includes('hunter2'));
  });
});
