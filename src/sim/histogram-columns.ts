import { add, at } from './columns.ts';

/** Upper bounds of all our histograms, s, inclusive; one more bucket takes what is above. */
export const BOUNDS_S: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 3, 5,
  10,
];
export const BUCKETS: number = BOUNDS_S.length + 1;

/** Cumulative duration histograms, one per cell, in columns. */
export class HistogramColumns {
  /** `BUCKETS` counts per cell. */
  readonly counts: Float64Array;
  /** Sum of durations per cell, s. */
  readonly sums: Float64Array;

  constructor(cells: number) {
    this.counts = new Float64Array(cells * BUCKETS);
    this.sums = new Float64Array(cells);
  }

  record(cell: number, durationS: number, count = 1): void {
    add(this.counts, cell * BUCKETS + bucketOf(durationS), count);
    add(this.sums, cell, durationS * count);
  }

  /** `count` durations that fall into the buckets by `weights`, with their mean. Whole numbers in every bucket. */
  recordShares(cell: number, weights: Float64Array, meanS: number, count: number): void {
    // The rounding error is carried from bucket to bucket, so that the total stays exact.
    let reached = 0;
    let given = 0;
    for (let bucket = 0; bucket < BUCKETS && given < count; bucket += 1) {
      reached += at(weights, bucket) * count;
      const upTo = bucket === BUCKETS - 1 ? count : Math.min(count, Math.round(reached));
      if (upTo > given) add(this.counts, cell * BUCKETS + bucket, upTo - given);
      given = Math.max(given, upTo);
    }
    add(this.sums, cell, meanS * count);
  }

  count(cell: number): number {
    let total = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) total += at(this.counts, cell * BUCKETS + bucket);
    return total;
  }

  /** The value that `share` of what was counted does not exceed, s, interpolated within its bucket. */
  quantile(cell: number, share: number): number {
    return quantileIn(this.counts, cell * BUCKETS, share);
  }
}

/** The same over `BUCKETS` counts from `from` on; NaN when there are none. */
export function quantileIn(counts: Float64Array, from: number, share: number): number {
  let total = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) total += at(counts, from + bucket);
  let reached = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const inside = at(counts, from + bucket);
    if (inside > 0 && reached + inside >= share * total) {
      const low = bucket === 0 ? 0 : (BOUNDS_S[bucket - 1] ?? 0);
      const high = BOUNDS_S[bucket] ?? low * 2;
      return low + ((high - low) * (share * total - reached)) / inside;
    }
    reached += inside;
  }
  return Number.NaN;
}

function bucketOf(durationS: number): number {
  let low = 0;
  let high = BOUNDS_S.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((BOUNDS_S[middle] ?? 0) < durationS) low = middle + 1;
    else high = middle;
  }
  return low;
}
