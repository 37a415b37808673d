import type { Prng } from '../../base/prng.ts';
import type { Severity } from '../../model/alert.ts';
import type { MeasureName } from '../../model/measure.ts';
import type { ComparisonAsked, ComparisonView } from '../../model/views.ts';
import type { TimedChange } from '../faults/change.ts';
import type { FleetSpec } from '../fleet-spec.ts';
import type { EngineName } from '../simulation.ts';

/** How large a scenario's fleet is. */
export interface Size {
  readonly hosts: number;
  readonly balancers: number;
  readonly zones: number;
  readonly requestsPerS: number;
}

/** Smallest and largest of each figure, within which the expectation is a fair one. */
export type SizeRange = { readonly [K in keyof Size]: readonly [min: number, max: number] };

/** Where nothing is asked of a fleet's size. */
export const FULL_RANGE: SizeRange = {
  hosts: [5, 200],
  balancers: [2, 50],
  zones: [1, 4],
  requestsPerS: [10, 400_000],
};

/** Something that a person must read in the incident: its title, summaries or evidence. */
export interface Named {
  readonly what: string;
  readonly pattern: RegExp;
}

/**
 * `resolved`; `calmed`: that or a ticket, where a spent budget is told for up to a day more; `lasting`: still open, as its
 * cause is.
 */
export type Ending = 'resolved' | 'calmed' | 'lasting';

/** One incident must be opened, and what it must say. */
export interface IncidentExpected {
  readonly kind: 'incident';
  /** Name of the leading alert, and others that would be as good. */
  readonly lead: string;
  readonly alternatives: readonly string[];
  readonly severity: Severity;
  /** The highest tier that may be reached, where a budget is what pages; null = not asked. */
  readonly tiers: readonly string[] | null;
  readonly runbook: string;
  /** From the fault to the moment at which the incident has this lead and severity, ms. */
  readonly withinMs: number;
  readonly pages: number;
  readonly evidence: readonly Named[];
  /** Names of alerts that must have been in it beside the lead. */
  readonly members: readonly string[];
  /** How it stands at the scenario's end. */
  readonly ends: Ending;
  /** Why less is asked than fuller telemetry would tell; null = nothing less is. */
  readonly because: string | null;
}

/** What the weekly review must be told at the end; figures in the measure's unit. */
export interface FindingExpected {
  readonly measure: MeasureName;
  readonly subject: Readonly<Record<string, string>>;
  readonly slopePerWeek: readonly [least: number, most: number];
}

/** Nobody must be paged. */
export interface QuietExpected {
  readonly kind: 'quiet';
  /** Tickets that may be opened. */
  readonly incidentsMax: number;
  /** Exactly these; absent = not asked. */
  readonly findings?: { readonly weeks: number; readonly all: readonly FindingExpected[] };
  /** Why, where a flavour simply cannot see what happens. */
  readonly because: string | null;
}

/** What a comparison of two cohorts, asked for at a moment, must come to. */
export interface ComparisonExpected {
  readonly what: string;
  readonly atMs: number;
  readonly asked: ComparisonAsked;
  readonly verdict: ComparisonView['verdict'];
  /** What its reason must say. */
  readonly reason: RegExp;
}

export type Expectation = IncidentExpected | QuietExpected;

/** A scenario at one size: everything that happens, and what must come of it. Times are virtual, ms. */
export interface Plan {
  readonly fleet: FleetSpec;
  readonly timeline: readonly TimedChange[];
  /** Null: by the traffic. */
  readonly engine: EngineName | null;
  /** How often each balancer pushes. */
  readonly pushMs: number;
  /** How often the evaluator ticks, where what happens is so slow that it may be told later than usual. */
  readonly tickMs?: number;
  /** Quiet until then. */
  readonly faultAtMs: number;
  /** When the cause is gone; what it left in budgets may fire on. */
  readonly overAtMs: number;
  readonly untilMs: number;
  /** Ticks seldomer while nothing is to be noticed, and ends some minutes after all that must end by itself has. */
  readonly hurries?: boolean;
  readonly expected: Expectation;
  /** The same for a fleet of Envoys, which tell less. */
  readonly expectedOfEnvoy: Expectation;
  /** Comparisons that are asked for on the way, and what must come of them; none unless said. */
  readonly comparisons?: readonly ComparisonExpected[];
  readonly comparisonsOfEnvoy?: readonly ComparisonExpected[];
}

export interface Scenario {
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  readonly size: Size;
  readonly range: SizeRange;
  plan(size: Size, seed: number): Plan;
}

/** Seed of the scenarios' own sizes; any other seed draws them. */
export const STANDARD_SEED = 1;

/** Drawn evenly in the logarithm, so that small fleets come as often as large ones. */
export function drawSize({ range }: Scenario, prng: Prng): Size {
  const draw = ([min, max]: readonly [number, number]): number =>
    Math.min(max, Math.max(min, Math.round(min * (max / min) ** prng.next())));
  const zones = draw(range.zones);
  return {
    zones,
    hosts: Math.max(zones, draw(range.hosts)),
    balancers: Math.max(zones, draw(range.balancers)),
    requestsPerS: draw(range.requestsPerS),
  };
}
