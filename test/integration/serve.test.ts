import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { AlertView, IncidentDetailView, IncidentView, Page, SloView } from '../../src/model/views.ts';
import { allDelivered } from '../support/incident-messages.ts';
import {
  eventually,
  type Hook,
  type LiveService,
  Pusher,
  ServiceDirectory,
  startHook,
} from '../support/live-service.ts';
import { availabilitySlo } from '../support/replay-file.ts';

/** A page within a tick or two: 3x of a 30 d budget over a minute. */
const QUICK_TIERS = `policies:
  quick:
    confidence: null
    tiers:
      - { name: 10d, severity: page, exhaustsWithin: 10d, long: 1m, short: 20s, minBurn: full, minBadEvents: 0 }
`;
const RULES = { 'slos/checkout.yaml': availabilitySlo('quick'), 'tiers.yaml': QUICK_TIERS };

const directories: ServiceDirectory[] = [];
const services: LiveService[] = [];
const hooks: Hook[] = [];
after(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await Promise.all(hooks.map((hook) => hook.close()));
  for (const directory of directories) directory.remove();
});

function newDirectory(rules: Readonly<Record<string, string>>, config?: string): ServiceDirectory {
  const directory = new ServiceDirectory({ rules, ...(config === undefined ? {} : { config }) });
  directories.push(directory);
  return directory;
}

async function start(directory: ServiceDirectory): Promise<LiveService> {
  const service = await directory.start();
  services.push(service);
  return service;
}

const openIncidents = async (service: LiveService): Promise<readonly IncidentView[]> =>
  (await service.json<Page<IncidentView>>('/api/v1/incidents?state=active')).items;

