import { ALERT } from '../../model/conventions.ts';
import type { TimedChange } from '../faults/change.ts';
import { CLUSTER, type ClusterSpec, type FleetSpec, hostsOf } from '../fleet-spec.ts';
import { ACTIVE_CHECKS } from '../health/active-checks.ts';
import { incident, named, quiet } from './expectations.ts';
import { edgeFleet, MINUTE_MS, sizedFleet } from './fleets.ts';
import type { Plan, Scenario, Size } from './scenario.ts';

const FAULT_AT_MS = 20 * MINUTE_MS;
const BLIP_MS = 30_000;
const HOSTS_PER_SERVICE = 5;
/** Share of the services that route to nobody rather than to hosts that fail their checks: 34 of 140. */
const WITHOUT_PANIC = 34 / 140;

/**
 * Checks of every service call one auth service, which takes 3 s for half a minute; they wait 2 s. Requests do not ask
 * it: hosts are as well as ever.
 */
const blip = (clusters: number): TimedChange[] =>
  Array.from({ length: clusters }, (_, cluster) => cluster).flatMap((cluster) => {
    const probes = (see: 'fail' | 'real') => ({ kind: 'hosts', cluster, hosts: 'all', set: { probes: see } }) as const;
    return [
      { at: FAULT_AT_MS, change: probes('fail') },
      { at: FAULT_AT_MS + BLIP_MS, change: probes('real') },
    ];
  });

function services(size: Size, withoutPanic: number): ClusterSpec[] {
  const count = Math.max(8, Math.round(size.hosts / HOSTS_PER_SERVICE));
  const requestsPerS = size.requestsPerS / count;
  return Array.from({ length: count }, (_, i) => ({
    ...CLUSTER,
    name: `service-${i}`,
    requestsPerS,
    hosts: hostsOf(HOSTS_PER_SERVICE, { name: `s${i}`, slots: Math.max(4, Math.ceil(requestsPerS / 40)) }, size.zones),
    checks: { ...ACTIVE_CHECKS, failuresToDown: 3, passesToUp: 3 },
    panicBelow: i < Math.round(withoutPanic * count) ? 0 : 0.5,
  }));
}

const cascadeFleet = (size: Size, seed: number, withoutPanic: number): FleetSpec =>
  edgeFleet(size, { seed }, services(size, withoutPanic));

const cascade = (fleet: FleetSpec): Plan => {
  const expected = incident(ALERT.healthCheckCascade, {
    severity: 'page',
    withinMs: 90_000,
    pages: 1,
    ends: 'calmed',
    evidence: [named('how many clusters fell', /\b\d+ (of \d+ )?clusters\b/)],
  });
  return {
    fleet,
    timeline: blip(fleet.clusters.length),
    engine: 'fluid',
    pushMs: 10_000,
    faultAtMs: FAULT_AT_MS,
    overAtMs: FAULT_AT_MS + 60_000,
    untilMs: FAULT_AT_MS + 60 * MINUTE_MS,
    expected,
    expectedOfEnvoy: expected,
  };
};

const SIZE: Size = { hosts: 700, balancers: 2, zones: 2, requestsPerS: 7000 };
const RANGE = { hosts: [50, 200], balancers: [2, 6], zones: [1, 4], requestsPerS: [500, 50_000] } as const;

export const healthCascade: Scenario = {
  name: 'health-cascade',
  title: 'deep checks call a service that is slow for 30 s; a quarter of the pools empties',
  size: SIZE,
  range: RANGE,
  plan: (size, seed) => cascade(cascadeFleet(size, seed, WITHOUT_PANIC)),
};

export const healthCascadePanic: Scenario = {
  name: 'health-cascade-panic',
  title: 'the same with panic routing everywhere: no pool empties, one page still',
  size: SIZE,
  range: RANGE,
  plan: (size, seed) => cascade(cascadeFleet(size, seed, 0)),
};

/** In and out: eight times an hour. */
const FLAPS = { times: 5, everyMs: 7.5 * MINUTE_MS, downMs: 3 * MINUTE_MS } as const;

export const healthFlapping: Scenario = {
  name: 'health-flapping',
  title: 'the check of one host fails for 3 min every 7.5 min; whoever reaches it is served',
  size: { hosts: 12, balancers: 2, zones: 1, requestsPerS: 300 },
  range: { hosts: [10, 60], balancers: [2, 10], zones: [1, 4], requestsPerS: [100, 50_000] },
  plan(size, seed) {
    const probes = (see: 'fail' | 'real') => ({ kind: 'hosts', cluster: 0, hosts: [1], set: { probes: see } }) as const;
    const overAtMs = FAULT_AT_MS + FLAPS.times * FLAPS.everyMs;
    const expected = incident(ALERT.healthCheckFlapping, {
      severity: 'ticket',
      // The seventh change of health is the fourth time that it falls.
      withinMs: 3 * FLAPS.everyMs + MINUTE_MS,
      pages: 0,
      evidence: [named('the host', /\bapp-1\b/), named('how often', /\d+ changes of health/)],
    });
    return {
      fleet: sizedFleet(size, { seed, cluster: { checks: ACTIVE_CHECKS } }),
      timeline: Array.from({ length: FLAPS.times }, (_, i) => FAULT_AT_MS + i * FLAPS.everyMs).flatMap(
        (at): TimedChange[] => [
          { at, change: probes('fail') },
          { at: at + FLAPS.downMs, change: probes('real') },
        ],
      ),
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs,
      untilMs: overAtMs + 70 * MINUTE_MS,
      expected,
      expectedOfEnvoy: quiet(0, 'Envoy tells how many hosts are healthy, not which'),
    };
  },
};
