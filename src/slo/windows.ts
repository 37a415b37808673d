import type { Ms } from '../base/units.ts';
import type { Fraction, Tier } from './slo.ts';

const ONE: Fraction = { numerator: 1n, denominator: 1n };

/** The textbook factor, SLO window / exhaustsWithin, in lowest terms: 30d / 50h = 72/5. */
export function factorOf(sloWindow: Ms, exhaustsWithin: Ms): Fraction {
  const [numerator, denominator] = [BigInt(sloWindow), BigInt(exhaustsWithin)];
  let [a, b] = [numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return { numerator: numerator / a, denominator: denominator / a };
}

/** The burn that both alert windows must reach: the factor, or half of it but at least 1. */
export function minBurnOf({ factor, minBurn }: Pick<Tier, 'factor' | 'minBurn'>): Fraction {
  if (minBurn === 'full') return factor;
  return factor.numerator < 2n * factor.denominator
    ? ONE
    : { numerator: factor.numerator, denominator: 2n * factor.denominator };
}
