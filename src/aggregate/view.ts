import type { EpochMs, Ms } from '../base/units.ts';
import type { Labels } from '../model/labels.ts';
import type { Slo } from '../slo/slo.ts';
import type { Exclusion } from './exclusion.ts';

/**
 * Events, or slices in units of `slo/slices.ts`, in whole steps. `from` is the edge really used: a window's old edge is
 * rounded down to the step of the level that still holds it (10 s for 7 h, 1 min for 75 h, 5 min for 36 d, 15 min where
 * an SLO window is longer). Sums are exact integers.
 */
export interface WindowSums {
  readonly bad: number;
  readonly total: number;
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** bad > total or a negative count: flagged, and kept out of the budget by whoever reads it. */
  readonly inconsistent: boolean;
  /** Of the bad ones, those between the two bounds around a latency threshold: perhaps good. Left out = 0. */
  readonly between?: number;
}

/** What the engine may ask about one group of one SLO. Reads only; costs do not depend on a window's length. */
export interface GroupView {
  readonly slo: Slo;
  /** The group-by attributes and their values (`""` where the attribute was missing); empty without group-by. */
  readonly labels: Labels;
  /** Unique over SLOs and groups, stable over restarts. */
  readonly key: string;
  /** Start of the first step that holds anything; null before any event or point. */
  readonly firstDataAt: EpochMs | null;
  /** Newest step end that holds an event of this group; null without any. */
  readonly lastEventAt: EpochMs | null;
  /** Of a composite, in the order of its members. Its own sums are those of all members together, or its slices. */
  readonly members?: readonly GroupView[];
  /** What `range` leaves out, and the group with it; absent where no correction applies. */
  readonly corrected?: { readonly observed: GroupView; readonly exclusion: Exclusion };
  /** Sums over (from, to], less what corrections take out; of slices those that end there. */
  range(from: EpochMs, to: EpochMs): WindowSums;
  /** Where slices are counted: whether the events over (from, to] contradict themselves. Such slices are left out. */
  contradicts?(from: EpochMs, to: EpochMs): boolean;
}

/** Freshness of what feeds one SLO, judged per balancer (design section 8). */
export interface FeedView {
  /** Where alert windows end, on a 10 s step edge; null when no balancer has ever fed the SLO. */
  readonly watermark: EpochMs | null;
  /** Balancers that have fed the group and are not stale / all that have fed it and are not retired; 0 when none. */
  readonly coverage: number;
  /** Some balancer that feeds it is not stale. */
  readonly reporting: boolean;
  /** Newest point time of any balancer that feeds it. */
  readonly newestPointAt: EpochMs | null;
}

/** The read side of the cells, for one tick. */
export interface SloCells {
  /** In the order of SLO id, then group labels. */
  groups(): Iterable<GroupView>;
  feed(group: GroupView, now: EpochMs): FeedView;
}

/** Length of the finest step. Alert windows are multiples of it. */
export const STEP_MS: Ms = 10_000 as Ms;
