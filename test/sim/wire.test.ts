import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { type Pace, rehearseOverWire } from '../../src/sim/drill/wire.ts';
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
