import type { BurnRate, EpochMs, Ratio } from '../base/units.ts';
import type { Exhaustion, Severity } from '../model/alert.ts';
import type { Labels } from '../model/labels.ts';
import type { GroupState } from '../model/views.ts';
import type { Slo } from '../slo/slo.ts';

/** Everything known about one group at one tick; the read side shows it as it is. */
export interface GroupStatus {
  readonly slo: Slo;
  readonly labels: Labels;
  readonly key: string;
  readonly state: GroupState;
  readonly coverage: number;
  /** Observed in the SLO window, all points received, whatever corrections take out of the budget. */
  readonly good: number;
  readonly bad: number;
  readonly total: number;
  readonly sli: Ratio | null;
  /** What corrections take out of the budget; null where none meets the SLO window. */
  readonly leftOut: { readonly good: number; readonly bad: number; readonly corrections: readonly number[] } | null;
  /** Of a calendar window: of what the whole period is expected to allow. */
  readonly budgetRemaining: Ratio | null;
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
