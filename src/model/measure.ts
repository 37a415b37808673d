import type { EpochMs } from '../base/units.ts';
import { ALERT } from './conventions.ts';
import type { Labels } from './labels.ts';

/** What is kept of every hour, for the weekly review: the alert whose slow sibling it is, and which way is worse. */
export const MEASURES = {
  /** Load per capacity of a zone over that of its cluster; 1 = its share {cluster, zone}. */
  zone_skew: { alert: ALERT.zoneSkew, kind: 'level', worse: 'up', unit: '1' },
  /** The least share of all requests that must have crossed from one zone to another {}. */
  cross_zone: { alert: ALERT.zoneSkew, kind: 'level', worse: 'up', unit: '1' },
  /** Load per capacity of the busiest host over the mean {cluster}. */
  host_skew: { alert: ALERT.hostSkew, kind: 'level', worse: 'up', unit: '1' },
  /** What a balancer opens or shakes hands for, over the mean of all {balancer}. */
  connection_skew: { alert: ALERT.balancerSkew, kind: 'level', worse: 'up', unit: '1' },
  handshake_skew: { alert: ALERT.balancerSkew, kind: 'level', worse: 'up', unit: '1' },
  /** A day {cluster}: enforced ejections, and changes of a host's health as one balancer sees them. */
  ejections: { alert: ALERT.hostEjections, kind: 'count', worse: 'up', unit: '{ejection}/d' },
  health_changes: { alert: ALERT.healthCheckFlapping, kind: 'count', worse: 'up', unit: '{change}/d' },
  /** Share of the handshakes that resumed a session {}. */
  resumption: { alert: ALERT.handshakeStorm, kind: 'level', worse: 'down', unit: '1' },
  /** Retries beside requests {cluster}. */
  retries: { alert: ALERT.retryStorm, kind: 'level', worse: 'up', unit: '1' },
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly alert: string;
      /** A level is compared by its middle, a count by its sum. */
      readonly kind: 'level' | 'count';
      readonly worse: 'up' | 'down';
      readonly unit: string;
    }
  >
>;

export type MeasureName = keyof typeof MEASURES;

export const MEASURE_NAMES = Object.keys(MEASURES) as readonly MeasureName[];

/**
 * What the weekly review adds up or picks from, beside measures whose slope is watched. Whole numbers unless said, so
 * that their sum is the same in whatever order hours are read. What nobody tells is left out, never 0.
 */
export type TallyName =
  /**
   * Tries against hosts, and answers of the balancer itself, {cluster}; of clients {balancer}, {zone, region?},
   * {configVersion, configKind?}.
   */
  | 'requests'
  /** Of those of clients, answered 5xx. */
  | 'errors'
  /** Sent as answers {cluster} or {listener}. */
  | 'bytes'
  /**
   * With clients {listener}, {balancer}, {zone, region?}. Those that do not say whether they were resumed are full, and
   * unsaid.
   */
  | 'full_handshakes'
  | 'resumed_handshakes'
  | 'unsaid_handshakes'
  /** {listener}: connections that clients opened, and seconds for which they held connections open. */
  | 'opened'
  | 'connection_seconds'
  /** {listener}: services on one of its balancers, itself counted; of the balancer that has most. */
  | 'services_beside'
  /** {cluster, layer}; {cluster}: layers that made any. */
  | 'retries'
  | 'retrying_layers'
  /** {balancer}, no whole numbers: CPU used, 0 to 1, and its cores where they are told. */
  | 'cpu'
  | 'cores';

/** Durations of an hour: events up to each bound, in seconds, and above the last. */
export interface HourlyDurations {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/** Parts of an hour in which bad events are kept apart: the step in which what is a week old is still known. */
export const PARTS_PER_HOUR = 12;

/** What one SLO group's budget came to in one hour. Events as the budget weighs and corrections leave them. */
export interface HourBudget {
  readonly bad: number;
  readonly total: number;
  /** Bad events of each part that had any: `[0 to 11, count]`. */
  readonly parts: readonly (readonly [number, number])[];
  /** How many may be bad in the SLO window that ends with the hour, and the share of them that is left. */
  readonly budget: number;
  readonly left: number | null;
  /** Share of that budget which config rollouts have used, less what fails anyway; null = it cannot be told. */
  readonly byConfig: number | null;
  readonly window: string;
  readonly objective: string;
}

/** When a budget burned, as the incident that holds its alert knew at the end of the hour. */
export interface BurnSpan {
  /** Key of the alert, which is made of the group's labels and its SLO. */
  readonly alert: string;
  readonly from: EpochMs;
  /** Null while it burns. */
  readonly to: EpochMs | null;
}

/** One hour of one subject: a row of the store, never changed once written. */
export interface HourlyFigures {
  /** Its end. */
  readonly hour: EpochMs;
  /**
   * `cluster`, `zone`, `balancer`; none = the whole fleet. Of what only the review reads: `slo` and the labels of its
   * group, `incident`, `certificate`, `listener`, `configVersion`, `cluster` with `layer`, `zone` of balancers.
   */
  readonly subject: Labels;
  /** Counts are per hour. A measure that rests on too little is left out. */
  readonly figures: Readonly<Partial<Record<MeasureName, number>>>;
  /** What else a reader wants to see beside them: `top_host`, `utilization`, of certificates `not_after`. */
  readonly notes: Readonly<Record<string, number | string>>;
  readonly budget?: HourBudget;
  readonly burning?: readonly BurnSpan[];
  /** Absent in rows of before it was kept. */
  readonly tallies?: Readonly<Partial<Record<TallyName, number>>>;
  /** What balancers added to requests, one per set of bounds {zone, region?}. */
  readonly added?: readonly HourlyDurations[];
}

/** A slow change for the worse. It pages and tickets nobody: the weekly review reads it. */
export interface TrendFinding {
  readonly subject: Labels;
  readonly measure: MeasureName;
  /** Middle of the last and of the first seven days, in the measure's unit. */
  readonly now: number;
  readonly before: number;
  /** In that unit per week. */
  readonly slopePerWeek: number;
  /** 1 less the chance that no change at all would look so. */
  readonly confidence: number;
  /** Hours behind it. */
  readonly samples: number;
  /** `top_host` and its like, as of the newest hour. */
  readonly notes: Readonly<Record<string, number | string>>;
}
