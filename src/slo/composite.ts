import { type Decimal, decimalDenominator, decimalToNumber } from '../base/decimal.ts';
import { budgetRatioOf } from './budget.ts';
import { badOfSlice, unitOf } from './slices.ts';
import type { Fraction, Indicator, Member, Objective, PlainIndicator, Slicing, Slo } from './slo.ts';

/** Digits of a composite's target. */
const SCALE = 18;
const TEXT_DIGITS = 6;

/** None where there is one thing to count. */
export const membersOf = (indicator: Indicator): readonly Member[] =>
  indicator.kind === 'composite' ? indicator.members : [];

/** What is counted where that is one thing; whoever asks this of a composite is wrong. */
export function plainIndicator({ id, indicator }: Pick<Slo, 'id' | 'indicator'>): PlainIndicator {
  if (indicator.kind === 'composite') throw new Error(`BUG: ${id} is a composite`);
  return indicator;
}

/** weight / budget ratio: how fast a member burns alone when all of its events are bad. */
function greatestBurn({ weight, objective }: Member): Fraction {
  const budget = budgetRatioOf(objective);
  return {
    numerator: weight.units * budget.denominator,
    denominator: decimalDenominator(weight) * budget.numerator,
  };
}

function sumOf(fractions: readonly Fraction[]): Fraction {
  const zero: Fraction = { numerator: 0n, denominator: 1n };
  return fractions.reduce(
    (sum, { numerator, denominator }) => ({
      numerator: sum.numerator * denominator + numerator * sum.denominator,
      denominator: sum.denominator * denominator,
    }),
    zero,
  );
}

const toNumber = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);

/**
 * The objective of a composite that counts events. OpenSLO: the composite burns at the members' rates, each times its
 * weight, added up: burn = sum of w e / b for weights w, error ratios e and budget ratios b. That is the burn of the
 * mean of the error ratios, each weighted by w / b, against a budget of 1 / sum of w / b; a full outage of all is a
 * ratio of 1. Two members of 99 % have 99.5 %: each spends the budget as fast as its own. The budget is rounded down to
 * 18 digits.
 */
export function compositeObjective(members: readonly Member[]): Objective {
  const { numerator, denominator } = sumOf(members.map(greatestBurn));
  const one = 10n ** BigInt(SCALE);
  const target: Decimal = { units: one - (denominator * one) / numerator, scale: SCALE };
  const budget = Number(denominator) / Number(numerator);
  return { text: String(Number((1 - Number(budget.toPrecision(TEXT_DIGITS))).toFixed(12))), target };
}

/** Each member's weight in the mean of error ratios; they add up to 1. */
export function sharesOf(members: readonly Member[]): readonly number[] {
  const burns = members.map((member) => toNumber(greatestBurn(member)));
  const sum = burns.reduce((total, burn) => total + burn, 0);
  return burns.map((burn) => burn / sum);
}

/** Whole events of one member in one slice. */
export interface MemberEvents {
  readonly bad: number;
  readonly total: number;
}

/**
 * How bad one slice of a composite is, in units. OpenSLO: a bad slice of any member is a bad one; where slices count by
 * their ratios, what is missing adds up, each times its weight, to the whole slice at most. A member without events
 * misses nothing.
 */
export function badOfSlices(slicing: Slicing, members: readonly Member[], events: readonly (MemberEvents | null)[]) {
  let bad = 0;
  for (const [index, { weight, sliceTarget }] of members.entries()) {
    const found = events[index] ?? null;
    if (found === null) continue;
    if (slicing.kind === 'timeslices') {
      const own = { ...slicing, target: sliceTarget ?? slicing.target };
      bad = Math.max(bad, badOfSlice(own, found.bad, found.total));
    } else bad += Math.ceil(badOfSlice(slicing, found.bad, found.total) * decimalToNumber(weight));
  }
  return Math.min(unitOf(slicing), bad);
}
