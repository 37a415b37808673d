import { type GroupView, STEP_MS } from '../aggregate/view.ts';
import type { EpochMs } from '../base/units.ts';
import { type BudgetRatio, type BudgetWindow, burnsAtLeast, errorRatio, paddedTotal } from '../slo/budget.ts';
import type { Fraction, Policy, Tier } from '../slo/slo.ts';
import type { BudgetCourse } from './exhaustion.ts';
import { wilsonBounds } from './wilson.ts';
import { readWindow } from './window.ts';

/** A firing tier clears only if it would not fire with both burns this much higher. */
const HYSTERESIS: Fraction = { numerator: 5n, denominator: 4n };
const ONE: Fraction = { numerator: 1n, denominator: 1n };
/** The short window reaches back until it would hold this many events at the long window's rate. */
const SHORT_EVENTS_MIN = 5;

const toNumber = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);

export interface TierInput {
  readonly group: GroupView;
  readonly budget: BudgetRatio;
  /** End of all alert windows. */
  readonly to: EpochMs;
  readonly course: BudgetCourse;
}

/** Names of the tiers that hold now, fastest first. `held` are those that held at the last evaluation. */
export function holdingTiers(policy: Policy, input: TierInput, held: readonly string[]): readonly Tier[] {
  return policy.tiers.filter((tier) =>
    policy.confidence === null ? holdsPlainly(tier, input) : holdsSurely(tier, input, held.includes(tier.name)),
  );
}

/** SRE Workbook: burn(long) >= factor and burn(short) >= factor, nothing else; an empty window is false. */
function holdsPlainly(tier: Tier, { group, budget, to }: TierInput): boolean {
  return (
    burnsAtLeast(readWindow(group, to, tier.long), budget, tier.factor) &&
    burnsAtLeast(readWindow(group, to, tier.short), budget, tier.factor)
  );
}

/**
 * countdown: the long window's lower bound and the short window's plain ratio must each burn at minBurn, and at each the budget
 * would be gone within the tier's time (by what is left, or by pace if that is sooner). An exhausted budget has no time left, so
 * that minBurn decides.
 */
function holdsSurely(tier: Tier, input: TierInput, isHeld: boolean): boolean {
  const { group, budget, to } = input;
  const scale = isHeld ? HYSTERESIS : ONE;
  const long = readWindow(group, to, tier.long);
  if (long.bad < tier.minBadEvents || long.total === 0) return false;
  const low = wilsonBounds(long.bad, paddedTotal(long)).low * toNumber(scale);
  const minBurn = minBurnOf(tier);
  if (low < toNumber(minBurn) * budget.value) return false;
  const short = readWindow(group, to, shortLength(tier, long));
  if (!burnsAtLeast(short, budget, minBurn, scale)) return false;
  const ratio = (errorRatio(short) ?? 0) * toNumber(scale);
  return isGoneInTime(tier, input, low) && isGoneInTime(tier, input, ratio);
}

/** Half of the textbook factor, at least 1; or the whole of it. */
export function minBurnOf(tier: Tier): Fraction {
  if (tier.minBurn === 'full') return tier.factor;
  const half = { numerator: tier.factor.numerator, denominator: tier.factor.denominator * 2n };
  return toNumber(half) < 1 ? ONE : half;
}

function shortLength(tier: Tier, long: BudgetWindow): number {
  const msPerEvent = long.observedMs / long.total;
  const wanted = Math.ceil((SHORT_EVENTS_MIN * msPerEvent) / STEP_MS) * STEP_MS;
  return Math.min(tier.long, Math.max(tier.short, wanted));
}

function isGoneInTime(tier: Tier, { budget, course }: TierInput, ratio: number): boolean {
  if (ratio >= toNumber(tier.factor) * budget.value) return true;
  const left = course.timeAt(ratio);
  return left !== null && left <= tier.exhaustsWithin;
}
