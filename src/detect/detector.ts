import type { FeatureView } from '../aggregate/features.ts';
import type { SloCells } from '../aggregate/view.ts';
import { assert } from '../base/assert.ts';
import type { EpochMs } from '../base/units.ts';
import type { Evidence, Place, Severity } from '../model/alert.ts';
import type { Labels } from '../model/labels.ts';
import type { DetectorSettings } from './settings.ts';

/** A condition that holds now. `identity` tells it from its siblings and never carries a measured value. */
export interface Finding {
  readonly identity: Labels;
  readonly place: Place;
  readonly severity: Severity;
  /** One sentence in users' terms. */
  readonly summary: string;
  readonly evidence: readonly Evidence[];
  /** As in `Alert`. */
  readonly began?: EpochMs;
  readonly clusters?: readonly string[];
}

/** What a detector sees. `firingSince` lets it freeze a baseline at the moment its own alert began. */
export interface DetectionInput {
  readonly view: FeatureView;
  readonly now: EpochMs;
  readonly settings: DetectorSettings;
  /** By `labelsKey(identity)`. */
  readonly firingSince: ReadonlyMap<string, EpochMs>;
  /** As budgets see them. */
  readonly slos: SloCells;
}

/** What a detector says. An identity that is neither holding nor undecided has cleared. */
export interface Detection {
  readonly holding: readonly Finding[];
  /** `labelsKey(identity)` of what cannot be judged for lack of data: such alerts stay as they are. */
  readonly undecided: ReadonlySet<string>;
}

export interface Detector {
  readonly name: string;
  detect(input: DetectionInput): Detection;
}

/** Nothing can be judged: no data at all. No data is not recovery, so whatever fires goes on. */
export const nothingKnown = ({ firingSince }: DetectionInput): Detection => ({
  holding: [],
  undecided: new Set(firingSince.keys()),
});

/** A threshold of `detectors.yaml`; the shipped file sets every one. */
export function threshold(settings: DetectorSettings, name: string): number {
  const value = settings.thresholds[name];
  assert(value !== undefined, `detector threshold ${name} is not set`);
  return value;
}
