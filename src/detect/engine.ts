import type { FeatureView } from '../aggregate/features.ts';
import type { SloCells } from '../aggregate/view.ts';
import type { EpochMs } from '../base/units.ts';
import type { AlertChange } from '../model/alert.ts';

/** State of detectors under stable keys; values are JSON. */
export interface DetectionRecord {
  readonly key: string;
  readonly value: string;
}

/** What one tick of all detectors changed. `stored` and `removed` name only states that changed. */
export interface DetectionTick {
  readonly changes: readonly AlertChange[];
  readonly stored: readonly DetectionRecord[];
  readonly removed: readonly string[];
}

/** All enabled detectors and their states. No IO, no clock. */
export interface DetectionEngine {
  /** `slos` as budgets see them; none where it is left out. */
  evaluate(view: FeatureView, now: EpochMs, slos?: SloCells): DetectionTick;
  /** The same in a step per detector, of a few milliseconds each; what the view reads must not change in between. */
  evaluateInSteps(view: FeatureView, now: EpochMs, slos?: SloCells): Generator<void, DetectionTick>;
  restore(records: readonly DetectionRecord[]): void;
}
