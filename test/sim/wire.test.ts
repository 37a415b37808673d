import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { IncidentWatch, type Pace, rehearseOverWire } from '../../src/sim/drill/wire.ts';
import { MINUTE_MS } from '../../src/sim/scenarios/fleets.ts';
import type { Plan } from '../../src/sim/scenarios/scenario.ts';
import { ServiceDirectory } from '../support/live-service.ts';
import { outage } from '../support/outage-plan.ts';
import { VirtualService } from '../support/virtual-service.ts';

const NOW = epochMs(Date.UTC(2026, 5, 1, 9, 0, 3));

async function rehearsed(plan: Plan, config = '') {
  const directory = new ServiceDirectory({
    rules: { 'detectors.yaml': 'UpstreamErrors: { enabled: true }\n' },
    config,
  });
  const service = await VirtualService.start(directory, NOW);
  try {
    const { http, otlpHttp } = service.app.ports;
    const pace: Pace = { now: () => service.now, until: (at) => service.advanceTo(at) };
    const rehearsal = await rehearseOverWire({
      plan,
      flavor: 'envoy',
      target: `http://127.0.0.1:${otlpHttp}/`,
      api: `http://127.0.0.1:${http}`,
      warmUpMs: 2 * MINUTE_MS,
      pace,
    });
    const { items } = await service.json<{ items: { id: string; flavor: string }[] }>('/api/v1/fleet');
    return { rehearsal, fleet: items.map(({ id, flavor }) => `${id} ${flavor}`) };
  } finally {
    await service.stop();
    directory.remove();
  }
}

const short = (): Plan => {
  const plan = outage(3);
  assert.ok(plan.expected.kind === 'incident');
  const expected = { ...plan.expected, ends: 'lasting' } as const;
  return { ...plan, untilMs: plan.faultAtMs + 6 * MINUTE_MS, expected, expectedOfEnvoy: expected };
};

describe('a drill over the wire', () => {
  test('is pushed to the whole service over sockets and judged by its API', async () => {
    const { rehearsal, fleet } = await rehearsed(short());
    assert.ok(typeof rehearsal !== 'string', String(rehearsal));
    assert.deepEqual(rehearsal.verdict.misses, []);
    assert.equal(rehearsal.verdict.pages, 1);
    assert.ok((rehearsal.verdict.detectedAfterMs ?? Number.POSITIVE_INFINITY) <= 3 * MINUTE_MS);
    assert.ok(rehearsal.points > 0 && rehearsal.impact.peakShare > 0.2);
    assert.deepEqual(fleet, ['lb-0 envoy', 'lb-1 envoy']);
  });

  test('a service that refuses pushes ends it with its answer', async () => {
    const { rehearsal } = await rehearsed(
      short(),
      'tokens: [{ name: fleet, role: push, value: secret-of-the-fleet }]\n',
    );
    assert.match(String(rehearsal), /\/v1\/metrics answered 401/);
  });
});

describe('incidents that are watched over the API', () => {
  const at = (second: number): string => new Date(NOW + second * 1000).toISOString();
  const send = (reason: string, second: number) => ({ episode: 1, reason, at: at(second) });
  const detail = { id: 1, openedAt: at(0), state: 'open', tier: null, runbook: '', title: '', members: [] };
  const lead = { name: 'UpstreamErrors' };

  /** Pages counted after each of the answers about one incident. */
  async function watched(answers: readonly { severity: string; sends: readonly object[] }[]): Promise<number[]> {
    let turn = 0;
    const server = createServer((request, response) => {
      const isList = request.url === '/api/v1/incidents';
      response.end(JSON.stringify(isList ? { items: [detail] } : { ...detail, lead, ...answers[turn] }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const watch = new IncidentWatch(`http://127.0.0.1:${port}`, NOW);
    const pages: number[] = [];
    for (; turn < answers.length; turn += 1) {
      await watch.look(NOW);
      pages.push(watch.cases()[0]?.pages.length ?? 0);
    }
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    return pages;
  }

  test('a message that told a ticket is no page after it rose, and a page stays one after it fell', async () => {
    const [opened, rose] = [send('opened', 0), send('escalated', 10)];
    const sends = [opened, rose];
    const fallen = [...sends, send('deescalated', 20)];
    assert.deepEqual(
      await watched([
        { severity: 'ticket', sends: [opened] },
        { severity: 'page', sends },
        { severity: 'ticket', sends: fallen },
        { severity: 'page', sends: [...fallen, send('escalated', 30)] },
      ]),
      [0, 1, 1, 2],
    );
  });

  test('several receivers of one message are one page; without a receiver a page counts once', async () => {
    const opened = send('opened', 0);
    assert.deepEqual(await watched([{ severity: 'page', sends: [opened, opened] }]), [1]);
    assert.deepEqual(
      await watched([
        { severity: 'ticket', sends: [] },
        { severity: 'page', sends: [] },
        { severity: 'page', sends: [opened] },
      ]),
      [0, 1, 1],
    );
  });
});
