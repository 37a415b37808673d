/** Exponential histograms: base = 2^(2^-scale), bucket i covers (base^i, base^(i+1)] (OpenTelemetry data model). */

const TOLERANCE = 1e-12;
/**
 * Beyond these scales no double can tell two of them apart: below, one bucket holds all values above 1 and one the
 * others; above, every bucket that an int32 can number is 1 itself. Scales outside are seen as the nearest inside.
 */
const SCALE_MIN = -11;
const SCALE_MAX = 1000;
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
  /** NaN = not sent. */
  sum: number;
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
  sum = Number.NaN;
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
    this.sum = point.sum;
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

/** The scale that stands for one that no double can tell from it. */
export const seenScale = (scale: number): number => Math.min(Math.max(scale, SCALE_MIN), SCALE_MAX);

/** Takes empty buckets off both ends, so that what is kept and bounded is the span that holds something. */
export function trimZeros(run: BucketRun): void {
  const { numbers } = run;
  let { from, length } = run;
  while (length > 0 && numbers[from + length - 1] === 0) length -= 1;
  while (length > 0 && numbers[from] === 0) {
    from += 1;
    length -= 1;
  }
  run.offset += from - run.from;
  run.from = from;
  run.length = length;
}

/** Whether every bucket of a trimmed run reaches into what a double can express. */
export function isInRange(scale: number, { length, offset }: BucketRun): boolean {
  if (length === 0) return true;
  const width = 2 ** -scale;
  return (offset + 1) * width > EXPONENT_MIN && (offset + length - 1) * width < EXPONENT_MAX;
}

export function sumOf({ numbers, from, length }: BucketRun): number {
  let sum = 0;
  for (let index = 0; index < length; index += 1) sum += numbers[from + index] as number;
  return sum;
}

/**
 * Upper end of the zero region that two points share when they are compared (data model, "Merge"): the wider threshold,
 * raised to the upper bound of the bucket that it falls into if either point has something there.
 */
export function sharedZero(a: ExponentialPoint, b: ExponentialPoint, scale: number): number {
  const zero = Math.max(a.zeroThreshold, b.zeroThreshold);
  if (zero === 0) return 0;
  const first = firstAbove(zero, scale);
  const straddling = countAt(a, scale, first - 1) + countAt(b, scale, first - 1);
  return straddling > 0 ? Math.max(zero, 2 ** (first * 2 ** -scale)) : zero;
}

/** The first bucket at `scale` that lies wholly above the zero region: base^index >= zero. */
const firstAbove = (zero: number, scale: number): number => Math.ceil((Math.log2(zero) - TOLERANCE) * 2 ** scale);

/** What both sides of a point hold in bucket `index` at the lower `scale`. */
function countAt({ scale: own, positive, negative }: ExponentialPoint, scale: number, index: number): number {
  const merged = 2 ** (own - scale);
  const [from, to] = [index * merged, (index + 1) * merged];
  return sumBetween(positive, from, to) + sumBetween(negative, from, to);
}

/** The counts of the buckets [fromIndex, toIndex). */
function sumBetween({ numbers, from, length, offset }: BucketRun, fromIndex: number, toIndex: number): number {
  const first = Math.max(0, fromIndex - offset);
  const end = Math.min(length, toIndex - offset);
  let sum = 0;
  for (let index = first; index < end; index += 1) sum += numbers[from + index] as number;
  return sum;
}

/**
 * How many values are at or below `threshold`, by whole buckets seen at `scale` (at most the point's own): a bucket
 * counts when its upper bound does. Index i at scale s lies in index floor(i / 2^(s - scale)) at the lower scale. The
 * zero region, up to `zero`, is one bucket that holds all that overlaps it; negative values below it always count.
 */
