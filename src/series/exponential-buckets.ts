import { BoundsSet } from './bounds-table.ts';
import { type BucketRun, type ExponentialPoint, sumOf } from './exponential.ts';

/** Finest scale of the bounds that stages keep: four buckets from one power of two to the next, 19 % apart. */
const SCALE_KEPT_MAX = 2;
/** Powers of two, in seconds, between which stages keep bounds: 7.6 us to 512 s. */
const EXPONENT_FROM = -17;
const EXPONENT_TO = 9;

/** Explicit bounds on the bucket bounds of a scale: `set.bounds[n]` = base^(first + n). */
export interface KeptBounds {
  readonly set: BoundsSet;
  readonly scale: number;
  readonly first: number;
}

const kept = new Map<string, KeptBounds>();

/**
 * Bounds that are bucket bounds of every exponential histogram of `scale` or finer, so that its counts move to them
 * whole, in a unit that is `toSeconds` seconds long. Made once per scale and unit.
 */
export function boundsFor(finest: number, toSeconds: number): KeptBounds {
  const scale = Math.min(finest, SCALE_KEPT_MAX);
  const unit = -Math.round(Math.log2(toSeconds));
  const key = `${scale} ${unit}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const perPower = 2 ** scale;
  let first = Math.floor((EXPONENT_FROM + unit) * perPower);
  let last = Math.ceil((EXPONENT_TO + unit) * perPower);
  while (2 ** (first / perPower) === 0) first += 1;
  while (!Number.isFinite(2 ** (last / perPower))) last -= 1;
  const bounds = Float64Array.from({ length: last - first + 1 }, (_, index) => 2 ** ((first + index) / perPower));
  const added = { set: new BoundsSet(-1, bounds), scale, first };
  kept.set(key, added);
  return added;
}

/**
 * Adds `sign` times the counts of a point to the increments of the set. What lies in the zero region, and negative
 * values, go to the bucket in which the region ends at `zero`; what lies beyond the bounds to the first and last.
 */
export function addBuckets(
  { set, scale, first }: KeptBounds,
  point: ExponentialPoint,
  zero: number,
  sign: 1 | -1,
): void {
  const { bounds, increments } = set;
  let low = 0;
  while (low < bounds.length && (bounds[low] as number) < zero) low += 1;
  increments[low] = (increments[low] as number) + sign * (point.zeroCount + sumOf(point.negative));
  addRun(set, point.positive, 2 ** (point.scale - scale), first, low, sign);
}

/** `width`: buckets of the run per bucket of the set. */
function addRun(
  { bounds, increments }: BoundsSet,
  { numbers, from, length, offset }: BucketRun,
  width: number,
  first: number,
  low: number,
  sign: 1 | -1,
): void {
  for (let index = 0; index < length; index += 1) {
    const upper = Math.floor((offset + index) / width) + 1 - first;
    const place = Math.min(Math.max(upper, low), bounds.length);
    increments[place] = (increments[place] as number) + sign * (numbers[from + index] as number);
  }
}
