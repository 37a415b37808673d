import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startApi, TOKENS } from '../support/api-server.ts';
import { correctionSummary, createFakeCommands, FAKE_CORRECTIONS } from '../support/fake-queries.ts';

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const REQUEST = {
  reason: 'database upgrade',
  slos: ['checkout-availability'],
  from: '2026-03-01T02:00:00Z',
  to: '2026-03-01T03:00:00Z',
};
const WEEKLY = { weekdays: ['tue'], start: '02:00', durationSeconds: 3600, zone: 'UTC', firstDate: '2026-03-03' };

describe('GET /api/v1/corrections', () => {
  test('pages through all, newest first, and by state', async (t) => {
    const app = await startApi(t);
    const first = (await app.inject('/api/v1/corrections?limit=2')).json<{ items: object[]; next: string }>();
    assert.deepEqual(first.items, plain(FAKE_CORRECTIONS.slice(0, 2).map(correctionSummary)));
    const second = (await app.inject(`/api/v1/corrections?limit=2&cursor=${first.next}`)).json<typeof first>();
    assert.deepEqual(second, { items: plain(FAKE_CORRECTIONS.slice(2).map(correctionSummary)), next: null });
    const gone = (await app.inject('/api/v1/corrections?state=undone')).json<typeof first>();
    assert.deepEqual(gone.items, plain([FAKE_CORRECTIONS[1]].map((one) => one && correctionSummary(one))));
    assert.equal((await app.inject('/api/v1/corrections?state=gone')).statusCode, 400);
  });

  test('one has its effect and its audit, whatever its labels are called', async (t) => {
    const app = await startApi(t);
    const answer = await app.inject('/api/v1/corrections/3');
    assert.deepEqual(JSON.parse(answer.body), plain(FAKE_CORRECTIONS[0]));
    const unknown = await app.inject('/api/v1/corrections/99');
    assert.deepEqual([unknown.statusCode, unknown.json<Problem>().code], [404, 'API_NOT_FOUND']);
    assert.equal((await app.inject('/api/v1/corrections/x')).statusCode, 400);
  });
});

describe('POST /api/v1/corrections', () => {
  test('hands on what was asked, with what was left out filled in', async (t) => {
    const { commands, corrected } = createFakeCommands();
    const app = await startApi(t, { commands });
    const post = (payload: object) => app.inject({ method: 'POST', url: '/api/v1/corrections', payload });
    const answer = await post(REQUEST);
    assert.equal(answer.statusCode, 200, answer.body);
    assert.deepEqual(JSON.parse(answer.body), plain(FAKE_CORRECTIONS[0]));
    await post({ reason: 'failover', kind: 'other', by: ' ana ', matchers: ['team=edge'], recurring: WEEKLY });
    assert.deepEqual(corrected, [
      { ...REQUEST, kind: 'maintenance', by: 'unknown', matchers: [], recurring: null },
      {
        reason: 'failover',
        kind: 'other',
        by: 'ana',
        slos: [],
        matchers: ['team=edge'],
        from: null,
        to: null,
        recurring: { ...WEEKLY, lastDate: null },
      },
    ]);
  });

  test('says which field is wrong, and nothing reaches the commands', async (t) => {
    const { commands, corrected } = createFakeCommands();
    const app = await startApi(t, { commands });
    for (const [payload, field] of [
      [{ ...REQUEST, reason: undefined }, 'reason'],
      [{ ...REQUEST, reason: '' }, 'reason'],
      [{ ...REQUEST, kind: 'holiday' }, 'kind'],
      [{ ...REQUEST, slo: 'x' }, 'slo'],
      [{ ...REQUEST, recurring: { ...WEEKLY, weekdays: ['someday'] } }, 'recurring.weekdays.0'],
      [{ ...REQUEST, recurring: { ...WEEKLY, zone: undefined } }, 'recurring.zone'],
      [{ ...REQUEST, recurring: { ...WEEKLY, until: 'x' } }, 'recurring.until'],
    ] as const) {
      const answer = await app.inject({ method: 'POST', url: '/api/v1/corrections', payload });
      const problem = answer.json<Problem>();
      assert.deepEqual([answer.statusCode, problem.code, problem.errors?.[0]?.field], [400, 'API_BAD_REQUEST', field]);
    }
    assert.equal((await app.inject({ method: 'POST', url: '/api/v1/corrections' })).statusCode, 400);
    assert.deepEqual(corrected, []);
    const refused = await app.inject({
      method: 'POST',
      url: '/api/v1/corrections',
      payload: { ...REQUEST, reason: 'bad' },
    });
    assert.deepEqual(refused.json<Problem>().errors, [{ field: 'to', message: 'must lie after "from"' }]);
  });

  test('needs a token that may operate, whose name is the author', async (t) => {
    const { commands, corrected } = createFakeCommands();
    const app = await startApi(t, { commands, tokens: TOKENS });
    const post = (secret: string) =>
      app.inject({
        method: 'POST',
        url: '/api/v1/corrections',
        headers: { authorization: `Bearer ${secret}` },
        payload: REQUEST,
      });
    assert.equal((await post('read-secret')).statusCode, 403);
    assert.equal((await post('operate-secret')).statusCode, 200);
    assert.deepEqual(
      corrected.map(({ by }) => by),
      ['ana'],
    );
  });
});

describe('ending and undoing a correction', () => {
  test('answer with it after that, want a reason, and refuse what cannot be', async (t) => {
    const { commands, corrected } = createFakeCommands();
    const app = await startApi(t, { commands });
    const change = async (id: number, kind: string, payload: object) => {
      const answer = await app.inject({ method: 'POST', url: `/api/v1/corrections/${id}/${kind}`, payload });
      return [answer.statusCode, answer.json<Problem>().code];
    };
    assert.deepEqual(await change(3, 'end', { reason: ' done early ' }), [200, undefined]);
    assert.deepEqual(await change(1, 'undo', { reason: 'wrong', by: 'bob' }), [200, undefined]);
    assert.deepEqual(await change(2, 'undo', { reason: 'again' }), [409, 'API_CONFLICT']);
    assert.deepEqual(await change(9, 'undo', { reason: 'x' }), [404, 'API_NOT_FOUND']);
    assert.deepEqual(await change(3, 'undo', {}), [400, 'API_BAD_REQUEST']);
    assert.deepEqual(await change(3, 'undo', { reason: '  ' }), [400, 'API_BAD_REQUEST']);
    assert.deepEqual(corrected.slice(0, 2), [
      { id: 3, kind: 'end', by: 'unknown', reason: 'done early' },
      { id: 1, kind: 'undo', by: 'bob', reason: 'wrong' },
    ]);
    assert.equal(corrected.length, 4);
  });
});
