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
    const canaries = canariesOf(size);
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

/** Of the balancers, first, in a rollout by stages; then all of the rest at once or stage by stage. */
const canariesOf = ({ balancers }: Size): number[] =>
  Array.from({ length: Math.max(1, Math.round(CANARY_SHARE * balancers)) }, (_, i) => i);

const harmless = (atMs: number, balancers: BalancerChoice): TimedChange => ({
  at: atMs,
  change: { kind: 'config', balancers, version: 'v2', effect: {} },
});

const HEALTHY_EDGE = { regions: 2, cluster: { policy: 'round-robin' } } as const;
const NO_VERSION = 'Envoy names no config version';

export const configPushUnstaged: Scenario = {
  name: 'config-push-unstaged',
  title: 'just a route, and harmless: on every balancer within seconds, with no canary before',
  size: { hosts: 20, balancers: 10, zones: 2, requestsPerS: 5000 },
  range: { hosts: [5, 200], balancers: [2, 50], zones: [1, 4], requestsPerS: [100, 400_000] },
  plan(size, seed) {
    return {
      fleet: sizedFleet(size, { seed, ...HEALTHY_EDGE }),
      timeline: [harmless(FAULT_AT_MS, 'all')],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + 10 * MINUTE_MS,
      untilMs: FAULT_AT_MS + 40 * MINUTE_MS,
      expected: incident(ALERT.configPushUnstaged, {
        severity: 'ticket',
        withinMs: MINUTE_MS,
        pages: 0,
        evidence: [named('the version', /\bv2\b/), named('how far it came how fast', /of \d+ balancers within/)],
      }),
      expectedOfEnvoy: quiet(0, NO_VERSION),
    };
  },
};

/** Nine tenths of all requests fail for a quarter of an hour: 13.5 of the 43.2 minutes that 99.9 % of 30 days allow. */
const BUDGET = { failShare: 0.9, lastsMs: 15 * MINUTE_MS } as const;

export const configBudgetSpent: Scenario = {
  name: 'config-budget-spent',
  title: 'a version without a header that hosts need, everywhere for 15 min: it uses a third of the budget',
  size: { hosts: 20, balancers: 10, zones: 2, requestsPerS: 5000 },
  range: { hosts: [5, 200], balancers: [2, 50], zones: [1, 4], requestsPerS: [500, 400_000] },
  plan(size, seed) {
    const { failShare, lastsMs } = BUDGET;
    const hostsFail = (atMs: number, share: number): TimedChange => ({
      at: atMs,
      change: { kind: 'hosts', cluster: 0, hosts: 'all', set: { failShare: share, failMs: 30 } },
    });
    return {
      fleet: sizedFleet(size, { seed, ...HEALTHY_EDGE }),
      timeline: [
        harmless(FAULT_AT_MS, 'all'),
        hostsFail(FAULT_AT_MS, failShare),
        rolledBack(FAULT_AT_MS + lastsMs),
        hostsFail(FAULT_AT_MS + lastsMs, 0),
      ],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + lastsMs,
      untilMs: FAULT_AT_MS + 75 * MINUTE_MS,
      expected: incident(ALERT.configPushRegression, {
        alternatives: [ALERT.configPushUnstaged],
        members: [ALERT.configBudgetSpent],
        severity: 'page',
        withinMs: 6 * MINUTE_MS,
        pages: 1,
        ends: 'calmed',
        evidence: [
          named('the version', /\bv2\b/),
          named('what rollouts have used', /Config rollouts used (2[5-9]|3\d) % of the error budget/),
          named('that changes must wait', /freeze/),
        ],
      }),
      expectedOfEnvoy: incident(ALERT.upstreamErrors, {
        alternatives: [ALERT.errorBudgetBurn],
        severity: 'page',
        withinMs: 6 * MINUTE_MS,
        pages: 1,
        ends: 'calmed',
        evidence: [],
        because: NO_VERSION,
      }),
    };
  },
};

const REJECT_AT_MS = FAULT_AT_MS + 10 * MINUTE_MS;
const ACCEPT_AT_MS = REJECT_AT_MS + 30 * MINUTE_MS;

export const configDrift: Scenario = {
  name: 'config-drift',
  title: 'a rollout by stages that every second balancer refuses: canaries, then everybody; served on as before',
  size: { hosts: 20, balancers: 12, zones: 2, requestsPerS: 5000 },
  range: { hosts: [5, 200], balancers: [4, 50], zones: [1, 4], requestsPerS: [100, 400_000] },
  plan(size, seed) {
    const sized = sizedFleet(size, { seed, ...HEALTHY_EDGE });
    const canaries = canariesOf(size);
    const refusing = [...sized.balancers.keys()].filter((i) => i % 2 === 1 && !canaries.includes(i));
    const drift = incident(ALERT.configDrift, {
      severity: 'ticket',
      withinMs: 90_000,
      pages: 0,
      evidence: [named('who refuses', /balancers? .*refuse/), named('that traffic is served', /serve on/)],
    });
    return {
      fleet: {
        ...sized,
        balancers: sized.balancers.map((one, i) => ({ ...one, stage: canaries.includes(i) ? 0 : 3 })),
      },
      timeline: [
        harmless(FAULT_AT_MS, canaries),
        { at: REJECT_AT_MS, change: { kind: 'config_updates', balancers: refusing, accepted: false } },
        harmless(REJECT_AT_MS, 'all'),
        { at: ACCEPT_AT_MS, change: { kind: 'config_updates', balancers: 'all', accepted: true } },
        harmless(ACCEPT_AT_MS, 'all'),
      ],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: REJECT_AT_MS,
      overAtMs: ACCEPT_AT_MS,
      untilMs: ACCEPT_AT_MS + 20 * MINUTE_MS,
      expected: drift,
      // It names no version, so that what it took up later is not known: the alert goes on until an hour is over.
      expectedOfEnvoy: { ...drift, ends: 'lasting', because: NO_VERSION },
    };
  },
};
