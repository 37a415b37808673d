import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fingerprintOf } from '../../src/model/fingerprint.ts';
import { startApi, TOKENS } from '../support/api-server.ts';
import { createFakeCommands, FAKE_SILENCE } from '../support/fake-queries.ts';

type Json = Readonly<Record<string, unknown>>;

const BODY = {
  matchers: [{ name: 'host', value: 'h1', isRegex: false }],
  endsAt: '2026-03-01T05:00:00Z',
  createdBy: 'ada',
  comment: 'moved',
};

describe('/api/v1/silences', () => {
  test('lists, shows, previews', async (t) => {
    const app = await startApi(t);
    const list = (await app.inject('/api/v1/silences?state=active')).json<Json>();
    assert.deepEqual(list, { items: [FAKE_SILENCE], next: null });
    assert.deepEqual((await app.inject('/api/v1/silences?state=expired')).json<Json>(), { items: [], next: null });
    assert.deepEqual((await app.inject(`/api/v1/silences/${FAKE_SILENCE.id}`)).json(), FAKE_SILENCE);
    assert.equal((await app.inject('/api/v1/silences/none')).statusCode, 404);
    const ask = (value: string) =>
      app.inject({ method: 'POST', url: '/api/v1/silences/preview', payload: { matchers: [{ name: 'a', value }] } });
    const preview = (await ask('b')).json<Json>();
    assert.deepEqual([(preview['alerts'] as unknown[]).length, preview['pastCount']], [1, 1]);
    assert.equal((await ask('bad')).statusCode, 400);
  });

  test('creates with what is left out filled in, by the name of the token unless told otherwise', async (t) => {
    const { commands, silenced } = createFakeCommands();
    const app = await startApi(t, { commands, tokens: TOKENS });
    const headers = { authorization: 'Bearer operate-secret' };
    const { createdBy: _, ...rest } = BODY;
    const made = await app.inject({ method: 'POST', url: '/api/v1/silences', payload: rest, headers });
    assert.deepEqual([made.statusCode, made.json()], [200, FAKE_SILENCE]);
    assert.deepEqual(silenced, [
      {
        id: null,
        matchers: [{ name: 'host', value: 'h1', isRegex: false, isEqual: true }],
        startsAt: null,
        endsAt: BODY.endsAt,
        createdBy: 'ana',
        comment: 'moved',
      },
    ]);
    const reader = { authorization: 'Bearer read-secret' };
    const refused = await app.inject({ method: 'POST', url: '/api/v1/silences', payload: BODY, headers: reader });
    assert.equal(refused.statusCode, 403);
  });

  test('refuses what is no silence', async (t) => {
    const app = await startApi(t);
    const post = async (payload: object) =>
      (await app.inject({ method: 'POST', url: '/api/v1/silences', payload })).statusCode;
    assert.equal(await post({ ...BODY, matchers: [] }), 400);
    assert.equal(await post({ matchers: BODY.matchers }), 400);
    assert.equal(await post({ ...BODY, what: 1 }), 400);
    assert.equal(await post({ ...BODY, comment: 'bad' }), 400);
    assert.equal(await post({ ...BODY, id: 'none' }), 404);
  });

  test('expires', async (t) => {
    const app = await startApi(t);
    const codes = ['6b0f', 'over', 'none'].map(
      async (id) => (await app.inject({ method: 'DELETE', url: `/api/v1/silences/${id}` })).statusCode,
    );
    assert.deepEqual(await Promise.all(codes), [200, 409, 404]);
  });
});

describe("Alertmanager's API v2", () => {
  test('silences have its shape, and only that', async (t) => {
    const app = await startApi(t);
    const { alerts: _, ...gettable } = FAKE_SILENCE;
    assert.deepEqual((await app.inject('/api/v2/silences')).json(), [gettable]);
    assert.deepEqual((await app.inject('/api/v2/silence/6b0f')).json(), gettable);
    const filtered = async (filter: string) =>
      (await app.inject(`/api/v2/silences?filter=${encodeURIComponent(filter)}`)).json<unknown[]>().length;
    assert.deepEqual([await filtered('alertname="HostEjections"'), await filtered('alertname="Other"')], [1, 0]);
    const made = await app.inject({ method: 'POST', url: '/api/v2/silences', payload: BODY });
    assert.deepEqual(made.json(), { silenceID: '6b0f' });
    const ended = await app.inject({ method: 'DELETE', url: '/api/v2/silence/over' });
    assert.equal(ended.statusCode, 200, 'one that has ended stays so');
  });

  test('failures are JSON strings, as its clients read nothing else', async (t) => {
    const app = await startApi(t);
    const missing = await app.inject('/api/v2/silence/none');
    assert.equal(missing.statusCode, 404);
    assert.match(String(missing.headers['content-type']), /^application\/json/);
    assert.match(missing.json<string>(), /^API_NOT_FOUND There is no silence none/);
    const bad = await app.inject({ method: 'POST', url: '/api/v2/silences', payload: { matchers: 1 } });
    assert.equal(typeof bad.json(), 'string');
    const filter = await app.inject('/api/v2/silences?filter=what');
    assert.match(filter.json<string>(), /is no matcher/);
  });

  test('alerts say who is told, and what mutes them', async (t) => {
    const app = await startApi(t);
    const alerts = (await app.inject('/api/v2/alerts')).json<Json[]>();
    assert.equal(alerts.length, 2);
    const byName = new Map(alerts.map((alert) => [(alert['labels'] as Json)['alertname'], alert]));
    const burn = byName.get('ErrorBudgetBurn');
    assert.deepEqual(burn?.['status'], { state: 'active', silencedBy: [], inhibitedBy: [], mutedBy: [] });
    const ejection = byName.get('HostEjections');
    assert.deepEqual(ejection?.['status'], {
      state: 'suppressed',
      silencedBy: ['6b0f'],
      inhibitedBy: [burn?.['fingerprint']],
      mutedBy: [],
    });
    assert.deepEqual(ejection?.['receivers'], [{ name: 'oncall' }]);
    assert.match(String(ejection?.['fingerprint']), /^[0-9a-f]{16}$/);
    const count = async (query: string) => (await app.inject(`/api/v2/alerts?${query}`)).json<Json[]>().length;
    assert.deepEqual(
      [
        await count('active=false'),
        await count('silenced=false'),
        await count('inhibited=false'),
        await count('receiver=onc.*'),
        await count('receiver=onc'),
        await count(`filter=${encodeURIComponent('severity="page"')}`),
      ],
      [1, 1, 1, 2, 0, 1],
    );
    assert.deepEqual((await app.inject('/api/v2/receivers')).json(), [{ name: 'oncall' }, { name: 'queue' }]);
    const status = (await app.inject('/api/v2/status')).json<Json>();
    assert.deepEqual((status['cluster'] as Json)['status'], 'disabled');
    assert.match(String((status['versionInfo'] as Json)['revision']), /^slowburn 1\.2\.3$/);
  });

  test('fingerprints are those of Prometheus', () => {
    // The offset basis of FNV-1a; order does not matter, and where a value ends does.
    assert.equal(fingerprintOf({}), 'cbf29ce484222325');
    // What Alertmanager 0.25 answered for these labels.
    assert.equal(fingerprintOf({ zone: 'é', alertname: 'DiskFull', host: 'h1' }), '3d9e2248e0b751c9');
    assert.notEqual(fingerprintOf({ a: 'b', c: 'd' }), fingerprintOf({ a: 'bc', d: '' }));
    assert.equal(fingerprintOf({ c: 'd', a: 'b' }), fingerprintOf({ a: 'b', c: 'd' }));
  });
});
