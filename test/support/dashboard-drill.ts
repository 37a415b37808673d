import { setTimeout as sleep } from 'node:timers/promises';
import { epochMs } from '../../src/base/units.ts';
import { ATTRIBUTE } from '../../src/model/conventions.ts';
import { pushOverWire } from '../../src/sim/drill/push.ts';
import { createEmitter } from '../../src/sim/emit/emitter.ts';
import type { TimedChange } from '../../src/sim/faults/change.ts';
import type { Fleet } from '../../src/sim/fleet.ts';
import { CLUSTER, type ClusterSpec, type FleetSpec, hostsOf } from '../../src/sim/fleet-spec.ts';
import { ACTIVE_CHECKS } from '../../src/sim/health/active-checks.ts';
import { OUTLIERS } from '../../src/sim/health/outlier-ejection.ts';
import { edgeFleet } from '../../src/sim/scenarios/fleets.ts';
import { createSimulation } from '../../src/sim/simulation.ts';

const PUSH_MS = 10_000;
const S = 1000;
/** All faults have begun by then, and those that leave marks in rates are a minute old at most. */
export const DRILL_MS = 230 * S;
/** Versions that reach balancers after the first one. */
export const ROLLOUTS = ['v2', 'v3'] as const;

const cluster = (name: string, requestsPerS: number, hosts: number, over: Partial<ClusterSpec>): ClusterSpec => ({
  ...CLUSTER,
  name,
  requestsPerS,
  hosts: hostsOf(hosts, { name, slots: 16 }, 2),
  checks: ACTIVE_CHECKS,
  ...over,
});

/** Three clusters behind four balancers. Handshakes that wait for CPU at all are given up soon. */
function fleetSpec(): FleetSpec {
  const retries = { max: 2, budget: 0.2 };
  const clusters = [
    cluster('app', 150, 10, { policy: 'least-connections', outliers: OUTLIERS, retries, clientRetries: 1 }),
    cluster('search', 40, 4, { maxInFlight: 2 }),
    cluster('auth', 10, 2, { panicBelow: 0 }),
  ];
  const size = { hosts: 16, balancers: 4, zones: 2, requestsPerS: 200 };
  const l4 = { nodes: 8, hashing: 'mod', tracking: false } as const;
  const shape = { seed: 1, requestsPerConnection: 4, tls: { burstiness: 4 }, clients: { handshakeTimeoutMs: 25 } };
  return { ...edgeFleet(size, shape, clusters), l4 };
}

/** Something of everything that a panel shows, and an incident that is still on at the end. */
const TIMELINE: readonly TimedChange[] = [
  { at: 60 * S, change: { kind: 'hosts', cluster: 0, hosts: [0], set: { failShare: 1, failMs: 2 } } },
  { at: 60 * S, change: { kind: 'hosts', cluster: 0, hosts: [3, 4, 5], set: { failShare: 0.3, failMs: 40 } } },
  { at: 70 * S, change: { kind: 'config', balancers: [0], version: 'v2', effect: { cpuFactor: 60 } } },
  { at: 80 * S, change: { kind: 'l4_nodes', nodes: 10 } },
  { at: 80 * S, change: { kind: 'config_updates', balancers: [3], accepted: false } },
  { at: 90 * S, change: { kind: 'hosts', cluster: 1, hosts: 'all', set: { probes: 'fail' } } },
  { at: 90 * S, change: { kind: 'hosts', cluster: 2, hosts: 'all', set: { probes: 'fail' } } },
  { at: 100 * S, change: { kind: 'config', balancers: [1, 3], version: 'v3', effect: {} } },
  { at: 100 * S, change: { kind: 'traffic', cluster: 1, requests: 5 } },
  { at: 110 * S, change: { kind: 'accept_rate', balancers: [1], acceptsPerS: 1 } },
  { at: 150 * S, change: { kind: 'l4_nodes', nodes: 8 } },
  { at: 170 * S, change: { kind: 'accept_rate', balancers: [1], acceptsPerS: 1000 } },
];

/** What the machine of a balancer counts, as a node's own exporter would send it beside the balancer's. */
const KERNEL = ['listen_drops', 'retransmits', 'syn_retransmits', 'timeouts', 'resets_sent', 'syncookies_sent'];

function kernelBody(balancer: string, startMs: number, atMs: number): string {
  const attribute = { key: ATTRIBUTE.instance, value: { stringValue: balancer } };
  const point = (total: number) => ({
    startTimeUnixNano: `${startMs}000000`,
    timeUnixNano: `${atMs}000000`,
    asInt: String(total),
  });
  const metrics = KERNEL.map((name, index) => ({
    name: `lb.host.tcp.${name}`,
    sum: {
      aggregationTemporality: 2,
      isMonotonic: true,
      dataPoints: [point(Math.round(((atMs - startMs) / S) * (index + 1)))],
    },
  }));
  return JSON.stringify({ resourceMetrics: [{ resource: { attributes: [attribute] }, scopeMetrics: [{ metrics }] }] });
}

/** Lets the fleet live in real time and push to `target`, OTLP over HTTP. Returns it as it is after the last push. */
export async function drillFleet(target: string): Promise<Fleet> {
  const simulation = createSimulation(fleetSpec(), TIMELINE);
  const epoch = Date.now();
  const emitter = createEmitter(simulation.fleet, 'canonical', epochMs(epoch));
  for (let now = PUSH_MS; now <= DRILL_MS; now += PUSH_MS) {
    await sleep(Math.max(0, epoch + now - Date.now()));
    simulation.advanceTo(now);
    await pushOverWire(emitter, target, now);
    const answer = await fetch(`${target}/v1/metrics`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: kernelBody('lb-0', epoch, epoch + now),
    });
    if (!answer.ok) throw new Error(`the kernel's counters were answered ${answer.status}: ${await answer.text()}`);
  }
  return simulation.fleet;
}
