import type { BurnRate, EpochMs, Ratio } from '../base/units.ts';
import type { Exhaustion, Severity } from '../model/alert.ts';
import type { Labels } from '../model/labels.ts';
import type { GroupState } from '../model/views.ts';
import type { Slo } from '../slo/slo.ts';

/** Where a figure lies for certain: both ends are possible. */
export interface Bracket {
  readonly low: Ratio;
  readonly high: Ratio;
}

/** Slices of the SLO window that have data, and all of them. What has none is neither good nor bad. */
export interface SliceCoverage {
  readonly observed: number;
  readonly expected: number;
}

/** What one member of a composite counted in the SLO window, in events. */
export interface MemberStatus {
  readonly name: string;
  readonly weight: number;
  readonly good: number;
  readonly bad: number;
  readonly total: number;
  /** Null without events: the member burns nothing then. */
  readonly sli: Ratio | null;
  /** Share of the composite's budget that it has spent; null without events, and where slices are counted. */
  readonly spent: Ratio | null;
}

/** Everything known about one group at one tick; the read side shows it as it is. */
export interface GroupStatus {
  readonly slo: Slo;
  readonly labels: Labels;
  readonly key: string;
  readonly state: GroupState;
  readonly coverage: number;
  /**
   * Events observed in the SLO window (of a composite those of all members together), all points received, whatever
   * corrections take out of the budget; or slices, those that the watermark has passed.
   */
  readonly good: number;
  readonly bad: number;
  readonly total: number;
  /** Null where events are counted. */
  readonly slices: SliceCoverage | null;
  /** Null where there is one thing to count. */
  readonly members: readonly MemberStatus[] | null;
  /** With what lies between the bounds around a latency threshold counted as bad. */
  readonly sli: Ratio | null;
  /** Null where the threshold is a bound, so that the SLI is exact. `low` is `sli`. */
  readonly sliBracket: Bracket | null;
  /** What corrections take out of the budget; null where none meets the SLO window. */
  readonly leftOut: { readonly good: number; readonly bad: number; readonly corrections: readonly number[] } | null;
  /** Of a calendar window: of what the whole period is expected to allow. */
  readonly budgetRemaining: Ratio | null;
  /** Null with `sliBracket`; `low` is `budgetRemaining`. */
  readonly budgetRemainingBracket: Bracket | null;
  /** Of a calendar window: of what the period so far allows. Null when the window rolls. */
  readonly budgetRemainingSoFar: Ratio | null;
  /** When a calendar budget starts afresh; null when the window rolls. */
  readonly resetsAt: EpochMs | null;
  /** By window name, shortest first: 5m 30m 1h 2h 6h 1d 3d and the policy's others. null = no events in it. */
  readonly burn: ReadonlyMap<string, BurnRate | null>;
  readonly exhaustion: Exhaustion;
  readonly tier: string | null;
  readonly tiersHolding: readonly string[];
  readonly severity: Severity | null;
  /** Since when its alert fires; null when it does not. */
  readonly since: EpochMs | null;
  /** Input that contradicted itself in the SLO window (good > total, negative): flagged, kept out of the budget. */
  readonly inconsistent: boolean;
}
