import { decimalDenominator, decimalToNumber } from '../base/decimal.ts';
import { type BudgetRatio, budgetRatioOf } from '../slo/budget.ts';
import type { Fraction, Slicing, Slo, Tier } from '../slo/slo.ts';
import { minBurnOf } from '../slo/windows.ts';
import { type LowTraffic, lowTrafficOf } from './low-traffic.ts';
import { type SliceReach, sliceMinutes, sliceSpentAtFire, sliceUnpagedShare } from './slice-reach.ts';

/** Error ratios, in thousandths, for which `check` says when a tier fires: 100, 10, 2 and 0.2 %. */
export const ERRORS_PER_MILLE = [1000, 100, 20, 2] as const;

/** What one tier does for one SLO, from a clean window and with steady, plentiful traffic. */
export interface TierReach {
  readonly tier: Tier;
  /** Burn below which it never fires: the factor, or half of it but at least 1. */
  readonly minBurn: number;
  /** Share of the whole budget that is gone when it fires on errors that fill less than its long window. */
  readonly spentAtFire: number;
  /** Minutes until it fires, one per ERRORS_PER_MILLE; null = never. */
  readonly minutes: readonly (number | null)[];
}

export interface SloReach {
  readonly slo: Slo;
  readonly tiers: readonly TierReach[];
  /** Share of a group's traffic that can fail for ever without a page: all below it. 1 = nothing pages. */
  readonly unpagedShare: number;
  /** Null where slices are counted, which come at a rate of their own, and for composites, whose members differ. */
  readonly lowTraffic: LowTraffic | null;
  /** Null where events are counted. */
  readonly slices: SliceReach | null;
}

const toNumber = (fraction: Fraction): number => Number(fraction.numerator) / Number(fraction.denominator);

/** When each tier fires, and never where e < F * b for error ratio e, budget ratio b and least burn F, exactly. */
export function reachOf(slo: Slo): SloReach {
  const { budgeting } = slo;
  return budgeting.kind === 'occurrences' ? reachOfEvents(slo) : reachOfSlices(slo, budgeting);
}

function reachOfSlices(slo: Slo, slicing: Slicing): SloReach {
  const budget = budgetRatioOf(slo.objective);
  const tiers = slo.policy.tiers.map(
    (tier): TierReach => ({
      tier,
      minBurn: toNumber(minBurnOf(tier)),
      spentAtFire: sliceSpentAtFire(slo, slicing, tier, budget),
      minutes: ERRORS_PER_MILLE.map((errors) => sliceMinutes(slo, slicing, tier, budget, errors)),
    }),
  );
  const oneSlice = slicing.width / (budget.value * slo.window.length);
  const unpagedShare = sliceUnpagedShare(slo, slicing, budget);
  return { slo, tiers, unpagedShare, lowTraffic: null, slices: { slicing, oneSlice } };
}

function reachOfEvents(slo: Slo): SloReach {
  const one = decimalDenominator(slo.objective.target);
  const budgetUnits = one - slo.objective.target.units;
  const budget = budgetRatioOf(slo.objective);
  const tiers = slo.policy.tiers.map((tier): TierReach => {
    const burn = minBurnOf(tier);
    const minutes = ERRORS_PER_MILLE.map((errors) => {
      // errors / 1000 < burn * budget, cross-multiplied.
      const never = BigInt(errors) * burn.denominator * one < 1000n * burn.numerator * budgetUnits;
      return never ? null : minutesUntilFire(slo, tier, budget, errors / 1000);
    });
    const spentAtFire = (longBurnAtFire(slo, tier) * tier.long) / slo.window.length;
    return { tier, minBurn: toNumber(burn), spentAtFire, minutes };
  });
  const lowTraffic = slo.indicator.kind === 'composite' ? null : lowTrafficOf(slo, budget);
  const pages = tiers.filter(({ tier }) => tier.severity === 'page').map(({ minBurn }) => minBurn * budget.value);
  return { slo, tiers, unpagedShare: Math.min(1, ...pages), lowTraffic, slices: null };
}

/**
 * The burn that the long window must show. Plain policies ask for minBurn; a countdown also for a budget that is gone
 * within X = exhaustsWithin. A long window W at burn f, errors in it alone, has spent f W / L of the budget of L, so
 * that (1 - f W / L) L / f <= X, and f >= L / (X + W).
 */
function longBurnAtFire({ policy, window }: Slo, tier: Tier): number {
  const minBurn = toNumber(minBurnOf(tier));
  return policy.confidence === null ? minBurn : Math.max(minBurn, window.length / (tier.exhaustsWithin + tier.long));
}

/**
 * (b / e) * W * F minutes for error ratio e, budget ratio b, long window W and burn F (SRE Workbook, chapter 5). A
 * countdown's burn between minBurn and F waits until the budget lasts no longer than the tier's time: L / burn - X.
 */
function minutesUntilFire(slo: Slo, tier: Tier, budget: BudgetRatio, errors: number): number {
  const wanted = longBurnAtFire(slo, tier);
  const burn = errors / budget.value;
  // A plain tier's burn was compared exactly: it is reached, whatever the doubles make of it.
  const isReached = slo.policy.confidence === null || burn * (1 + 1e-12) >= wanted;
  const after = isReached ? (wanted * tier.long) / burn : slo.window.length / burn - tier.exhaustsWithin;
  return after / 60_000;
}

/** The objective as a percentage for people: `99.9`. */
export const objectivePercent = (slo: Slo): string =>
  String(Number((decimalToNumber(slo.objective.target) * 100).toPrecision(12)));
