import type { EpochMs } from '../base/units.ts';
import { type BudgetRatio, paddedTotal } from '../slo/budget.ts';
import type { ExpectedTraffic } from './traffic.ts';
import type { CalendarRead, SloWindowRead } from './window.ts';

/** Relative to the whole budget: keeps rounding from deciding at exactly burn 1. */
export const NOISE = 1e-12;

/**
 * Milliseconds from `to` until a calendar budget that is not exhausted is, with errors at `ratio` of the expected
 * traffic; null = never. While traffic comes as expected, the period's denominator stays as it is: what arrives was
 * expected. At the reset the budget starts afresh, as the share of what the next period is expected to hold; a burn of
 * at least 1 uses that up before its end, one below 1 no period's.
 */
export function timeInCalendar(
  { period, next, arriving }: CalendarRead,
  slo: SloWindowRead,
  budget: BudgetRatio,
  to: EpochMs,
  ratio: number,
): number | null {
  const isBelowOne = ratio < budget.value * (1 - NOISE);
  const whole = budget.value * paddedTotal(slo);
  const noise = isBelowOne ? NOISE * whole : -NOISE * whole;
  const found = firstAt(arriving, (whole - slo.bad + noise) / ratio, period.end - to);
  if (found !== null || isBelowOne) return found;
  const before = arriving(period.end - to);
  const nextWhole = budget.value * (arriving(next.end - to) - before);
  return nextWhole <= 0 ? null : firstAt(arriving, before + (nextWhole * (1 - NOISE)) / ratio, next.end - to);
}

/** The first time at which so many events have come, to a millisecond; null when they have not by `endMs`. */
function firstAt(arriving: ExpectedTraffic, events: number, endMs: number): number | null {
  if (arriving(endMs) < events) return null;
  let [low, high] = [0, endMs];
  if (arriving(low) >= events) return low;
  while (high - low > 0.5) {
    const middle = (low + high) / 2;
    if (arriving(middle) < events) low = middle;
    else high = middle;
  }
  return high;
}
