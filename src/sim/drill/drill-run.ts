import { createPrng } from '../../base/prng.ts';
import type { EmittedFlavor } from '../emit/emitter.ts';
import { drawSize, type Plan, type Scenario, type Size, STANDARD_SEED } from '../scenarios/scenario.ts';
import type { Impact } from './impact.ts';
import type { Verdict } from './verdict.ts';

/** A scenario run once. */
export interface DrillRun {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly size: Size;
  readonly plan: Plan;
  readonly flavor: EmittedFlavor;
  readonly verdict: Verdict;
  readonly impact: Impact;
  readonly points: number;
  readonly wallS: number;
}

/** Points that a fleet of a drawn size may push, roughly: a run of it takes some three seconds. */
const POINTS_MAX = 9e5;
/** Requests of a drawn size, beyond which they are not events one by one. */
const EVENTS_MAX = 1e6;

/**
 * Seed 1 has the scenario's own size; any other seed draws one, whose hosts and balancers are fewer where all of them
 * would push too much, and hurries. The same seed gives the same plan.
 */
export function planOf(scenario: Scenario, seed: number): { readonly plan: Plan; readonly size: Size } {
  if (seed === STANDARD_SEED) {
    const plan = scenario.plan(scenario.size, seed);
    return { plan, size: sizeOf(plan) };
  }
  let drawn = drawSize(scenario, createPrng(seed));
  let plan = scenario.plan(drawn, seed);
  for (
    let next = smaller(scenario, drawn);
    workOf(plan) > POINTS_MAX && next !== null;
    next = smaller(scenario, next)
  ) {
    drawn = next;
    plan = scenario.plan(drawn, seed);
  }
  const size = sizeOf(plan);
  const isTooMany = (size.requestsPerS * plan.untilMs) / 1000 > EVENTS_MAX;
  const engine = plan.engine === null && isTooMany ? 'fluid' : plan.engine;
  return { plan: { ...plan, engine, hurries: true }, size };
}

/** A tenth fewer hosts and balancers within the range; null where there are no fewer. */
function smaller({ range }: Scenario, size: Size): Size | null {
  const hosts = Math.max(range.hosts[0], size.zones, Math.floor(size.hosts * 0.9));
  const balancers = Math.max(range.balancers[0], size.zones, Math.floor(size.balancers * 0.9));
  return hosts < size.hosts || balancers < size.balancers ? { ...size, hosts, balancers } : null;
}

/** Series of a balancer beside those of hosts, and of each host; roughly. */
const OWN_SERIES = 60;
const SERIES_PER_HOST = 6;

/** How much a run takes beside others: points that are pushed, roughly. */
export function workOf(plan: Plan): number {
  const { hosts, balancers } = sizeOf(plan);
  return (plan.untilMs / plan.pushMs) * balancers * (OWN_SERIES + SERIES_PER_HOST * hosts);
}

/** What the plan made of the size it was given: some scenarios need a certain load per balancer. */
const sizeOf = ({ fleet }: Plan): Size => ({
  hosts: fleet.clusters.reduce((sum, { hosts }) => sum + hosts.length, 0),
  balancers: fleet.balancers.length,
  zones: fleet.zones.length,
  requestsPerS: fleet.clusters.reduce((sum, { requestsPerS }) => sum + requestsPerS, 0),
});
