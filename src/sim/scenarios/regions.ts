import { ALERT } from '../../model/conventions.ts';
import { incident, named } from './expectations.ts';
import { MINUTE_MS, sizedFleet } from './fleets.ts';
import type { Scenario } from './scenario.ts';

const FAULT_AT_MS = 20 * MINUTE_MS;
const LOST_FOR_MS = 15 * MINUTE_MS;
const REGIONS = 3;
/** The zone of region r2: the others have one of their own, and room for what it had. */
const LOST_ZONE = 1;

export const regionLost: Scenario = {
  name: 'region-lost',
  title: 'a region is cut off for 15 min: its balancers fall silent, its clients come back in the others',
  size: { hosts: 30, balancers: 9, zones: 3, requestsPerS: 6000 },
  range: { hosts: [9, 60], balancers: [6, 20], zones: [3, 4], requestsPerS: [500, 50_000] },
  plan(size, seed) {
    const lost = (present: boolean) => ({ kind: 'balancers', balancers: { zone: LOST_ZONE }, present }) as const;
    const expected = incident(ALERT.telemetryLost, {
      severity: 'ticket',
      withinMs: 3 * MINUTE_MS,
      pages: 0,
      evidence: [
        named('the region', /region r2/),
        named('how many of its balancers', /\b\d+ of \d+ balancers|all \d+ balancers/i),
      ],
    });
    return {
      fleet: sizedFleet(size, { seed, regions: REGIONS, hostUse: 0.35, cluster: { zoneRouting: 'place' } }),
      timeline: [
        { at: FAULT_AT_MS, change: lost(false) },
        { at: FAULT_AT_MS + LOST_FOR_MS, change: lost(true) },
      ],
      engine: 'fluid',
      pushMs: 10_000,
      faultAtMs: FAULT_AT_MS,
      overAtMs: FAULT_AT_MS + LOST_FOR_MS,
      untilMs: FAULT_AT_MS + LOST_FOR_MS + 20 * MINUTE_MS,
      expected,
      expectedOfEnvoy: expected,
    };
  },
};
