import { ALERT } from '../../model/conventions.ts';
import type { BalancerChoice, TimedChange } from '../faults/change.ts';
import type { FleetSpec } from '../fleet-spec.ts';
import { incident, named, quiet } from './expectations.ts';
import { coresOf, MINUTE_MS, sizedFleet } from './fleets.ts';
import type { Scenario, Size } from './scenario.ts';

const FAULT_AT_MS = 30 * MINUTE_MS;
/** Work per core that the bad version makes of the traffic: more than there is. */
const OVERLOAD = 1.8;
const CANARY_SHARE = 0.05;
/** Requests per second of a balancer below which one core is too many to saturate. */
const PER_BALANCER_MIN = 2500;

const fleetOfSize = (size: Size, seed: number): FleetSpec =>
  sizedFleet(
    { ...size, requestsPerS: Math.max(size.requestsPerS, PER_BALANCER_MIN * size.balancers) },
    { seed, balancerUse: 0.3, regions: 2, cluster: { policy: 'round-robin' }, tls: { burstiness: 25 } },
  );

/** A route's expression that backtracks: so much CPU per request that all of it is gone. */
function badVersion(fleet: FleetSpec, atMs: number, balancers: BalancerChoice): TimedChange {
  const requestsPerS = fleet.clusters.reduce((sum, cluster) => sum + cluster.requestsPerS, 0);
  const cpuFactor = (OVERLOAD * coresOf(fleet)) / (requestsPerS * 1.2e-4);
  return { at: atMs, change: { kind: 'config', balancers, version: 'v2', effect: { cpuFactor } } };
}

const rolledBack = (atMs: number): TimedChange => ({
  at: atMs,
  change: { kind: 'config', balancers: 'all', version: 'v1', effect: {} },
});

const BLIND = 'Envoy names no config version and no CPU, and requests that it loses itself are no 5xx of a cluster';
const SIZE: Size = { hosts: 40, balancers: 12, zones: 2, requestsPerS: 100_000 };
const RANGE = { hosts: [5, 200], balancers: [4, 50], zones: [2, 4], requestsPerS: [5000, 400_000] } as const;

export const configPushGlobal: Scenario = {
  name: 'config-push-global',
  title: 'a bad route pushed to every balancer at once: CPU 100 % in every region',
  size: SIZE,
  range: RANGE,
  plan(size, seed) {
    const fleet = fleetOfSize(size, seed);
    return {
      fleet,
      timeline: [badVersion(fleet, FAULT_AT_MS, 'all'), rolledBack(FAULT_AT_MS + 9 * MINUTE_MS)],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + 9 * MINUTE_MS,
      untilMs: FAULT_AT_MS + 75 * MINUTE_MS,
      expected: incident(ALERT.configPushRegression, {
        severity: 'page',
        withinMs: 6 * MINUTE_MS,
        pages: 1,
        ends: 'calmed',
        evidence: [
          named('the version', /\bv2\b/),
          named('CPU', /CPU/),
          named('that the version before was better', /roll back|does worse/),
        ],
      }),
      expectedOfEnvoy: incident(ALERT.errorBudgetBurn, {
        alternatives: [ALERT.stageTailShift],
        severity: 'page',
        withinMs: 6 * MINUTE_MS,
        pages: 1,
        ends: 'calmed',
        runbook: ALERT.errorBudgetBurn,
        evidence: [],
        because: BLIND,
      }),
    };
  },
};

export const configPushCanary: Scenario = {
  name: 'config-push-canary',
  title: 'the same stopped at the canary: a verdict, and nobody is woken',
  size: { ...SIZE, balancers: 20 },
  range: { ...RANGE, balancers: [20, 50] },
  plan(size, seed) {
    const fleet = fleetOfSize(size, seed);
    const canaries = Array.from({ length: Math.max(1, Math.round(CANARY_SHARE * size.balancers)) }, (_, i) => i);
    return {
      fleet,
      timeline: [badVersion(fleet, FAULT_AT_MS, canaries), rolledBack(FAULT_AT_MS + 10 * MINUTE_MS)],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + 10 * MINUTE_MS,
      untilMs: FAULT_AT_MS + 75 * MINUTE_MS,
      expected: incident(ALERT.configPushRegression, {
        severity: 'ticket',
        withinMs: 10 * MINUTE_MS,
        pages: 0,
        evidence: [named('the version', /\bv2\b/), named('that only canaries run it', /canary/)],
      }),
      expectedOfEnvoy: quiet(1, BLIND),
    };
  },
};
