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

/** Seed 1 has the scenario's own size; any other seed draws one. The same seed gives the same plan. */
export function planOf(scenario: Scenario, seed: number): { readonly plan: Plan; readonly size: Size } {
  const drawn = seed === STANDARD_SEED ? scenario.size : drawSize(scenario, createPrng(seed));
  const plan = scenario.plan(drawn, seed);
  return { plan, size: sizeOf(plan) };
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