export function countAtOrBelow(
  point: ExponentialPoint,
  scale: number,
  threshold: number,
  zero = point.zeroThreshold,
): number {
  const merged = 2 ** (point.scale - scale);
  if (!(zero <= threshold * (1 + TOLERANCE))) {
    return sumBetween(point.negative, firstAbove(zero, scale) * merged, Number.POSITIVE_INFINITY);
  }
  const count = sumOf(point.negative) + point.zeroCount;
  if (!(threshold > 0)) return count;
  // base^(index + 1) <= threshold (1 + tolerance)  <=>  index + 1 <= log2(threshold (1 + tolerance)) x 2^scale
  const limit = Math.floor((Math.log2(threshold) + TOLERANCE) * 2 ** scale);
  return count + sumBetween(point.positive, Number.NEGATIVE_INFINITY, limit * merged);
}

/**
 * Upper bound of the bucket that `threshold` lies within at `scale`; the threshold itself where it is a bound, and
 * divides nothing. The zero region, up to `zero`, is one bucket.
 */
export function upperBoundAt(scale: number, threshold: number, zero: number): number {
  if (!(zero <= threshold * (1 + TOLERANCE))) return zero;
  const perPower = 2 ** scale;
  const index = Math.floor((Math.log2(threshold) + TOLERANCE) * perPower);
  if (!(threshold > 0) || index >= (Math.log2(threshold) - TOLERANCE) * perPower) return threshold;
  return 2 ** ((index + 1) / perPower);
}

/** Lower bound of the same bucket: that of the zero region is 0, as durations are not negative. */
export function lowerBoundAt(scale: number, threshold: number, zero: number): number {
  if (!(zero <= threshold * (1 + TOLERANCE)) || !(threshold > 0)) return 0;
  const perPower = 2 ** scale;
  const index = Math.floor((Math.log2(threshold) + TOLERANCE) * perPower);
  return Math.max(zero, 2 ** (index / perPower));
}

/** Whether some bucket held more before, seen at the coarser of the two scales and with the wider zero region. */
export function hasFallen(before: ExponentialPoint, now: ExponentialPoint): boolean {
  const scale = Math.min(before.scale, now.scale);
  const zero = sharedZero(before, now, scale);
  const first = zero === 0 ? Number.NEGATIVE_INFINITY : firstAbove(zero, scale);
  const [wasWidth, isWidth] = [2 ** (before.scale - scale), 2 ** (now.scale - scale)];
  if (zeroRegion(now, first * isWidth) < zeroRegion(before, first * wasWidth)) return true;
  return (
    runHasFallen(before.positive, wasWidth, now.positive, isWidth, first) ||
    runHasFallen(before.negative, wasWidth, now.negative, isWidth, first)
  );
}

/** What lies in the zero region whose first bucket above it is `firstIndex` at the point's own scale. */
const zeroRegion = ({ zeroCount, positive, negative }: ExponentialPoint, firstIndex: number): number =>
  zeroCount +
  sumBetween(positive, Number.NEGATIVE_INFINITY, firstIndex) +
  sumBetween(negative, Number.NEGATIVE_INFINITY, firstIndex);

function runHasFallen(before: BucketRun, wasWidth: number, now: BucketRun, isWidth: number, first: number): boolean {
  let at = Math.max(0, first * wasWidth - before.offset);
  if (wasWidth === 1 && isWidth === 1) {
    // Both at one scale, which is how nearly all points come: bucket by bucket.
    const shift = before.offset - now.offset;
    for (; at < before.length; at += 1) {
      const place = at + shift;
      const is = place >= 0 && place < now.length ? (now.numbers[now.from + place] as number) : 0;
      if (is < (before.numbers[before.from + at] as number)) return true;
    }
    return false;
  }
  while (at < before.length) {
    const merged = Math.floor((before.offset + at) / wasWidth);
    const was = sumBetween(before, merged * wasWidth, (merged + 1) * wasWidth);
    const is = sumBetween(now, merged * isWidth, (merged + 1) * isWidth);
    if (is < was) return true;
    at = (merged + 1) * wasWidth - before.offset;
  }
  return false;
}
