import type { Decimal } from '../base/decimal.ts';
import type { Ms } from '../base/units.ts';
import type { Severity } from '../model/alert.ts';
import type { Labels } from '../model/labels.ts';
import type { Calendar } from './calendar.ts';

/** One test on an attribute of a canonical series; a missing attribute has the value `""`. */
export type Condition =
  | { readonly kind: 'equals'; readonly attribute: string; readonly value: string }
  | { readonly kind: 'in'; readonly attribute: string; readonly values: readonly string[] }
  | { readonly kind: 'not'; readonly attribute: string; readonly value: string }
  /** Fully anchored, as in PromQL. */
  | { readonly kind: 'matches'; readonly attribute: string; readonly pattern: string };

/** Which canonical series count: all conditions must hold. */
export interface MetricQuery {
  readonly metric: string;
  readonly where: readonly Condition[];
}

/** What is counted. `events` counts counters (or the counts of histograms); `latency` counts what a histogram holds at or below the threshold as good. */
export type PlainIndicator =
  | {
      readonly kind: 'events';
      /** Whether `part` counts the good or the bad events. */
      readonly counts: 'good' | 'bad';
      readonly part: MetricQuery;
      readonly total: MetricQuery;
    }
  | {
      readonly kind: 'latency';
      readonly query: MetricQuery;
      /** Seconds, inclusive, as in the file. */
      readonly threshold: number;
    };

/** One of the things that a composite SLO asks for: an objective of OpenSLO with an indicator of its own. */
export interface Member {
  readonly name: string;
  readonly indicator: PlainIndicator;
  readonly objective: Objective;
  /** compositeWeight: above 0, 1 if not written. */
  readonly weight: Decimal;
  /** Where good and bad slices are counted, from which share of good events this member's slices are good. */
  readonly sliceTarget: Objective | null;
}

/** `composite`: several at once, with one budget (slo/composite.ts says how they add up). */
export type Indicator = PlainIndicator | { readonly kind: 'composite'; readonly members: readonly Member[] };

/** The share of events that must be good, exactly as written. Budget ratio = 1 - target. */
export interface Objective {
  readonly text: string;
  readonly target: Decimal;
}

/**
 * What the budget is a share of (OpenSLO's budgetingMethod): events; slices of time, each good or bad; or slices of
 * time, each as good as its own ratio. Slices end at whole multiples of `width` since the epoch.
 */
export type Budgeting =
  | { readonly kind: 'occurrences' }
  /** A slice is good if at least `target` of its events are, or if it has none. */
  | { readonly kind: 'timeslices'; readonly width: Ms; readonly target: Objective }
  | { readonly kind: 'ratio_timeslices'; readonly width: Ms };

export type Slicing = Exclude<Budgeting, { readonly kind: 'occurrences' }>;

/** Over which time the budget is kept: the last 30 days, or this month. */
export type SloWindow =
  | {
      readonly rolling: true;
      /** As written: `30d`. */
      readonly text: string;
      readonly length: Ms;
    }
  | {
      readonly rolling: false;
      /** As written: `1M`. */
      readonly text: string;
      /** Nominal: what factors and paces reckon with. The periods themselves are the calendar's. */
      readonly length: Ms;
      readonly calendar: Calendar;
    };

/** An exact positive fraction. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A tier: fires when both alert windows burn fast enough. `factor` = SLO window / exhaustsWithin, for the SLO it belongs to. */
export interface Tier {
  /** `6h`, `50h`, `5d`, ... = exhaustsWithin. */
  readonly name: string;
  readonly severity: Severity;
  readonly exhaustsWithin: Ms;
  readonly long: Ms;
  readonly short: Ms;
  readonly minBurn: 'half' | 'full';
  readonly minBadEvents: number;
  readonly factor: Fraction;
}

/** How a group's burn becomes an alert. Tiers highest (fastest) first. */
export interface Policy {
  readonly name: string;
  /** null = the two plain burns against minBurn only (workbook); 0.98 = countdown's bound and exhaustion test. */
  readonly confidence: number | null;
  readonly tiers: readonly Tier[];
}

/** One SLO with one objective, resolved from its file. */
export interface Slo {
  /** metadata.name, or `name:displayName` where the file has several objectives. */
  readonly id: string;
  readonly name: string;
  readonly service: string;
  readonly displayName: string;
  readonly objective: Objective;
  readonly window: SloWindow;
  readonly budgeting: Budgeting;
  readonly indicator: Indicator;
  /** metadata.labels, carried to alert and incident. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly groupBy: readonly string[];
  readonly rollup: boolean;
  readonly policy: Policy;
  readonly runbook: string;
  /** A digest of the query: changing the query starts a new generation, editing labels or target keeps history. */
  readonly generation: string;
  readonly source: { readonly file: string; readonly line: number };
}
