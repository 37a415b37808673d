/** Exponential histograms: base = 2^(2^-scale), bucket i covers (base^i, base^(i+1)] (OpenTelemetry data model). */

const TOLERANCE = 1e-12;
const SCALE_MIN = -11;
const SCALE_MAX = 30;
/** Smallest and largest exponent of a double, subnormals included. */
const EXPONENT_MIN = -1075;
const EXPONENT_MAX = 1024;

/** A run of bucket counts at a scale: bucket `offset + n` is `numbers[from + n]`. */
export interface BucketRun {
  numbers: Float64Array;
  from: number;
  length: number;
  offset: number;
}

/** The buckets of one point. */
export interface ExponentialPoint {
  scale: number;
  zeroCount: number;
  zeroThreshold: number;
  readonly positive: BucketRun;
  readonly negative: BucketRun;
}

export const emptyRun = (): BucketRun => ({ numbers: new Float64Array(0), from: 0, length: 0, offset: 0 });

/**
 * The last point of a cumulative series, with room of its own. Structured clone keeps the data and loses the methods.
 */
export class ExponentialState implements ExponentialPoint {
  scale = 0;
  zeroCount = 0;
  zeroThreshold = 0;
  readonly positive: BucketRun = emptyRun();
  readonly negative: BucketRun = emptyRun();

  static from(point: ExponentialPoint): ExponentialState {
    const state = new ExponentialState();
    state.set(point);
    return state;
  }

  set(point: ExponentialPoint): void {
    this.scale = point.scale;
    this.zeroCount = point.zeroCount;
    this.zeroThreshold = point.zeroThreshold;
    copyRun(point.positive, this.positive);
    copyRun(point.negative, this.negative);
  }

  copy(): ExponentialState {
    return ExponentialState.from(this);
  }
}

function copyRun(source: BucketRun, target: BucketRun): void {
  const { length } = source;
  if (target.numbers.length < length) target.numbers = new Float64Array(length);
  for (let index = 0; index < length; index += 1) {
    target.numbers[index] = source.numbers[source.from + index] as number;
  }
  target.from = 0;
  target.length = length;
  target.offset = source.offset;
}

/**
 * Every bucket that holds something lies within what a double can express; empty ones at the edges may lie beyond.
 */
export function isInRange(scale: number, run: BucketRun): boolean {
  if (scale < SCALE_MIN || scale > SCALE_MAX) return false;
  const { numbers, from, length, offset } = run;
  let first = 0;
  let last = length - 1;
  while (first <= last && numbers[from + first] === 0) first += 1;
  while (last >= first && numbers[from + last] === 0) last -= 1;
  if (first > last) return true;
  const width = 2 ** -scale;
  return (offset + first + 1) * width > EXPONENT_MIN && (offset + last) * width < EXPONENT_MAX;
}

export function sumOf({ numbers, from, length }: BucketRun): number {
  let sum = 0;
  for (let index = 0; index < length; index += 1) sum += numbers[from + index] as number;
  return sum;
}

/**
 * How many values are at or below `threshold`, by whole buckets seen at `scale` (at most the point's own): a bucket
 * counts when its upper bound does. Index i at scale s lies in index floor(i / 2^(s - scale)) at the lower scale. The
 * zero bucket counts unless it reaches above the threshold; negative values always do.
 */
export function countAtOrBelow(point: ExponentialPoint, scale: number, threshold: number): number {
  let count = sumOf(point.negative);
  if (point.zeroThreshold <= threshold * (1 + TOLERANCE)) count += point.zeroCount;
  if (!(threshold > 0)) return count;
  // base^(index + 1) <= threshold (1 + tolerance)  <=>  index + 1 <= log2(threshold (1 + tolerance)) x 2^scale
  const limit = Math.floor((Math.log2(threshold) + TOLERANCE) * 2 ** scale);
  const merged = 2 ** (point.scale - scale);
  const { numbers, from, length, offset } = point.positive;
  const below = Math.min(length, limit * merged - offset);
  for (let index = 0; index < below; index += 1) count += numbers[from + index] as number;
  return count;
}

/** Whether some bucket held more before, seen at the coarser of the two scales. */
export function hasFallen(before: ExponentialPoint, now: ExponentialPoint): boolean {
  if (before.zeroThreshold !== now.zeroThreshold) return false;
  if (now.zeroCount < before.zeroCount) return true;
  const scale = Math.min(before.scale, now.scale);
  const [wasWidth, isWidth] = [2 ** (before.scale - scale), 2 ** (now.scale - scale)];
  return (
    runHasFallen(before.positive, wasWidth, now.positive, isWidth) ||
    runHasFallen(before.negative, wasWidth, now.negative, isWidth)
  );
}

function runHasFallen(before: BucketRun, wasWidth: number, now: BucketRun, isWidth: number): boolean {
  let at = 0;
  while (at < before.length) {
    const merged = Math.floor((before.offset + at) / wasWidth);
    let was = 0;
    for (; at < before.length && Math.floor((before.offset + at) / wasWidth) === merged; at += 1) {
      was += before.numbers[before.from + at] as number;
    }
    if (was === 0) continue;
    const first = Math.max(0, merged * isWidth - now.offset);
    const end = Math.min(now.length, (merged + 1) * isWidth - now.offset);
    let is = 0;
    for (let index = first; index < end; index += 1) is += now.numbers[now.from + index] as number;
    if (is < was) return true;
  }
  return false;
}
