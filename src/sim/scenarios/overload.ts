import { ALERT } from '../../model/conventions.ts';
import type { HostBehaviour } from '../faults/change.ts';
import { hostsOf } from '../fleet-spec.ts';
import { ACTIVE_CHECKS } from '../health/active-checks.ts';
import { OUTLIERS } from '../health/outlier-ejection.ts';
import { incident, named } from './expectations.ts';
import { MINUTE_MS, SECOND_MS, sizedFleet } from './fleets.ts';
import type { Scenario } from './scenario.ts';

const FAULT_AT_MS = 20 * MINUTE_MS;
const BLIP_MS = 30 * SECOND_MS;
const BLIP_SLOWER = 4;
/** What waits longer is given up, and its work is done for nobody: that keeps the storm going. */
const TIMEOUT_MS = 400;
/** Of balancers, and of clients: a request may reach hosts 4 x 4 times. */
const RETRIES = 3;
/** What hosts use of their capacity, and how much that is: few slots, so that work in vain fills them. */
const USE = 0.5;
const SLOTS = 3;
const PER_HOST_MIN = 25;
/** Sixteen times the requests, each an event: no longer than it takes to see that nothing ends it. */
const STORM_MS = 5 * MINUTE_MS;

export const retryLayers: Scenario = {
  name: 'retry-layers',
  title: 'hosts are slow for 30 s; balancers and clients both retry three times, and keep them down for 5 min',
  size: { hosts: 8, balancers: 3, zones: 1, requestsPerS: 200 },
  range: { hosts: [5, 8], balancers: [2, 8], zones: [1, 4], requestsPerS: [100, 600] },
  plan(drawn, seed) {
    const size = { ...drawn, requestsPerS: Math.max(drawn.requestsPerS, PER_HOST_MIN * drawn.hosts) };
    const serviceMs = (SECOND_MS * USE * SLOTS * size.hosts) / size.requestsPerS;
    const hosts = hostsOf(size.hosts, { slots: SLOTS, serviceMs, name: 'app' }, size.zones);
    const storm = {
      severity: 'page',
      withinMs: 4 * MINUTE_MS,
      pages: 1,
      ends: 'calmed',
      evidence: [named('retries beside requests', /retries beside \d+ requests/)],
    } as const;
    const set = (behaviour: HostBehaviour) => ({ kind: 'hosts', cluster: 0, hosts: 'all', set: behaviour }) as const;
    const cluster = { hosts, retries: { max: RETRIES, budget: 1 }, clientRetries: RETRIES, timeoutMs: TIMEOUT_MS };
    return {
      fleet: sizedFleet(size, { seed, cluster }),
      timeline: [
        { at: FAULT_AT_MS, change: set({ slow: BLIP_SLOWER }) },
        { at: FAULT_AT_MS + BLIP_MS, change: set({ slow: 1 }) },
        { at: FAULT_AT_MS + STORM_MS, change: { kind: 'retries', cluster: 0, balancers: 0, clients: 0 } },
      ],
      engine: 'exact',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + STORM_MS,
      untilMs: FAULT_AT_MS + STORM_MS + 45 * MINUTE_MS,
      expected: incident(ALERT.retryStorm, {
        ...storm,
        evidence: [...storm.evidence, named('both layers', /\b(edge and client|client and edge)\b/)],
      }),
      expectedOfEnvoy: incident(ALERT.retryStorm, { ...storm, because: 'Envoy tells its own retries only' }),
    };
  },
};

/** Hosts whose requests wait for the dependency until their time is up. The others have what they need in a cache. */
const WAITING_SHARE = 0.6;
const DEPENDENCY_TIMEOUT_MS = 2000;
const DEPENDENCY_FOR_MS = 15 * MINUTE_MS;
const SERVICE_S = 0.04;
/** Requests that a balancer may have in flight: so many times the usual, and some more where that is few. */
const IN_FLIGHT_TIMES = 4;
const IN_FLIGHT_MORE = 10;

export const dependencySlow: Scenario = {
  name: 'dependency-slow',
  title: 'what hosts call is slow: 60 % of them time out, and balancers reject what is beyond their limit, for 15 min',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 800 },
  range: { hosts: [5, 100], balancers: [2, 10], zones: [1, 4], requestsPerS: [200, 100_000] },
  plan(size, seed) {
    const waiting = Array.from({ length: Math.round(WAITING_SHARE * size.hosts) }, (_, i) => i);
    const perBalancer = (size.requestsPerS / size.balancers) * SERVICE_S;
    const set = (behaviour: HostBehaviour) => ({ kind: 'hosts', cluster: 0, hosts: waiting, set: behaviour }) as const;
    const expected = incident(ALERT.admissionRejections, {
      severity: 'page',
      withinMs: 2 * MINUTE_MS,
      pages: 1,
      ends: 'calmed',
      evidence: [
        named('that a limit is reached', /limit of requests/),
        named('a dependency, not single hosts', /\d+ of \d+ hosts .* depend/),
      ],
    });
    return {
      fleet: sizedFleet(size, {
        seed,
        cluster: {
          policy: 'round-robin',
          checks: ACTIVE_CHECKS,
          outliers: OUTLIERS,
          timeoutMs: DEPENDENCY_TIMEOUT_MS,
          maxInFlight: Math.ceil(IN_FLIGHT_TIMES * perBalancer + IN_FLIGHT_MORE),
        },
      }),
      timeline: [
        { at: FAULT_AT_MS, change: set({ reach: 'hangs', probes: 'pass' }) },
        { at: FAULT_AT_MS + DEPENDENCY_FOR_MS, change: set({ reach: 'up', probes: 'real' }) },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + DEPENDENCY_FOR_MS,
      untilMs: FAULT_AT_MS + DEPENDENCY_FOR_MS + 60 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};
