import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AlertView, IncidentDetailView, IncidentView, Page } from '../../src/model/views.ts';
import { allDelivered } from '../support/incident-messages.ts';
import {
  eventually,
  type Hook,
  type LiveService,
  Pusher,
  ServiceDirectory,
  startHook,
} from '../support/live-service.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

const RULES = { 'correlation.yaml': 'settings: { resolveHold: 10s }\n' };
const LABELS = { alertname: 'CheckoutErrors', cluster: 'checkout', severity: 'critical' };

async function scene(): Promise<{ directory: ServiceDirectory; hook: Hook; start: () => Promise<LiveService> }> {
  const hook = await startHook();
  closing.push(() => hook.close());
  const config = `receivers:\n  - { name: oncall, type: webhook, url: "${hook.url}" }\n`;
  const directory = new ServiceDirectory({ rules: RULES, config });
  closing.push(() => directory.remove());
  const start = async (): Promise<LiveService> => {
    const service = await directory.start();
    closing.push(() => service.stop());
    return service;
  };
  return { directory, hook, start };
}

async function post(service: LiveService, alerts: readonly object[], path = '/api/v2/alerts'): Promise<Response> {
  const body = path === '/api/v2/alerts' ? alerts : { version: '4', alerts };
  const headers = { 'content-type': 'application/json' };
  return fetch(service.url(path), { method: 'POST', headers, body: JSON.stringify(body) });
}

const firing = (labels: Readonly<Record<string, string>> = LABELS, startsAt = Date.now()): object => ({
  labels,
  annotations: { summary: 'Checkout answers 5xx.', runbook_url: 'https://runbooks.example/checkout' },
  startsAt: new Date(startsAt).toISOString(),
  endsAt: new Date(Date.now() + 240_000).toISOString(),
  generatorURL: 'http://prometheus.example/graph',
});

const resolved = (labels: Readonly<Record<string, string>> = LABELS): object => ({
  labels,
  startsAt: new Date(Date.now() - 60_000).toISOString(),
  endsAt: new Date().toISOString(),
});

const incidents = async (service: LiveService, state: string): Promise<readonly IncidentView[]> =>
  (await service.json<Page<IncidentView>>(`/api/v1/incidents?state=${state}`)).items;

describe('alerts of other systems over real sockets', () => {
  test('survive kill -9 right after the answer, page once from two senders, and close once', async () => {
    const { hook, start } = await scene();
    const first = await start();
    const answer = await post(first, [firing({ ...LABELS, replica: 'a' }), { labels: 7 }]);
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), {
      accepted: 1,
      ignored: 0,
      bad: 1,
      overLimit: 0,
      refused: [{ index: 1, reason: '"labels" is not a JSON object' }],
    });
    await first.kill();

    const second = await start();
    await post(second, [firing({ ...LABELS, replica: 'b' }, Date.now() - 5000)]);
    await post(second, [{ ...firing(), endsAt: '0001-01-01T00:00:00Z', status: 'firing' }], '/api/v2/webhook');
    const [incident] = await eventually('an incident', 25_000, async () => {
      const open = await incidents(second, 'active');
      return open.length > 0 ? open : null;
    });
    assert.equal(incident?.severity, 'page');
    assert.equal(incident?.runbookUrl, 'https://runbooks.example/checkout');
    assert.equal(incident?.lead.link, 'http://prometheus.example/graph');
    await allDelivered(second, incident?.id ?? 0);
    assert.equal(hook.bodies.length, 1);
    await second.kill();

    const third = await start();
    const [held] = (await third.json<Page<AlertView>>('/api/v1/alerts')).items;
    assert.equal(held?.name, 'CheckoutErrors');
    assert.equal((await post(third, [resolved({ ...LABELS, replica: 'a' })])).status, 200);
    await third.kill();

    const fourth = await start();
    await eventually('the end', 60_000, async () => {
      const [over] = await incidents(fourth, 'resolved');
      return over;
    });
    await eventually('the closing message', 10_000, async () => hook.bodies[1]);
    assert.deepEqual(
      hook.bodies.map(({ reason }) => reason),
      ['opened', 'resolved'],
    );
    const metrics = await (await fetch(fourth.url('/metrics'))).text();
    assert.match(metrics, /^slowburn_foreign_alerts 1$/m);
  });

  test('an end does not count while the balancers of its cluster are silent; the page says so', async () => {
    const { start } = await scene();
    const service = await start();
    const old = Date.now() - 1_200_000;
    const pusher = new Pusher({ startMs: old - 60_000, side: 'upstream' });
    assert.equal((await service.push(pusher.body({ '2xx': 5 }, 'checkout', old))).status, 200);
    assert.equal((await post(service, [firing()])).status, 200);
    await eventually('an incident', 25_000, async () => (await incidents(service, 'active'))[0]);
    assert.equal((await post(service, [resolved()])).status, 200);
    const detail = await eventually('the note', 25_000, async () => {
      const open = await incidents(service, 'active');
      const lead = open.find(({ alerts }) => alerts.includes('CheckoutErrors'));
      const found = await service.json<IncidentDetailView>(`/api/v1/incidents/${lead?.id}`);
      return found.lead.evidence.some(({ name }) => name === 'no_data') ? found : null;
    });
    assert.equal(detail.state, 'open');
    const page = await (await fetch(service.url(`/incidents/${detail.id}`))).text();
    assert.match(page, /No data comes in any more/);
    assert.match(page, /cluster checkout has sent no telemetry since/);
  });
});
