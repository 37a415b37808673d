import { ALERT } from '../../model/conventions.ts';
import type { TimedChange } from '../faults/change.ts';
import { incident, named } from './expectations.ts';
import { MINUTE_MS, sizedFleet } from './fleets.ts';
import type { Scenario } from './scenario.ts';

const FAULT_AT_MS = 30 * MINUTE_MS;
const LASTS_MS = 15 * MINUTE_MS;

/** Requests that still come: monitoring, and who knows an address. */
const LEFT = 0.01;

export const trafficStopped: Scenario = {
  name: 'traffic-stopped',
  title: 'a name resolves to nowhere: one request in a hundred still comes for 15 min, and none fails',
  size: { hosts: 10, balancers: 3, zones: 1, requestsPerS: 400 },
  range: { hosts: [5, 100], balancers: [2, 20], zones: [1, 4], requestsPerS: [50, 400_000] },
  plan(size, seed) {
    const traffic = (times: number) => ({ kind: 'traffic', requests: times, connections: times }) as const;
    const expected = incident(ALERT.trafficStopped, {
      severity: 'page',
      withinMs: 6 * MINUTE_MS,
      pages: 1,
      evidence: [named('what came', /\d+ requests in \d+ min/), named('what was due', /about \d+ were due/)],
    });
    return {
      fleet: sizedFleet(size, { seed }),
      timeline: [
        { at: FAULT_AT_MS, change: traffic(LEFT) },
        { at: FAULT_AT_MS + LASTS_MS, change: traffic(1) },
      ],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + LASTS_MS + 25 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};

export const telemetryLost: Scenario = {
  name: 'telemetry-lost',
  title: 'what carries the metrics of all balancers is gone for 15 min; they serve on',
  size: { hosts: 10, balancers: 4, zones: 2, requestsPerS: 400 },
  range: { hosts: [5, 100], balancers: [2, 20], zones: [1, 4], requestsPerS: [50, 400_000] },
  plan(size, seed) {
    const heard = (at: number, arrives: boolean): TimedChange => ({
      at,
      change: { kind: 'telemetry', balancers: 'all', arrives },
    });
    const expected = incident(ALERT.telemetryLost, {
      severity: 'page',
      withinMs: 4 * MINUTE_MS,
      pages: 1,
      evidence: [
        named('the objectives', /upstream-availability/),
        named('how many are silent', /\d+ balancers silent/),
      ],
    });
    return {
      fleet: sizedFleet(size, { seed }),
      timeline: [heard(FAULT_AT_MS, false), heard(FAULT_AT_MS + LASTS_MS, true)],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LASTS_MS,
      untilMs: FAULT_AT_MS + LASTS_MS + 25 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};