describe('a burn over real sockets', () => {
  test('pages once, survives kill -9 as the same incident without a second page, and is acknowledged and resolved', async () => {
    const hook = await startHook((call) => (call === 1 ? 503 : 200));
    hooks.push(hook);
    const receiver = `receivers:\n  - { name: oncall, type: webhook, url: "${hook.url}" }\n`;
    const directory = newDirectory(RULES, receiver);
    const first = await start(directory);
    const pusher = new Pusher();
    await first.push(pusher.body({ '2xx': 100, '5xx': 0 }));
    await sleep(1100);
    assert.equal((await first.push(pusher.body({ '2xx': 50, '5xx': 50 }))).status, 200);

    const [incident] = await eventually('an incident', 25_000, async () => {
      await first.push(pusher.body({ '2xx': 5, '5xx': 5 }));
      const open = await openIncidents(first);
      return open.length > 0 ? open : null;
    });
    assert.ok(incident !== undefined);
    assert.equal(incident.severity, 'page');
    assert.equal(incident.tier, '10d');
    const page = await eventually('the page, after a refused try', 10_000, async () => hook.bodies[0]);
    assert.match(
      String(page['text']),
      /^PAGE .*: .*, tier 10d\. Errors .* spent\. .*Touches cluster checkout, 1 SLO group\. First step: .* \(runbook ErrorBudgetBurn, step 1\)\. Incident 1, 1 alert\.$/,
    );
    const links = page['links'] as { incident: string; runbook: string; dashboard: string };
    for (const [link, shows] of [
      [links.incident, 'Why these are one incident'],
      [links.runbook, `id="${new URL(links.runbook).hash.slice(1)}"`],
      [links.dashboard, 'Only slo checkout-availability, cluster checkout.'],
    ] as const) {
      const answer = await fetch(link);
      assert.equal(answer.status, 200, link);
      assert.ok((await answer.text()).includes(shows), link);
    }
    const before = await first.json<SloView>('/api/v1/slos/checkout-availability');
    await allDelivered(first, incident.id);
    await first.kill();

    const second = await start(directory);
    assert.match(second.stderr, /Read \d+ points back from the ingest log/);
    const again = await openIncidents(second);
    assert.deepEqual(
      again.map(({ id, episode, openedAt }) => ({ id, episode, openedAt })),
      [{ id: incident.id, episode: incident.episode, openedAt: incident.openedAt }],
    );
    await second.push(pusher.body({ '2xx': 5, '5xx': 5 }));
    const slo = await eventually('a tick after the start', 15_000, async () => {
      const found = await second.json<SloView>('/api/v1/slos/checkout-availability');
      return found.groups.length > 0 ? found : null;
    });
    assert.equal(slo.groups[0]?.severity, 'page');
    assert.ok((slo.groups[0]?.bad ?? 0) >= (before.groups[0]?.bad ?? 0), 'acknowledged points were lost');
    const alerts = (await second.json<Page<AlertView>>('/api/v1/alerts')).items;
    assert.deepEqual(
      alerts.map(({ name, state, incident: id }) => ({ name, state, id })),
      [{ name: 'ErrorBudgetBurn', state: 'firing', id: incident.id }],
    );
    assert.deepEqual(
      hook.bodies.map(({ reason }) => reason),
      ['opened'],
    );

    const act = async (kind: string, body: object): Promise<Response> =>
      fetch(second.url(`/api/v1/incidents/${incident.id}/${kind}`), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    assert.equal((await act('acknowledge', { by: 'ada' })).status, 200);
    assert.equal((await act('resolve', { by: 'ada', note: 'rolled back' })).status, 200);
    // Too late: a line of the timeline, and nothing more.
    assert.equal((await act('acknowledge', { by: 'late' })).status, 200);
    await eventually('the closing message', 10_000, async () => hook.bodies[1]);
    assert.deepEqual(
      hook.bodies.map(({ reason }) => reason),
      ['opened', 'resolved'],
    );
    const detail = await second.json<IncidentDetailView>(`/api/v1/incidents/${incident.id}`);
    assert.equal(detail.state, 'resolved');
    assert.deepEqual(
      detail.timeline.map(({ change, by }) => [change, by]),
      [
        ['opened', 'slowburn'],
        ['acknowledged', 'ada'],
        ['resolved', 'ada'],
        ['acknowledged', 'late'],
      ],
    );
    const runbook = await fetch(second.url(new URL(detail.runbookUrl).pathname));
    assert.equal(runbook.status, 200);
  });
});

describe('the heartbeat of serve', () => {
  test('arrives at the receiver that Watchdog names, is counted, and is no incident', async () => {
    const [watch, oncall] = [await startHook(), await startHook()];
    hooks.push(watch, oncall);
    const receivers = [
      `{ name: watch, type: webhook, url: "${watch.url}" }`,
      `{ name: oncall, type: webhook, url: "${oncall.url}" }`,
    ];
    const detectors = 'Watchdog: { receiver: watch, every: 10s }\n';
    const directory = newDirectory(
      { ...RULES, 'detectors.yaml': detectors },
      `receivers:\n${receivers.map((receiver) => `  - ${receiver}\n`).join('')}`,
    );
    const service = await start(directory);
    await eventually('two heartbeats', 35_000, async () => watch.bodies[1]);
    const [first, second] = watch.bodies;
    assert.ok(first !== undefined);
    assert.deepEqual([first['reason'], first['severity'], first['seq'], second?.['seq']], ['heartbeat', null, 1, 2]);
    const { runbook, dashboard } = first['links'] as { runbook: string; dashboard: string };
    for (const link of [runbook, dashboard]) assert.equal((await fetch(link)).status, 200, link);
    const metrics = await (await fetch(service.url('/metrics'))).text();
    assert.match(metrics, /slowburn_notifications_total\{receiver="watch",result="delivered"\} [12]/);
    assert.deepEqual((await service.json<Page<AlertView>>('/api/v1/alerts')).items, []);
    assert.deepEqual(await openIncidents(service), []);
    assert.deepEqual(oncall.bodies, []);
  });
});

describe('a wrong SLO file', () => {
  const WRONG = availabilitySlo('quick').replace('target: 0.999', 'target: 100');

  test('serve refuses to start on it and says where, what and how to fix it', async () => {
    const directory = newDirectory({ ...RULES, 'slos/checkout.yaml': WRONG });
    const child = directory.spawn();
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.equal(code, 3);
    assert.match(stderr, /checkout\.yaml:\d+:\d+ CONFIG_TARGET_INVALID .*0\.999/);
  });

  test('a running service keeps the last good rules, and takes up good ones', async () => {
    const directory = newDirectory(RULES);
    const service = await start(directory);
    directory.write('rules/slos/checkout.yaml', WRONG);
    service.child.kill('SIGHUP');
    await eventually('the refusal', 5000, async () => (service.stderr.includes('last good ones') ? true : null));
    assert.match(service.stderr, /CONFIG_TARGET_INVALID/);
    const kept = await service.json<Page<SloView>>('/api/v1/slos');
    assert.deepEqual(
      kept.items.map(({ id, objective }) => ({ id, objective })),
      [{ id: 'checkout-availability', objective: '0.999' }],
    );
    directory.write('rules/slos/checkout.yaml', availabilitySlo('quick').replace('0.999', '0.995'));
    service.child.kill('SIGHUP');
    const objective = await eventually('the new target', 5000, async () => {
      const [slo] = (await service.json<Page<SloView>>('/api/v1/slos')).items;
      return slo?.objective === '0.995' ? slo.objective : null;
    });
    assert.equal(objective, '0.995');
  });
});

describe('bad input over real sockets', () => {
  test('is refused with a Status, counted, and leaves the process up and the good points counted', async () => {
    const service = await start(newDirectory(RULES));
    const protobuf = { 'content-type': 'application/x-protobuf' };
    const status = async (answer: Response): Promise<number> => {
      assert.ok((await answer.arrayBuffer()).byteLength > 0, 'a refusal has a Status body');
      return answer.status;
    };
    assert.equal(await status(await service.push(Uint8Array.from([0x0a, 0x50, 0x01]), protobuf)), 400);
    assert.equal(await status(await service.push('{}', { 'content-type': 'text/plain' })), 415);
    assert.equal(await status(await service.push('{}', { 'content-encoding': 'br' })), 415);
    assert.equal(
      await status(await service.push(gzipSync(Buffer.alloc(70 << 20)), { ...protobuf, 'content-encoding': 'gzip' })),
      413,
    );
    assert.equal(await status(await service.push(gzipSync('{}').subarray(0, 12), { 'content-encoding': 'gzip' })), 400);

    const good = JSON.parse(new Pusher().body({ '2xx': 7, '5xx': 3 })) as {
      resourceMetrics: { scopeMetrics: { metrics: { sum: { dataPoints: object[] } }[] }[] }[];
    };
    good.resourceMetrics[0]?.scopeMetrics[0]?.metrics[0]?.sum.dataPoints.push({ timeUnixNano: '0', asInt: '1' });
    const answer = await service.push(JSON.stringify(good));
    assert.equal(answer.status, 200);
    const { partialSuccess } = (await answer.json()) as {
      partialSuccess: { rejectedDataPoints: string; errorMessage: string };
    };
    assert.equal(partialSuccess.rejectedDataPoints, '1');
    assert.match(partialSuccess.errorMessage, /time_missing/);

    const metrics = await (await fetch(service.url('/metrics'))).text();
    assert.match(metrics, /slowburn_otlp_requests_total\{transport="http",outcome="malformed"\} 2/);
    assert.match(metrics, /slowburn_otlp_requests_total\{transport="http",outcome="unsupported"\} 2/);
    assert.match(metrics, /slowburn_otlp_requests_total\{transport="http",outcome="too_large"\} 1/);
    assert.match(metrics, /time_missing"\} 1/);
    assert.equal((await fetch(service.url('/healthz'))).status, 200);
    assert.equal((await fetch(service.url('/readyz'))).status, 200);
  });
});
