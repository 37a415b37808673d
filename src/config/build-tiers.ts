import { type Decimal, decimalDenominator } from '../base/decimal.ts';
import { formatDuration } from '../base/duration.ts';
import { type Ms, ms } from '../base/units.ts';
import { holdsSlices, sliceWidthOf } from '../slo/slices.ts';
import type { Budgeting, Fraction, Tier } from '../slo/slo.ts';
import { factorOf, minBurnOf } from '../slo/windows.ts';
import type { BuiltPolicy, PolicyData, TierData } from './policies.ts';

/** What of an SLO decides how its tiers come out. */
export interface TierSubject {
  readonly sloWindow: Ms;
  readonly target: Decimal;
  readonly budgeting: Budgeting;
}

/** minBurn * (1 - target) <= 1, exactly: even a full outage burns no faster than 1 / (1 - target). */
function isReachable(tier: Pick<Tier, 'factor' | 'minBurn'>, target: Decimal): boolean {
  const one = decimalDenominator(target);
  const burn = minBurnOf(tier);
  return burn.numerator * (one - target.units) <= burn.denominator * one;
}

/**
 * A tier of a shipped policy, whose figures are for 30 days, on another window: pages within a sixth of it at most,
 * tickets within a third, and the slowest ticket within all of it. Its name follows.
 */
function fitTier(tier: TierData, isSlowest: boolean, sloWindow: Ms): TierData {
  const most = tier.severity === 'page' ? sloWindow / 6 : sloWindow / 3;
  const exhaustsWithin = ms(isSlowest && tier.severity === 'ticket' ? sloWindow : Math.min(tier.exhaustsWithin, most));
  return exhaustsWithin === tier.exhaustsWithin
    ? tier
    : { ...tier, exhaustsWithin, name: formatDuration(exhaustsWithin) };
}

/** Joins tiers with an SLO. `fit` adapts them and leaves out what cannot fire, `strict` makes an error of it. */
export function buildTiers(data: PolicyData, slo: TierSubject, mode: 'fit' | 'strict'): BuiltPolicy {
  const { sloWindow } = slo;
  const tiers: Tier[] = [];
  const left: string[] = [];
  for (const written of data.tiers) {
    const tier = mode === 'fit' ? fitTier(written, written === data.tiers.at(-1), sloWindow) : written;
    const joined: Tier = { ...tier, factor: factorOf(sloWindow, tier.exhaustsWithin) };
    const fault = faultOf(joined, slo);
    if (fault !== undefined) left.push(`tier ${written.name} ${fault}`);
    else if (tiers.some((other) => other.name === tier.name))
      left.push(`tier ${written.name} is here another ${tier.name}`);
    else tiers.push(joined);
  }
  if (tiers.length === 0 || (mode === 'strict' && left.length > 0)) return { kind: 'unreachable', reasons: left };
  return { kind: 'policy', policy: { name: data.name, confidence: data.confidence, tiers }, left };
}

const toNumber = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);
const times = (burn: number): string => `${Number(burn.toPrecision(4))}x`;

function faultOf(tier: Tier, { sloWindow, target, budgeting }: TierSubject): string | undefined {
  if (tier.exhaustsWithin > sloWindow) return 'is longer than the SLO window';
  if (tier.long >= tier.exhaustsWithin) return 'has a long window in which the whole budget would be gone';
  const cut = [tier.short, tier.long].find((window) => !holdsSlices(budgeting, window));
  if (cut !== undefined) {
    const width = formatDuration(sliceWidthOf(budgeting) ?? ms(0));
    return `has a window of ${formatDuration(cut)}, which holds no two whole slices of ${width}`;
  }
  if (isReachable(tier, target)) return undefined;
  const most = Number(decimalDenominator(target)) / Number(decimalDenominator(target) - target.units);
  return `asks for a burn of ${times(toNumber(minBurnOf(tier)))}, and a full outage burns ${times(most)}`;
}
