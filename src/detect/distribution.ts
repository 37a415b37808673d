import type { HistogramSeries } from '../aggregate/histogram-cells.ts';
import type { HistogramRange } from '../aggregate/histogram-layout.ts';
import type { EpochMs } from '../base/units.ts';

/** Durations of a window, in seconds, whatever sets of bounds they were sent with. */
export interface Distribution {
  readonly count: number;
  /** Sum of all durations; null where some sender gave none. */
  readonly sum: number | null;
  /** Durations above `seconds`; inside a bucket they are taken as evenly spread. */
  above(seconds: number): number;
  /** Null for no durations. In the bucket without an upper bound: its lower one. */
  quantile(q: number): number | null;
}

export function distributionOf(series: readonly HistogramSeries[], from: EpochMs, to: EpochMs): Distribution {
  return mergeRanges(series.flatMap((one) => one.range(from, to)));
}

export function mergeRanges(all: readonly HistogramRange[]): Distribution {
  const ranges = all.filter(({ counts }) => counts.some((count) => count !== 0));
  const count = ranges.reduce((total, { counts }) => total + counts.reduce((sum, one) => sum + one, 0), 0);
  const sum = ranges.some((range) => range.sum === null)
    ? null
    : ranges.reduce((total, range) => total + (range.sum ?? 0), 0);
  const above = (seconds: number): number => ranges.reduce((total, range) => total + aboveIn(range, seconds), 0);
  return { count, sum, above, quantile: (q) => quantileOf(ranges, count, above, q) };
}

function aboveIn({ bounds, counts }: HistogramRange, seconds: number): number {
  let total = 0;
  for (let index = 0; index < counts.length; index += 1) {
    const low = index === 0 ? 0 : (bounds[index - 1] as number);
    const high = bounds[index];
    const events = counts[index] as number;
    if (low >= seconds) total += events;
    else if (high === undefined || high > seconds)
      total += events * (high === undefined ? 1 : (high - seconds) / (high - low));
  }
  return total;
}

function quantileOf(
  ranges: readonly HistogramRange[],
  count: number,
  above: (seconds: number) => number,
  q: number,
): number | null {
  if (count <= 0) return null;
  const wanted = (1 - q) * count;
  const [first, ...others] = ranges;
  const bounds =
    first !== undefined && others.length === 0
      ? first.bounds
      : [...new Set(ranges.flatMap((range) => range.bounds))].sort((a, b) => a - b);
  let low = 0;
  let aboveLow = count;
  for (const high of bounds) {
    const aboveHigh = above(high);
    if (aboveHigh <= wanted) return low + ((aboveLow - wanted) / (aboveLow - aboveHigh || 1)) * (high - low);
    low = high;
    aboveLow = aboveHigh;
  }
  return low;
}
