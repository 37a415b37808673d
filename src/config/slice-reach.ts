import { decimalDenominator, decimalToNumber } from '../base/decimal.ts';
import type { BudgetRatio } from '../slo/budget.ts';
import type { Fraction, Indicator, Slicing, Slo, Tier } from '../slo/slo.ts';
import { minBurnOf } from '../slo/windows.ts';
import { holds, lowerRatio } from './low-traffic.ts';

/** What `check` says of slices beside its figures. */
export interface SliceReach {
  readonly slicing: Slicing;
  /** Share of the whole budget that one wholly bad slice costs: the least that a failure can cost with Timeslices. */
  readonly oneSlice: number;
}

const ONE_MORE = 1 / 1024;
const toNumber = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);

/** How bad a slice is in which so many per mille of the events are, of each member of a composite. */
function badnessOf({ indicator }: Slo, slicing: Slicing, perMille: number): number {
  if (slicing.kind === 'ratio_timeslices') return Math.min(1, (weightOf(indicator) * perMille) / 1000);
  const { target } = slicing.target;
  const one = decimalDenominator(target);
  return BigInt(1000 - perMille) * one >= target.units * 1000n ? 0 : 1;
}

/**
 * Minutes until a tier fires on errors that begin with a slice and go on, from a clean window; null = never. A slice
 * counts when it is over, so that it is a whole number of slices: the first after which the long window holds. The
 * short window holds more of the same. A countdown may wait until so much is spent that the budget is gone in time.
 */
export function sliceMinutes(
  slo: Slo,
  slicing: Slicing,
  tier: Tier,
  budget: BudgetRatio,
  perMille: number,
): number | null {
  return minutesAt(slo, slicing, tier, budget, badnessOf(slo, slicing, perMille));
}

function minutesAt(slo: Slo, slicing: Slicing, tier: Tier, budget: BudgetRatio, bad: number): number | null {
  const { width } = slicing;
  const slices = tier.long / width;
  if (bad === 0) return null;
  for (let count = 1; count <= slices; count += 1) {
    if (holds(slo, tier, budget, count * bad, slices)) return (count * width) / 60_000;
  }
  const { policy, window } = slo;
  const low = lowerRatio(policy, slices * bad, slices) / budget.value;
  const isTooSlow = policy.confidence === null || slices * bad < tier.minBadEvents || low < toNumber(minBurnOf(tier));
  if (isTooSlow) return null;
  const after = (window.length - tier.exhaustsWithin * low) / (bad / budget.value);
  return (Math.ceil(after / width) * width) / 60_000;
}

/** Share of the budget that is gone when the tier fires on wholly bad slices. */
export function sliceSpentAtFire(slo: Slo, slicing: Slicing, tier: Tier, budget: BudgetRatio): number {
  const minutes = minutesAt(slo, slicing, tier, budget, 1);
  return minutes === null ? 1 : (minutes * 60_000) / (budget.value * slo.window.length);
}

/** Share of a group's traffic that can fail for ever without a page: all below it. */
export function sliceUnpagedShare(slo: Slo, slicing: Slicing, budget: BudgetRatio): number {
  const pages = slo.policy.tiers.filter(({ severity }) => severity === 'page');
  const isPaged = (bad: number): boolean => pages.some((tier) => minutesAt(slo, slicing, tier, budget, bad) !== null);
  if (!isPaged(1)) return 1;
  // A slice is bad where more fail than may.
  if (slicing.kind === 'timeslices') return 1 - decimalToNumber(slicing.target.target);
  let [low, high] = [0, 1];
  while (high - low > high * ONE_MORE * ONE_MORE) {
    const middle = (low + high) / 2;
    if (isPaged(middle)) high = middle;
    else low = middle;
  }
  return Math.min(1, high / weightOf(slo.indicator));
}

/** How much the missing parts of all members add up to. */
const weightOf = (indicator: Indicator): number =>
  indicator.kind === 'composite' ? indicator.members.reduce((sum, { weight }) => sum + decimalToNumber(weight), 0) : 1;
