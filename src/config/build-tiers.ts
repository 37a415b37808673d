import { type Decimal, decimalDenominator } from '../base/decimal.ts';
import type { Ms } from '../base/units.ts';
import type { Fraction, Tier } from '../slo/slo.ts';
import type { BuiltPolicy, PolicyData, TierData } from './policies.ts';

const fraction = (numerator: number, denominator: number): Fraction => {
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));
  const [n, d] = [BigInt(numerator), BigInt(denominator)];
  const common = gcd(n, d);
  return { numerator: n / common, denominator: d / common };
};

/** minBurn * (1 - target) <= 1, exactly: even a full outage burns no faster than 1 / (1 - target). */
function isReachable(factor: Fraction, minBurn: TierData['minBurn'], target: Decimal): boolean {
  const one = decimalDenominator(target);
  const parts = minBurn === 'half' ? 2n : 1n;
  const half = { numerator: factor.numerator, denominator: factor.denominator * parts };
  const burn = half.numerator < half.denominator ? { numerator: 1n, denominator: 1n } : half;
  return burn.numerator * (one - target.units) <= burn.denominator * one;
}

/** Joins tiers with an SLO. `fit` leaves out what cannot fire, `strict` makes an error of it. */
export function buildTiers(data: PolicyData, sloWindow: Ms, target: Decimal, mode: 'fit' | 'strict'): BuiltPolicy {
  const tiers: Tier[] = [];
  const left: string[] = [];
  for (const tier of data.tiers) {
    const factor = fraction(sloWindow, tier.exhaustsWithin);
    if (tier.exhaustsWithin > sloWindow) left.push(`tier ${tier.name} is longer than the SLO window`);
    else if (!isReachable(factor, tier.minBurn, target))
      left.push(`tier ${tier.name} asks for a burn that a full outage does not reach`);
    else tiers.push({ ...tier, factor });
  }
  if (tiers.length === 0 || (mode === 'strict' && left.length > 0)) return { kind: 'unreachable', reasons: left };
  return { kind: 'policy', policy: { name: data.name, confidence: data.confidence, tiers }, left };
}
