import type { FeatureName, FeatureSeries, FeatureView } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';
import type { Labels } from '../model/labels.ts';

/** Several series of one feature read as one. */
export interface Summed {
  /** Start of the oldest; null where none has held anything. */
  readonly firstDataAt: EpochMs | null;
  range(from: EpochMs, to: EpochMs): number;
}

/** Sum over the series of a feature whose labels are asked for. */
export const sumWhere = (view: FeatureView, name: FeatureName, keep: (labels: Labels) => boolean): Summed =>
  sumOf([...view.features(name)].filter(({ labels }) => keep(labels)));

export function sumOf(series: readonly FeatureSeries[]): Summed {
  const firsts = series.map(({ firstDataAt }) => firstDataAt).filter((at) => at !== null);
  return {
    firstDataAt: firsts.length === 0 ? null : (Math.min(...firsts) as EpochMs),
    range: (from, to) => series.reduce((total, one) => total + one.range(from, to), 0),
  };
}
