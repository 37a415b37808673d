/** Read-side types of what pages and API show over time. Units as in views.ts. */
import type { Severity } from './alert.ts';
import type { StageFidelity, StageName } from './stages.ts';

/** A tier of an SLO's policy beside what burns now. */
export interface TierView {
  readonly name: string;
  readonly severity: Severity;
  readonly exhaustsWithinSeconds: number;
  /** Alert windows as they are named: `1h`, `5m`. */
  readonly long: string;
  readonly short: string;
  /** Both burns must reach it. */
  readonly minBurn: number;
  readonly longBurn: number | null;
  readonly shortBurn: number | null;
  readonly holds: boolean;
}

/** What was counted in one step, and what of the present window's budget was left at its end. */
export interface BudgetPointView {
  readonly at: string;
  readonly bad: number;
  readonly total: number;
  readonly left: number | null;
}

export const SPENT_BY = ['incident', 'zone', 'host', 'config_version'] as const;

/** A part of the budget, and where it went. */
export interface SpentView {
  readonly by: (typeof SPENT_BY)[number];
  readonly name: string;
  /** Of an incident, its id. */
  readonly incident: number | null;
  readonly from: string;
  readonly to: string;
  readonly bad: number;
  /** Of the group's budget in the SLO window; null where the events are not those that the budget counts. */
  readonly share: number | null;
}

export interface SloHistoryView {
  readonly slo: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string;
  readonly stepSeconds: number;
  /** Bad events (or slices) that the whole budget of the SLO window is. */
  readonly budget: number;
  readonly points: readonly BudgetPointView[];
  readonly tiers: readonly TierView[];
  readonly spent: readonly SpentView[];
}

export interface SloHistoryAsked {
  readonly slo: string;
  /** `groupKey` of a group; null = the one with the least budget left. */
  readonly group: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly stepSeconds: number | null;
}

/** The values of a group in the order of its labels: short, and the same for the same group only. */
export const groupKey = (labels: Readonly<Record<string, string>>): string =>
  Object.values(labels).map(encodeURIComponent).join('/');

/** Durations in seconds; null where nothing was told. */
export interface StagePointView {
  readonly at: string;
  readonly count: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface StageView extends Omit<StagePointView, 'at'> {
  readonly stage: StageName;
  /** Best of the balancers in scope; `absent` = none of them tells it. */
  readonly fidelity: StageFidelity;
  /** Balancers by how faithfully they tell it. */
  readonly balancers: Readonly<Record<string, number>>;
  /**
   * Requests of the slowest hundredth whose length this stage can account for by its own long durations, 0 to 1; null
   * where the stage or whole requests are not told. Shares of several stages may add up to more than 1.
   */
  readonly tailShare: number | null;
  readonly points: readonly StagePointView[];
}

/** One stage at one place. */
export interface PlaceStageView extends Omit<StagePointView, 'at'> {
  readonly stage: StageName;
  readonly fidelity: StageFidelity;
}

/** Whole requests. */
export interface WholeRequestsView {
  readonly count: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

export interface SkewDayView {
  readonly from: string;
  readonly maxOverMean: number | null;
  readonly hottest: string | null;
}

export interface StagePlaceView {
  readonly kind: 'zone' | 'balancer';
  readonly name: string;
  readonly stages: readonly PlaceStageView[];
}

export interface StagesView {
  readonly cluster: string | null;
  readonly zone: string | null;
  readonly balancer: string | null;
  readonly from: string;
  readonly to: string;
  readonly stepSeconds: number;
  /** Whole requests; no points where balancers do not tell them in this scope. */
  readonly requests: WholeRequestsView;
  readonly stages: readonly StageView[];
  /** Of the last hours only. */
  readonly places: readonly StagePlaceView[];
  readonly clusters: readonly string[];
  readonly zones: readonly string[];
  readonly balancers: readonly string[];
}

export interface StagesAsked {
  readonly cluster: string | null;
  readonly zone: string | null;
  readonly balancer: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

export const RED_BY = ['cluster', 'zone', 'host', 'balancer', 'configVersion'] as const;
export type RedBy = (typeof RED_BY)[number];

/** Requests, errors and durations of one thing in a window. */
export interface RedRowView {
  readonly name: string;
  /** Of a host. */
  readonly cluster: string | null;
  readonly zone: string | null;
  readonly requests: number;
  readonly perSecond: number;
  readonly errors: number;
  /** Null without requests. */
  readonly errorRatio: number | null;
  /** Mean time of a request at hosts, seconds; null where it is not told. */
  readonly meanSeconds: number | null;
}

export interface RedPointView {
  readonly at: string;
  readonly perSecond: number;
  readonly errorRatio: number | null;
}

export interface RedView {
  readonly by: RedBy;
  readonly from: string;
  readonly to: string;
  readonly rows: readonly RedRowView[];
  readonly stepSeconds: number;
  /** Of all rows together. */
  readonly points: readonly RedPointView[];
}

export interface TlsRowView {
  readonly name: string;
  readonly full: number;
  readonly resumed: number;
  readonly failed: number;
  /** resumed / (full + resumed); null without handshakes that say which they were. */
  readonly resumption: number | null;
}

export interface TlsPointView {
  readonly at: string;
  readonly perSecond: number;
  readonly resumption: number | null;
}

export interface CertificateView {
  readonly name: string;
  readonly balancers: readonly string[];
  readonly notAfter: string;
  readonly renewedAt: string | null;
}

export interface TlsView {
  readonly from: string;
  readonly to: string;
  readonly stepSeconds: number;
  readonly points: readonly TlsPointView[];
  readonly zones: readonly TlsRowView[];
  readonly balancers: readonly TlsRowView[];
  readonly certificates: readonly CertificateView[];
}

export const SKEW_BY = ['host', 'zone', 'balancer'] as const;
export type SkewBy = (typeof SKEW_BY)[number];

export interface SkewRowView {
  readonly name: string;
  readonly zone: string | null;
  readonly requests: number;
  readonly capacity: number;
  /** Load per capacity over the mean of all; null where it cannot be weighed. */
  readonly factor: number | null;
  /** The same per step, for the heat map; null in steps without enough requests. */
  readonly steps: readonly (number | null)[];
}

export interface SkewView {
  readonly by: SkewBy;
  readonly cluster: string | null;
  readonly from: string;
  readonly to: string;
  readonly stepSeconds: number;
  /** Ends of the steps. */
  readonly stepEnds: readonly string[];
  readonly maxOverMean: number | null;
  /** Hottest first. */
  readonly rows: readonly SkewRowView[];
  /** Max over mean per day, oldest first, as long as it is kept. */
  readonly days: readonly SkewDayView[];
  readonly clusters: readonly string[];
}

export interface SkewAsked {
  readonly by: SkewBy;
  readonly cluster: string | null;
  readonly seconds: number;
  /** Null or absent = now. */
  readonly until?: string | null;
}

/** The part of the read side that looks back. */
export interface HistoryQueries {
  /** Null for an SLO or group that is not there; so is a group without any data. */
  sloHistory(asked: SloHistoryAsked): SloHistoryView | null;
  /** Null before any balancer is heard. */
  stages(asked: StagesAsked): StagesView | null;
  red(asked: { readonly by: RedBy; readonly seconds: number }): RedView | null;
  tls(asked: { readonly seconds: number }): TlsView | null;
  skew(asked: SkewAsked): SkewView | null;
}
