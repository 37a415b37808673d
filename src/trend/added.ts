import type { BalancerState } from '../aggregate/features.ts';
import type { HistogramSeries } from '../aggregate/histogram-cells.ts';
import type { EpochMs } from '../base/units.ts';
import type { HourlyDurations } from '../model/measure.ts';

/** What the balancers of one zone added to requests, merged where their bounds are the same. */
export interface ZoneDurations {
  readonly zone: string | null;
  readonly region: string | null;
  readonly durations: readonly HourlyDurations[];
}

/** By zone, of balancers that told any in (from, to]. */
export function addedByZone(
  histograms: readonly HistogramSeries[],
  balancers: readonly BalancerState[],
  from: EpochMs,
  to: EpochMs,
): readonly ZoneDurations[] {
  const placeOf = new Map(balancers.map(({ id, zone, region }) => [id, { zone, region }]));
  const zones = new Map<string, { zone: string | null; region: string | null; sums: Map<string, HourlyDurations> }>();
  for (const series of histograms) {
    const { zone, region } = placeOf.get(series.labels.get('balancer') ?? '') ?? { zone: null, region: null };
    for (const { bounds, counts } of series.range(from, to)) {
      if (!counts.some((count) => count > 0)) continue;
      const key = JSON.stringify([zone, region]);
      const own = zones.get(key) ?? { zone, region, sums: new Map<string, HourlyDurations>() };
      zones.set(key, own);
      const known = own.sums.get(bounds.join());
      own.sums.set(bounds.join(), {
        bounds,
        counts: counts.map((count, index) => Math.max(0, count) + (known?.counts[index] ?? 0)),
      });
    }
  }
  return [...zones.values()].map(({ zone, region, sums }) => ({
    zone,
    region,
    durations: [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
  }));
}
