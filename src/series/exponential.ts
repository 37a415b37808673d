import type { ExponentialSide } from './series.ts';

/** Exponential histograms: base = 2^(2^-scale), bucket i covers (base^i, base^(i+1)] (OpenTelemetry data model). */
export interface ExponentialBuckets {
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: ExponentialSide;
  readonly negative: ExponentialSide;
}

const TOLERANCE = 1e-12;
/** Scales and indices whose bounds no double can hold are refused. */
const SCALE_MIN = -11;
const SCALE_MAX = 20;

/** Every bucket's bounds fit a double, and scale and offsets are of a size that real histograms have. */
export function isInRange(scale: number, offset: number, length: number): boolean {
  if (scale < SCALE_MIN || scale > SCALE_MAX) return false;
  if (length === 0) return true;
  const exponent = (index: number): number => index * 2 ** -scale;
  return exponent(offset) >= -1075 && exponent(offset + length) <= 1025;
}

/**
 * How many values are at or below `threshold` (> 0), by whole buckets seen at `scale` (at most the histogram's own): a bucket
 * is counted when its upper bound is. Index i at scale s lies in index i >> (s - scale) at the lower scale. Zero and
 * negative
 * values are below every threshold.
 */
export function countAtOrBelow(buckets: ExponentialBuckets, scale: number, threshold: number): number {
  let count = buckets.zeroThreshold <= threshold ? buckets.zeroCount : 0;
  for (const negative of buckets.negative.counts) count += negative;
  // base^(index + 1) <= threshold  <=>  index + 1 <= log2(threshold) x 2^scale
  const limit = Math.floor(Math.log2(threshold) * 2 ** scale + TOLERANCE * 2 ** Math.max(0, scale));
  const shift = buckets.scale - scale;
  const { offset, counts } = buckets.positive;
  for (let index = 0; index < counts.length; index += 1) {
    if (((offset + index) >> shift) + 1 > limit) break;
    count += counts[index] as number;
  }
  return count;
}
