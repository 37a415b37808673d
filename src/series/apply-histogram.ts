import type { Staging } from '../otlp/staging.ts';
import { rememberTimes } from './apply-number.ts';
import { countAtOrBelow, type ExponentialBuckets, isInRange } from './exponential.ts';
import { cumulativeInterval, deltaInterval, firstInterval, type Interval } from './intervals.ts';
import { type PointContext, type PointResult, shifted } from './point.ts';
import { NOTED, type NotedReason, REJECTED } from './reasons.ts';
import type { Series, SeriesValues } from './series.ts';

const interval: Interval = { kind: 'baseline', from: 0, reason: null };
/** Bounds are matched as numbers; this much is rounding of units (0.3 s / 1e-3). */
const TOLERANCE = 1e-12;

/**
 * A point of an explicit histogram: its count goes to counters, its counts at or below a threshold to latency cells.
 */
export function applyHistogram(series: Series, staging: Staging, point: number, context: PointContext): PointResult {
  const wrong = checkExplicit(staging, point);
  if (wrong !== null) return wrong;
  const { values } = series;
  const isFirst = values.timeMs === 0;
  const hasNewBounds = !isFirst && !hasSameBounds(values, staging, point);
  if (!decide(series, context, isFirst, () => hasDecreased(values, staging, point, hasNewBounds))) {
    return interval.reason as PointResult;
  }
  // Other bounds begin another stream: without a new start its first value may hold history, and is what later ones
  // differ from.
  const isNewStream = hasNewBounds && !context.isDelta && interval.reason !== NOTED.reset;
  if (hasNewBounds) context.note(NOTED.newBounds);
  if (interval.kind !== 'baseline' && !isNewStream) {
    const isDifference = interval.kind === 'difference';
    const from = shifted(interval.from, context);
    const to = shifted(context.timeMs, context);
    const count = (staging.count[point] as number) - (isDifference ? values.count : 0);
    for (const { cell, weight } of series.binding.counters) cell.add(from, to, weight * count);
    for (const { cell, weight, threshold } of series.binding.atOrBelow) {
      const below = countBelow(staging, point, threshold, isDifference ? values.counts : null);
      cell.add(from, to, weight * below);
    }
  }
  if (!context.isDelta) rememberBuckets(values, staging, point, isFirst || hasNewBounds);
  rememberTimes(series, context);
  return 'accepted';
}

/** Fills `interval`; false when the point is not counted. */
function decide(series: Series, context: PointContext, isFirst: boolean, fell: () => boolean): boolean {
  if (isFirst) firstInterval(series, context, context.isDelta, interval);
  else if (context.isDelta) deltaInterval(series, context, interval);
  else cumulativeInterval(series, context, fell(), interval);
  if (interval.kind === 'rejected' || interval.kind === 'passed') return false;
  if (interval.reason !== null) context.note(interval.reason as NotedReason);
  return true;
}

function checkExplicit(staging: Staging, point: number): PointResult | null {
  const { numbers } = staging;
  const countsFrom = staging.countsFrom[point] as number;
  const countsLength = staging.countsLength[point] as number;
  const boundsFrom = staging.boundsFrom[point] as number;
  const boundsLength = staging.boundsLength[point] as number;
  if (countsLength === 0 && boundsLength === 0) return null;
  if (countsLength !== boundsLength + 1) return REJECTED.bucketsMismatch;
  let last = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < boundsLength; index += 1) {
    const bound = numbers[boundsFrom + index] as number;
    if (!(bound > last) || bound === Number.POSITIVE_INFINITY) return REJECTED.boundsNotIncreasing;
    last = bound;
  }
  let sum = 0;
  for (let index = 0; index < countsLength; index += 1) sum += numbers[countsFrom + index] as number;
  return sum === staging.count[point] ? null : REJECTED.countMismatch;
}

function hasSameBounds({ bounds }: SeriesValues, staging: Staging, point: number): boolean {
  const from = staging.boundsFrom[point] as number;
  if (bounds.length !== staging.boundsLength[point]) return false;
  for (let index = 0; index < bounds.length; index += 1)
    if (bounds[index] !== staging.numbers[from + index]) return false;
  return true;
}

