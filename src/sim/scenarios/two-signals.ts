import { ALERT } from '../../model/conventions.ts';
import { ACTIVE_CHECKS, TWO_SIGNAL } from '../health/active-checks.ts';
import { incident, named, quiet } from './expectations.ts';
import { MINUTE_MS, sizedFleet } from './fleets.ts';
import type { Scenario, Size } from './scenario.ts';

const FAULT_AT_MS = 20 * MINUTE_MS;
const LASTS_MS = 10 * MINUTE_MS;
/** A host is taken out when its probes fail and its requests do. */
const CHECKS = { ...ACTIVE_CHECKS, twoSignal: TWO_SIGNAL } as const;
/** Share of all requests that the bad host fails: enough to see, too little to wake anybody. */
const FAILING = 0.003;
const BAD = 0;

const fleetOf = (size: Size, seed: number) => sizedFleet(size, { seed, cluster: { checks: CHECKS } });
const RANGE = { balancers: [2, 20], zones: [1, 4] } as const;

export const twoSignalChecks: Scenario = {
  name: 'two-signal-checks',
  title: 'checks that ask for two signals: a host whose probes pass fails some of its requests, and stays in',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 400 },
  range: { ...RANGE, hosts: [10, 40], requestsPerS: [800, 50_000] },
  plan(size, seed) {
    const set = (failShare: number) =>
      ({ kind: 'hosts', cluster: 0, hosts: [BAD], set: { failShare, failMs: 30, probes: 'pass' } }) as const;
    const found = {
      severity: 'ticket',
      withinMs: 5 * MINUTE_MS,
      pages: 0,
      ends: 'calmed',
    } as const;
    return {
      fleet: fleetOf(size, seed),
      timeline: [
        { at: FAULT_AT_MS, change: set(FAILING * size.hosts) },
        { at: FAULT_AT_MS + LASTS_MS, change: set(0) },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + LASTS_MS + 20 * MINUTE_MS,
      expected: incident(ALERT.hostOutlier, {
        ...found,
        evidence: [named('the host', /\bapp-0\b/), named('that it fails more than its peers', /peers|others/)],
      }),
      expectedOfEnvoy: incident(ALERT.hostOutlier, {
        ...found,
        evidence: [named('the host', /\b10\.0\.0\.0:8080\b/)],
        because: 'Envoy names hosts by their addresses',
      }),
    };
  },
};

export const twoSignalCalm: Scenario = {
  name: 'two-signal-calm',
  title: 'quiet control: the same checks, every probe fails for 10 min, and hosts serve on: none is taken out',
  size: { hosts: 20, balancers: 4, zones: 2, requestsPerS: 400 },
  range: { ...RANGE, hosts: [5, 60], requestsPerS: [100, 50_000] },
  plan(size, seed) {
    const see = (probes: 'fail' | 'real') => ({ kind: 'hosts', cluster: 0, hosts: 'all', set: { probes } }) as const;
    return {
      fleet: fleetOf(size, seed),
      timeline: [
        { at: FAULT_AT_MS, change: see('fail') },
        { at: FAULT_AT_MS + LASTS_MS, change: see('real') },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + LASTS_MS + 10 * MINUTE_MS,
      expected: quiet(),
      expectedOfEnvoy: quiet(),
    };
  },
};
