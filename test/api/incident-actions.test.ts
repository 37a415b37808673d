import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startApi, TOKENS } from '../support/api-server.ts';
import { createFakeCommands, FAKE_INCIDENTS } from '../support/fake-queries.ts';

const KINDS = ['acknowledge', 'unacknowledge', 'resolve', 'reopen'] as const;
const until = '2026-03-01T05:00:00+01:00';

describe('actions on incidents', () => {
  for (const kind of KINDS) {
    test(`${kind} works without a body and answers with the incident`, async (t) => {
      const { commands, acted } = createFakeCommands();
      const app = await startApi(t, { commands });
      const answer = await app.inject({ method: 'POST', url: `/api/v1/incidents/41/${kind}` });
      assert.equal(answer.statusCode, 200, answer.body);
      assert.deepEqual(JSON.parse(answer.body), JSON.parse(JSON.stringify(FAKE_INCIDENTS[0])));
      assert.deepEqual(acted, [{ incident: 41, kind, by: 'unknown', note: null, until: null }]);
    });
  }

  test('by, note and until are handed on', async (t) => {
    const { commands, acted } = createFakeCommands();
    const app = await startApi(t, { commands });
    const act = (kind: string, payload: object) =>
      app.inject({ method: 'POST', url: `/api/v1/incidents/41/${kind}`, payload });
    await act('snooze', { by: ' ana ', note: 'deploy', until });
    await act('acknowledge', { by: 'ana', until });
    await act('note', { note: ' a line \n another ' });
    assert.deepEqual(acted, [
      { incident: 41, kind: 'snooze', by: 'ana', note: 'deploy', until },
      { incident: 41, kind: 'acknowledge', by: 'ana', note: null, until },
      { incident: 41, kind: 'note', by: 'unknown', note: 'a line \n another', until: null },
    ]);
  });

  test('an empty JSON body, null and null fields count as nothing given', async (t) => {
    const { commands, acted } = createFakeCommands();
    const app = await startApi(t, { commands });
    for (const payload of ['', 'null', '{}', '{"by":null,"note":null,"until":null}']) {
      const headers = { 'content-type': 'application/json' };
      const answer = await app.inject({ method: 'POST', url: '/api/v1/incidents/41/resolve', headers, payload });
      assert.equal(answer.statusCode, 200, `${payload}: ${answer.body}`);
    }
    const nothing = { incident: 41, kind: 'resolve', by: 'unknown', note: null, until: null };
    assert.deepEqual(acted, [nothing, nothing, nothing, nothing]);
  });

  test('who acts is the token, unless the body says otherwise', async (t) => {
    const { commands, acted } = createFakeCommands();
    const app = await startApi(t, { commands, tokens: TOKENS });
    const headers = { authorization: 'Bearer operate-secret' };
    await app.inject({ method: 'POST', url: '/api/v1/incidents/41/resolve', headers });
    await app.inject({ method: 'POST', url: '/api/v1/incidents/41/resolve', headers, payload: { by: 'bob' } });
    assert.deepEqual(
      acted.map(({ by }) => by),
      ['ana', 'bob'],
    );
  });

  test('nothing reaches the commands when the request is wrong', async (t) => {
    const { commands, acted } = createFakeCommands();
    const app = await startApi(t, { commands });
    for (const [kind, payload] of [
      ['snooze', {}],
      ['note', {}],
      ['resolve', { until }],
    ] as const) {
      await app.inject({ method: 'POST', url: `/api/v1/incidents/41/${kind}`, payload });
    }
    assert.deepEqual(acted, []);
  });

  test('merge takes into, split takes alerts, and nothing else takes either', async (t) => {
    const { commands, acted } = createFakeCommands();
    const app = await startApi(t, { commands });
    const send = async (kind: string, payload: object) =>
      (await app.inject({ method: 'POST', url: `/api/v1/incidents/41/${kind}`, payload })).statusCode;
    assert.deepEqual([await send('merge', { into: 40 }), await send('split', { alerts: ['a', 'b'] })], [200, 200]);
    assert.deepEqual(
      acted.map(({ kind, into, alerts }) => [kind, into, alerts]),
      [
        ['merge', 40, undefined],
        ['split', undefined, ['a', 'b']],
      ],
    );
    for (const [kind, payload] of [
      ['merge', {}],
      ['merge', { into: 0 }],
      ['merge', { into: 40, alerts: ['a'] }],
      ['split', {}],
      ['split', { alerts: [] }],
      ['split', { alerts: ['a'], into: 40 }],
      ['resolve', { into: 40 }],
      ['resolve', { alerts: ['a'] }],
    ] as const) {
      assert.equal(await send(kind, payload), 400, `${kind} ${JSON.stringify(payload)}`);
    }
  });
});