function hasDecreased(values: SeriesValues, staging: Staging, point: number, hasNewBounds: boolean): boolean {
  if ((staging.count[point] as number) < values.count) return true;
  if (hasNewBounds) return false;
  const from = staging.countsFrom[point] as number;
  for (let index = 0; index < values.counts.length; index += 1) {
    if ((staging.numbers[from + index] as number) < (values.counts[index] as number)) return true;
  }
  return false;
}

/** Counts in buckets whose upper bound is at or below the threshold, less `before` where given. Bounds are inclusive. */
function countBelow(staging: Staging, point: number, threshold: number, before: Float64Array | null): number {
  const { numbers } = staging;
  const boundsFrom = staging.boundsFrom[point] as number;
  const countsFrom = staging.countsFrom[point] as number;
  const limit = threshold * (1 + TOLERANCE);
  let sum = 0;
  for (let index = 0; index < (staging.boundsLength[point] as number); index += 1) {
    if ((numbers[boundsFrom + index] as number) > limit) break;
    sum += (numbers[countsFrom + index] as number) - (before === null ? 0 : (before[index] as number));
  }
  return sum;
}

function rememberBuckets(values: SeriesValues, staging: Staging, point: number, isNewShape: boolean): void {
  const countsFrom = staging.countsFrom[point] as number;
  if (isNewShape) {
    const boundsFrom = staging.boundsFrom[point] as number;
    values.bounds = staging.numbers.slice(boundsFrom, boundsFrom + (staging.boundsLength[point] as number));
    values.counts = new Float64Array(staging.countsLength[point] as number);
  }
  values.count = staging.count[point] as number;
  for (let index = 0; index < values.counts.length; index += 1) {
    values.counts[index] = staging.numbers[countsFrom + index] as number;
  }
}

/** A point of an exponential histogram. Increments are taken at the coarser of the two scales, where both are exact. */
export function applyExponential(series: Series, staging: Staging, point: number, context: PointContext): PointResult {
  const buckets = readExponential(staging, point);
  const { positive, negative, scale } = buckets;
  const fits =
    isInRange(scale, positive.offset, positive.counts.length) &&
    isInRange(scale, negative.offset, negative.counts.length);
  if (!fits) return REJECTED.scaleRange;
  const count = staging.count[point] as number;
  if (sumOf(positive.counts) + sumOf(negative.counts) + buckets.zeroCount !== count) return REJECTED.countMismatch;
  const { values } = series;
  const isFirst = values.timeMs === 0;
  if (!decide(series, context, isFirst, () => count < values.count)) return interval.reason as PointResult;
  if (interval.kind !== 'baseline') {
    const isDifference = interval.kind === 'difference';
    const from = shifted(interval.from, context);
    const to = shifted(context.timeMs, context);
    const increment = count - (isDifference ? values.count : 0);
    for (const { cell, weight } of series.binding.counters) cell.add(from, to, weight * increment);
    for (const { cell, weight, threshold } of series.binding.atOrBelow) {
      const at = isDifference ? Math.min(scale, values.scale) : scale;
      const before = isDifference ? countAtOrBelow(values, at, threshold) : 0;
      cell.add(from, to, weight * (countAtOrBelow(buckets, at, threshold) - before));
    }
  }
  if (!context.isDelta) Object.assign(values, buckets, { count });
  rememberTimes(series, context);
  return 'accepted';
}

function readExponential(staging: Staging, point: number): ExponentialBuckets {
  const slice = (from: number, length: number): Float64Array => staging.numbers.slice(from, from + length);
  return {
    scale: staging.scale[point] as number,
    zeroCount: staging.zeroCount[point] as number,
    zeroThreshold: staging.zeroThreshold[point] as number,
    positive: {
      offset: staging.positiveOffset[point] as number,
      counts: slice(staging.countsFrom[point] as number, staging.countsLength[point] as number),
    },
    negative: {
      offset: staging.negativeOffset[point] as number,
      counts: slice(staging.boundsFrom[point] as number, staging.boundsLength[point] as number),
    },
  };
}

const sumOf = (counts: Float64Array): number => counts.reduce((sum, count) => sum + count, 0);
