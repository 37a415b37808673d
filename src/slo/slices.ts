import { decimalDenominator } from '../base/decimal.ts';
import { type EpochMs, epochMs, type Ms } from '../base/units.ts';
import type { Budgeting, Slicing } from './slo.ts';

/**
 * Parts into which a slice is divided where each counts by its own ratio: a slice of 1 bad in 3 is 333,333,334
 * billionths bad. Rounded up, so that what reaches a threshold by its true fractions reaches it in parts, too; a month
 * of minutes is off by at most 0.00005 slices. A year of 10 s slices in parts is still an exact double.
 */
export const SLICE_PARTS = 1_000_000_000;

/** In what the sums of an SLO are told, per event or slice: parts of a slice, or 1. */
export const unitOf = ({ kind }: Budgeting): number => (kind === 'ratio_timeslices' ? SLICE_PARTS : 1);

/** Width of a slice; null where events are counted. */
export const sliceWidthOf = (budgeting: Budgeting): Ms | null =>
  budgeting.kind === 'occurrences' ? null : budgeting.width;

/** The newest edge of a slice at or before `at`; `at` itself where events are counted. */
export function sliceEdgeAt(budgeting: Budgeting, at: EpochMs): EpochMs {
  const width = sliceWidthOf(budgeting);
  return width === null ? at : epochMs(Math.floor(at / width) * width);
}

/** Whether a window holds whole slices, and at least two; always where events are counted. */
export function holdsSlices(budgeting: Budgeting, lengthMs: number): boolean {
  const width = sliceWidthOf(budgeting);
  return width === null || (lengthMs % width === 0 && lengthMs >= 2 * width);
}

/**
 * How bad a slice with data is, in units: 0 or 1 for Timeslices, parts for RatioTimeslices; 0 without events. `bad` and
 * `total` are whole events, 0 <= bad <= total. Exact: good / total >= target is decided cross-multiplied.
 */
export function badOfSlice(slicing: Slicing, bad: number, total: number): number {
  if (bad === 0) return 0;
  if (slicing.kind === 'ratio_timeslices') return partsOf(bad, total);
  const { target } = slicing.target;
  return BigInt(total - bad) * decimalDenominator(target) >= target.units * BigInt(total) ? 0 : 1;
}

/** bad / total in parts, rounded up. */
function partsOf(bad: number, total: number): number {
  const product = bad * SLICE_PARTS;
  if (product <= Number.MAX_SAFE_INTEGER) {
    const rest = product % total;
    return (product - rest) / total + (rest > 0 ? 1 : 0);
  }
  const [whole, of] = [BigInt(bad) * BigInt(SLICE_PARTS), BigInt(total)];
  return Number((whole + of - 1n) / of);
}
