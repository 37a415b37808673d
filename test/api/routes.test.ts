import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IncidentView, Page } from '../../src/model/views.ts';
import { startApi } from '../support/api-server.ts';
import {
  createFakeQueries,
  FAKE_ALERTS,
  FAKE_COMPARISON,
  FAKE_CONFIG_HEALTH,
  FAKE_CONFIG_VERSIONS,
  FAKE_FLEET,
  FAKE_INCIDENTS,
  FAKE_SLOS,
  FAKE_TRENDS,
  incidentSummary,
} from '../support/fake-queries.ts';
import { FAKE_COST, FAKE_SCORECARD } from '../support/fake-scorecard.ts';
import { FAKE_REVIEW } from '../support/review.ts';

/** What JSON makes of a view, with nothing added or dropped; own `__proto__` keys stay keys. */
const asJson = (view: unknown): unknown => JSON.parse(JSON.stringify(view));

describe('what is on the wire is the view, field for field', () => {
  const cases: readonly [url: string, view: unknown][] = [
    ['/api/v1/slos', { items: FAKE_SLOS, next: null }],
    ['/api/v1/slos/checkout-availability', FAKE_SLOS[0]],
    [`/api/v1/slos/${encodeURIComponent('checkout-latency:p99 / 300 ms')}`, FAKE_SLOS[1]],
    ['/api/v1/alerts', { items: FAKE_ALERTS, next: null }],
    ['/api/v1/incidents', { items: FAKE_INCIDENTS.map(incidentSummary), next: null }],
    ['/api/v1/incidents/41', FAKE_INCIDENTS[0]],
    ['/api/v1/incidents/40', FAKE_INCIDENTS[1]],
    ['/api/v1/fleet', { items: FAKE_FLEET, next: null }],
    ['/api/v1/config-versions', { items: [FAKE_CONFIG_VERSIONS[1], FAKE_CONFIG_VERSIONS[0]], next: null }],
    [`/api/v1/compare?attribute=configVersion&a=${encodeURIComponent('v 2/b')}`, FAKE_COMPARISON],
    ['/api/v1/trends', FAKE_TRENDS],
    ['/api/v1/review', FAKE_REVIEW],
    ['/api/v1/review?week=2026-W09', FAKE_REVIEW],
    ['/api/v1/scorecard', FAKE_SCORECARD],
    ['/api/v1/cost?week=2026-W08', FAKE_COST],
    [`/api/v1/config-versions/${encodeURIComponent('v 2/b')}/health?kind=cds`, FAKE_CONFIG_HEALTH],
    ['/readyz', { ready: true, checks: [{ name: 'store', ok: true, detail: 'writable' }] }],
    ['/healthz', { status: 'ok' }],
  ];
  for (const [url, view] of cases) {
    test(url, async (t) => {
      const app = await startApi(t);
      const answer = await app.inject(url);
      assert.equal(answer.statusCode, 200);
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.deepEqual(JSON.parse(answer.body), asJson(view));
      const again = await app.inject({ url, method: 'HEAD' });
      assert.equal(again.statusCode, 200);
      assert.equal(again.body, '');
    });
  }

  test('labels called __proto__ and constructor arrive as labels', async (t) => {
    const app = await startApi(t);
    const { body } = await app.inject('/api/v1/slos/checkout-availability');
    assert.ok(
      body.includes('"labels":{"__proto__":"polluted","constructor":"x\\"y\\\\z\\n","lb.upstream.cluster":""}'),
    );
  });

  test('numbers arrive with every digit, and what is not a number never becomes one', async (t) => {
    const app = await startApi(t);
    const { body } = await app.inject('/api/v1/slos/checkout-availability');
    for (const text of ['"sli":0.9992166388', '"3d":1e-9', '"high":129600.5', '"good":52300117', '"sli":null']) {
      assert.ok(body.includes(text), text);
    }
  });
});

describe('lists of incidents', () => {
  const ids = (body: string): number[] => (JSON.parse(body) as Page<IncidentView>).items.map(({ id }) => id);
  for (const [state, expected] of [
    ['open', [41]],
    ['active', [41]],
    ['acknowledged', []],
    ['resolved', [40]],
  ] as const) {
    test(`state=${state} gives ${expected.length === 0 ? 'none' : expected.join(', ')}`, async (t) => {
      const app = await startApi(t);
      assert.deepEqual(ids((await app.inject(`/api/v1/incidents?state=${state}`)).body), expected);
    });
  }

  test('the cursor of a page leads to the next, and the last has none', async (t) => {
    const app = await startApi(t);
    const first = (await app.inject('/api/v1/incidents?limit=1')).json<Page<IncidentView>>();
    assert.deepEqual([first.items.map(({ id }) => id), first.next], [[41], '41']);
    const second = (await app.inject(`/api/v1/incidents?limit=1&cursor=${first.next}`)).json<Page<IncidentView>>();
    assert.deepEqual([second.items.map(({ id }) => id), second.next], [[40], null]);
  });

  test('without a filter every state is asked for, 100 at a time', async (t) => {
    const asked: unknown[] = [];
    const queries = createFakeQueries({
      incidents(filter) {
        asked.push(filter);
        return { items: [], next: null };
      },
    });
    const app = await startApi(t, { queries });
    await app.inject('/api/v1/incidents');
    await app.inject('/api/v1/incidents?state=active&cursor=7&limit=3');
    assert.deepEqual(asked, [
      { state: null, cursor: null, limit: 100 },
      { state: 'active', cursor: '7', limit: 3 },
    ]);
  });
});

describe('readiness and metrics', () => {
  test('what is not ready answers 503 and says which check failed', async (t) => {
    const health = { ready: false, checks: [{ name: 'ingest_log', ok: false, detail: 'cannot be written' }] };
    const app = await startApi(t, { queries: createFakeQueries({ health: () => health }) });
    const answer = await app.inject('/readyz');
    assert.equal(answer.statusCode, 503);
    assert.deepEqual(answer.json(), health);
    assert.equal((await app.inject('/healthz')).statusCode, 200);
  });

  test('metrics are passed on as they were rendered', async (t) => {
    const runtimeMetrics = { contentType: 'text/plain', render: async () => 'nodejs_x 1\n' };
    const app = await startApi(t, { runtimeMetrics });
    const product = await app.inject('/metrics');
    assert.equal(product.body, 'slowburn_x 1\n');
    assert.equal(product.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal((await app.inject('/metrics/runtime')).body, 'nodejs_x 1\n');
  });

  test('a process that does not measure itself has no runtime metrics', async (t) => {
    const app = await startApi(t);
    assert.equal((await app.inject('/metrics/runtime')).statusCode, 404);
  });
});
