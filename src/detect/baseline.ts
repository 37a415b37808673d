import { median } from '../base/median.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { ClusterCounter } from './clusters.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SLICE_MS = 300_000;
const DAYS_BACK = 7;
const SLICES_BACK = 72;
const SAMPLES_MIN = 3;

/**
 * Spans to compare a window ending at `end` with: the hour around the same time on each of the last 7 days where the counter
 * has that much history, else the 5 min slices of the 6 h before `end`. Only spans wholly inside the history.
 */
export function spansBefore(first: EpochMs, end: EpochMs): readonly (readonly [EpochMs, EpochMs])[] {
  const days: [EpochMs, EpochMs][] = [];
  for (let day = 1; day <= DAYS_BACK; day += 1) {
    const middle = end - day * DAY_MS;
    if (middle - HOUR_MS / 2 >= first) days.push([epochMs(middle - HOUR_MS / 2), epochMs(middle + HOUR_MS / 2)]);
  }
  if (days.length >= SAMPLES_MIN) return days;
  const slices: [EpochMs, EpochMs][] = [];
  for (let slice = 0; slice < SLICES_BACK; slice += 1) {
    const to = end - slice * SLICE_MS;
    if (to - SLICE_MS >= first) slices.push([epochMs(to - SLICE_MS), epochMs(to)]);
  }
  return slices;
}

/** Median events per millisecond before `end`; null with fewer than three comparable spans. */
export function baselineRate(counter: ClusterCounter, end: EpochMs): number | null {
  if (counter.firstDataAt === null) return null;
  const spans = spansBefore(counter.firstDataAt, end);
  if (spans.length < SAMPLES_MIN) return null;
  return median(spans.map(([from, to]) => counter.range(from, to) / (to - from)));
}

/** Median of part / whole before `end` over spans of at least `minEvents`; null with fewer than three such spans. */
export function baselineRatio(
  part: ClusterCounter,
  whole: ClusterCounter,
  end: EpochMs,
  minEvents: number,
): number | null {
  if (whole.firstDataAt === null) return null;
  const ratios: number[] = [];
  for (const [from, to] of spansBefore(whole.firstDataAt, end)) {
    const events = whole.range(from, to);
    if (events >= minEvents) ratios.push(part.range(from, to) / events);
  }
  return ratios.length < SAMPLES_MIN ? null : median(ratios);
}
