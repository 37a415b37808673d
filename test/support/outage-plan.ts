import { ALERT } from '../../src/model/conventions.ts';
import { incident, named } from '../../src/sim/scenarios/expectations.ts';
import { MINUTE_MS, sizedFleet } from '../../src/sim/scenarios/fleets.ts';
import type { Plan } from '../../src/sim/scenarios/scenario.ts';

/** A quarter of all answers is 503 for five minutes; small, so that it takes a second. */
export function outage(seed: number, changes: Partial<Plan> = {}): Plan {
  const size = { hosts: 5, balancers: 2, zones: 1, requestsPerS: 16 };
  const faultAtMs = 20 * MINUTE_MS;
  const fail = (failShare: number) =>
    ({ kind: 'hosts', cluster: 0, hosts: 'all', set: { failShare, failMs: 40 } }) as const;
  const expected = incident(ALERT.upstreamErrors, {
    alternatives: [ALERT.errorBudgetBurn],
    severity: 'page',
    withinMs: 3 * MINUTE_MS,
    pages: 1,
    evidence: [named('the budget', /budget/)],
    ends: 'calmed',
  });
  return {
    fleet: sizedFleet(size, { seed }),
    timeline: [
      { at: faultAtMs, change: fail(0.25) },
      { at: faultAtMs + 5 * MINUTE_MS, change: fail(0) },
    ],
    engine: null,
    pushMs: 10_000,
    faultAtMs,
    overAtMs: faultAtMs + 5 * MINUTE_MS,
    untilMs: faultAtMs + 50 * MINUTE_MS,
    expected,
    expectedOfEnvoy: expected,
    ...changes,
  };
}
