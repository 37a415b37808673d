import { decimalDenominator, decimalToNumber } from '../base/decimal.ts';
import type { Fraction, Slo, Tier } from '../slo/slo.ts';
import { minBurnOf } from '../slo/windows.ts';

/** Error ratios, in thousandths, for which `check` says when a tier fires: 100, 10, 2 and 0.2 %. */
export const ERRORS_PER_MILLE = [1000, 100, 20, 2] as const;

/** What one tier does for one SLO, from a clean window and with steady traffic. */
export interface TierReach {
  readonly tier: Tier;
  /** Burn at which it can fire: the factor, or half of it but at least 1. */
  readonly minBurn: number;
  /** Share of the whole budget that is gone when it fires: burn * long / SLO window. */
  readonly spentAtFire: number;
  /** Minutes until it fires, one per ERRORS_PER_MILLE; null = never. */
  readonly minutes: readonly (number | null)[];
}

export interface SloReach {
  readonly slo: Slo;
  readonly tiers: readonly TierReach[];
  /** Share of a group's traffic that can fail for ever without a page: all below it. 1 = nothing pages. */
  readonly unpagedShare: number;
}

const toNumber = (fraction: Fraction): number => Number(fraction.numerator) / Number(fraction.denominator);

/**
 * When each tier fires: (b / e) * W * F minutes for error ratio e, budget ratio b, long window W and burn F, and
 * never where e < F * b (SRE Workbook, chapter 5). The comparison is exact.
 */
export function reachOf(slo: Slo): SloReach {
  const one = decimalDenominator(slo.objective.target);
  const budgetUnits = one - slo.objective.target.units;
  const budget = Number(budgetUnits) / Number(one);
  const tiers = slo.policy.tiers.map((tier): TierReach => {
    const burn = minBurnOf(tier);
    const minBurn = toNumber(burn);
    const minutes = ERRORS_PER_MILLE.map((errors) => {
      // errors / 1000 < burn * budget, cross-multiplied.
      const never = BigInt(errors) * burn.denominator * one < 1000n * burn.numerator * budgetUnits;
      return never ? null : (((budget * 1000) / errors) * tier.long * minBurn) / 60_000;
    });
    return { tier, minBurn, spentAtFire: (minBurn * tier.long) / slo.window.length, minutes };
  });
  const pages = tiers.filter(({ tier }) => tier.severity === 'page').map(({ minBurn }) => minBurn * budget);
  return { slo, tiers, unpagedShare: Math.min(1, ...pages) };
}

/** The objective as a percentage for people: `99.9`. */
export const objectivePercent = (slo: Slo): string =>
  String(Number((decimalToNumber(slo.objective.target) * 100).toPrecision(12)));
