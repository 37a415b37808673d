import { median } from '../base/median.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { spansBefore } from './baseline.ts';

/** Scales a median absolute deviation to the standard deviation of a normal distribution (1 / its 75 % quantile). */
const DEVIATIONS_PER_MAD = 1.4826;
const SAMPLES_MIN = 3;

/** What is usual: a middle and a spread that less than half of the samples being wrong cannot move far. */
export interface Baseline {
  /** Median of the samples, in their unit. */
  readonly middle: number;
  /** Median absolute deviation scaled to a standard deviation, in their unit; 0 where most samples are equal. */
  readonly spread: number;
  readonly samples: number;
}

/** Median absolute deviation from the median, scaled to a standard deviation. NaN for no values. */
export function robustSpread(values: readonly number[], middle = median(values)): number {
  return DEVIATIONS_PER_MAD * median(values.map((value) => Math.abs(value - middle)));
}

/** Null with fewer than `least` samples. */
export function toBaseline(samples: readonly number[], least = SAMPLES_MIN): Baseline | null {
  if (samples.length < least || samples.length === 0) return null;
  const middle = median(samples);
  return { middle, spread: robustSpread(samples, middle), samples: samples.length };
}

/**
 * What was usual before `end`, by one sample per comparable span: the hour around the same time on each of the last
 * 7 days where the history reaches so far, else slices of 5 min of the last 6 h. `sample` says null where a span holds
 * too little to be judged. Null with fewer than three samples.
 */
export function baselineBefore(
  firstDataAt: EpochMs | null,
  end: EpochMs,
  sample: (from: EpochMs, to: EpochMs) => number | null,
): Baseline | null {
  if (firstDataAt === null) return null;
  const samples: number[] = [];
  for (const [from, to] of spansBefore(firstDataAt, end)) {
    const value = sample(from, to);
    if (value !== null) samples.push(value);
  }
  return toBaseline(samples);
}

/**
 * Where the baseline of a window (from, from + window] ends: at its start, and while its alert fires one window before
 * that alert began, so that the incident never becomes what is usual.
 */
export function baselineEnd(from: EpochMs, windowMs: number, firingSince: EpochMs | undefined): EpochMs {
  return firingSince === undefined ? from : epochMs(Math.min(from, firingSince - windowMs));
}

/** Standard deviations that a value lies above what is usual; `leastSpread` keeps a flat history from alarming. */
export const deviationsAbove = (value: number, { middle, spread }: Baseline, leastSpread: number): number =>
  (value - middle) / Math.max(spread, leastSpread);

/** What a ratio or a multiple must rest on (design section 9): events in the window, and events expected in it. */
export interface Evidenced {
  readonly minEvents: number;
  readonly minExpected: number;
}

/** Whether a comparison of `events` with `expected` rests on enough of both to mean anything. */
export const isEvidenced = (events: number, expected: number, { minEvents, minExpected }: Evidenced): boolean =>
  events >= minEvents && expected >= minExpected;

/** The last `count` windows before `end`, newest first: (from, to] of `windowMs` each. */
export function windowsBefore(end: EpochMs, windowMs: number, count: number): readonly (readonly [EpochMs, EpochMs])[] {
  return Array.from({ length: count }, (_, index) => {
    const to = end - index * windowMs;
    return [epochMs(to - windowMs), epochMs(to)] as const;
  });
}
