import { SCENARIOS } from '../../src/sim/scenarios/catalog.ts';
import { type Plan, type Scenario, STANDARD_SEED } from '../../src/sim/scenarios/scenario.ts';

/** As few and short scenarios as together ask for every one of these alerts, the cheapest first, with what each is run for. */
export function cheapestDrills(alerts: readonly string[]): readonly (readonly [Scenario, readonly string[]])[] {
  const open = new Set(alerts);
  const chosen: [Scenario, string[]][] = [];
  for (const scenario of [...SCENARIOS].sort((a, b) => costOf(a) - costOf(b))) {
    const { expected } = cheapPlan(scenario);
    if (expected.kind !== 'incident') continue;
    const names = [expected.lead, ...expected.members].filter((name) => open.has(name));
    if (names.length === 0) continue;
    for (const name of names) open.delete(name);
    chosen.push([scenario, names]);
  }
  return chosen;
}

/** With the smallest fleet of which all is asked, its traffic as a fluid. */
export function cheapPlan(scenario: Scenario): Plan {
  const { range, size } = scenario;
  const small = {
    hosts: Math.min(size.hosts, Math.max(range.hosts[0], size.zones)),
    balancers: Math.max(2, Math.min(size.balancers, range.balancers[0])),
    zones: size.zones,
    requestsPerS: Math.min(size.requestsPerS, range.requestsPerS[0]),
  };
  const plan = scenario.plan(small, STANDARD_SEED);
  return { ...plan, engine: plan.engine ?? 'fluid' };
}

function costOf(scenario: Scenario): number {
  const { fleet, pushMs, faultAtMs, expected } = cheapPlan(scenario);
  const untilMs = faultAtMs + (expected.kind === 'incident' ? expected.withinMs : 0);
  const hosts = fleet.clusters.reduce((sum, one) => sum + one.hosts.length, 0);
  return (untilMs / pushMs) * fleet.balancers.length * (60 + 6 * hosts);
}
