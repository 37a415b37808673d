import { ALERT } from '../../model/conventions.ts';
import { incident, named } from './expectations.ts';
import { MINUTE_MS, sizedFleet } from './fleets.ts';
import type { Scenario } from './scenario.ts';

const FAULT_AT_MS = 20 * MINUTE_MS;
const LASTS_MS = 15 * MINUTE_MS;
/** 40 ms to 400 ms. */
const SLOWER = 10;
/** Hosts wait for others, not for their CPU: slots enough for the slow time. */
const HOST_USE = 0.03;

export const hostsSlow: Scenario = {
  name: 'hosts-slow',
  title: 'every host of a cluster answers in 400 ms instead of 40: what they call is slow, nothing fails',
  size: { hosts: 20, balancers: 2, zones: 1, requestsPerS: 800 },
  range: { hosts: [5, 100], balancers: [2, 10], zones: [1, 4], requestsPerS: [100, 20_000] },
  plan(size, seed) {
    const expected = incident(ALERT.errorBudgetBurn, {
      severity: 'page',
      // 14.4 % of an hour's requests: nine minutes of them, where nearly all are slow.
      withinMs: 12 * MINUTE_MS,
      pages: 1,
      ends: 'calmed',
      evidence: [named('the objective', /\bupstream-latency\b|within 250 ms/)],
    });
    return {
      fleet: sizedFleet(size, { seed, hostUse: HOST_USE }),
      timeline: [
        { at: FAULT_AT_MS, change: { kind: 'hosts', cluster: 0, hosts: 'all', set: { slow: SLOWER } } },
        { at: FAULT_AT_MS + LASTS_MS, change: { kind: 'hosts', cluster: 0, hosts: 'all', set: { slow: 1 } } },
      ],
      engine: null,
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + 75 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};
