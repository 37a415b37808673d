import type { FeatureView } from '../aggregate/features.ts';
import { DAY, type EpochMs, epochMs, HOUR, MINUTE, SECOND } from '../base/units.ts';

/** Widths of steps that charts and tables use, milliseconds. */
const WIDTHS = [10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY];
const POINTS_MAX = 120;

/** The narrowest step of at least `leastMs` of which `POINTS_MAX` cover `lengthMs`. */
export const stepFor = (lengthMs: number, leastMs: number): number =>
  WIDTHS.find((width) => width >= leastMs && lengthMs / width <= POINTS_MAX) ?? 7 * DAY;

/** When the first balancer was heard, on an edge of a step: before that there was not nothing, it was not known. */
export function heardSince(view: FeatureView, now: EpochMs): EpochMs {
  const firsts = view.balancers(now).map(({ firstSeenAt }) => firstSeenAt);
  return epochMs(Math.floor(firsts.reduce<number>((first, one) => Math.min(first, one), now) / MINUTE) * MINUTE);
}

/** (from, to] in steps that end at whole multiples of the width; the last one ends at `to`, the first begins at `from`. */
export function stepsOf(from: EpochMs, to: EpochMs, stepMs: number): readonly (readonly [EpochMs, EpochMs])[] {
  const found: (readonly [EpochMs, EpochMs])[] = [];
  for (let start: number = from; start < to; ) {
    const end = Math.min(to, (Math.floor(start / stepMs) + 1) * stepMs);
    found.push([epochMs(start), epochMs(end)]);
    start = end;
  }
  return found;
}
