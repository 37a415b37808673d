import { STEP_MS } from '../aggregate/view.ts';
import { type BudgetRatio, burnsAtLeast, errorRatio } from '../slo/budget.ts';
import type { Budgeting, Fraction, Policy, Tier } from '../slo/slo.ts';
import { minBurnOf } from '../slo/windows.ts';
import { countedIn, ratioBounds } from './bounds.ts';
import type { BudgetCourse } from './exhaustion.ts';
import { zOf } from './wilson.ts';
import type { GroupWindows } from './window.ts';

/** A firing tier clears only if it would not fire with both burns this much higher. */
const HYSTERESIS: Fraction = { numerator: 5n, denominator: 4n };
const ONE: Fraction = { numerator: 1n, denominator: 1n };
/** The short window reaches back until it would hold this many events at the long window's rate. */
const SHORT_EVENTS_MIN = 5;
/** A pace of exactly the tier's time counts, whatever the doubles make of it. */
const ROUNDING = 1e-12;

const toNumber = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);

export interface TierInput {
  readonly budget: BudgetRatio;
  /** Knows the group's windows, too. */
  readonly course: BudgetCourse;
}

/** The tiers that hold now, fastest first. `held` names those that held at the last evaluation. */
export function holdingTiers(policy: Policy, input: TierInput, held: readonly string[]): readonly Tier[] {
  // Without bad events nothing burns: the usual case costs nothing.
  const { windows } = input.course;
  if (windows.slo.bad === 0 && !windows.inconsistent && !burntBeforeReset(policy, windows)) return [];
  const { confidence, tiers } = policy;
  if (confidence === null) return tiers.filter((tier) => holdsPlainly(tier, input));
  const z = zOf(confidence);
  return tiers.filter((tier) => holdsSurely(tier, input, z, held.includes(tier.name)));
}

/** Alert windows reach back over a calendar's reset, so that bad events may lie before all that the SLO window holds. */
function burntBeforeReset({ tiers }: Policy, windows: GroupWindows): boolean {
  if (windows.calendar === null || tiers.length === 0) return false;
  const { bad, inconsistent } = windows.read(Math.max(...tiers.map(({ long }) => long)));
  return bad > 0 || inconsistent;
}

/**
 * SRE Workbook: burn(long) >= minBurn and burn(short) >= minBurn (the factor, where it is `full`); an empty window is
 * false. A policy of one's own may ask for bad events, too; the shipped one does not.
 */
function holdsPlainly(tier: Tier, { course: { windows }, budget }: TierInput): boolean {
  const long = windows.read(tier.long);
  const minBurn = minBurnOf(tier);
  return (
    countedIn(long, windows.group.slo.budgeting).bad >= tier.minBadEvents &&
    burnsAtLeast(long, budget, minBurn) &&
    burnsAtLeast(windows.read(tier.short), budget, minBurn)
  );
}

/**
 * countdown: the long window's lower bound and the short window's plain ratio must each burn at minBurn, and at each
 * the budget would be gone within the tier's time (by what is left, or by pace if that is sooner). An exhausted budget
 * has no time left, so that minBurn decides.
 */
function holdsSurely(tier: Tier, input: TierInput, z: number, isHeld: boolean): boolean {
  const { budget } = input;
  const { windows } = input.course;
  const scale = isHeld ? HYSTERESIS : ONE;
  const long = windows.read(tier.long);
  const { budgeting } = windows.group.slo;
  const counted = countedIn(long, budgeting);
  if (counted.bad < tier.minBadEvents || long.bad <= 0 || long.total === 0) return false;
  const minBurn = minBurnOf(tier);
  // The bound is below the plain ratio, so that this settles most groups without a root.
  if (!burnsAtLeast(long, budget, minBurn, scale)) return false;
  const low = ratioBounds(long, budgeting, z).low * toNumber(scale);
  if (low < toNumber(minBurn) * budget.value) return false;
  const short = windows.read(shortLength(tier, long.observedMs / counted.total, budgeting));
  if (!burnsAtLeast(short, budget, minBurn, scale)) return false;
  const ratio = (errorRatio(short) ?? 0) * toNumber(scale);
  return isGoneInTime(tier, input, low) && isGoneInTime(tier, input, ratio);
}

/**
 * Long enough for 5 events at the long window's rate; at least the tier's short window, at most its long one. Slices come
 * at a rate of their own: the tier's windows hold enough of them.
 */
function shortLength(tier: Tier, msPerEvent: number, budgeting: Budgeting): number {
  if (budgeting.kind !== 'occurrences') return tier.short;
  const wanted = Math.ceil((SHORT_EVENTS_MIN * msPerEvent) / STEP_MS) * STEP_MS;
  return Math.min(tier.long, Math.max(tier.short, wanted));
}

/** min(time to exhaustion, pace) <= exhaustsWithin at this error ratio. */
function isGoneInTime(tier: Tier, { budget, course }: TierInput, ratio: number): boolean {
  if (ratio * (1 + ROUNDING) >= toNumber(tier.factor) * budget.value) return true;
  return course.timeAt(ratio, tier.exhaustsWithin) !== null;
}
