import { decimalDenominator } from '../base/decimal.ts';
import type { Fraction, Objective } from './slo.ts';

/**
 * Events of one window as the budget sees them. If the group's first data lies inside the window, the missing lead is
 * taken as error-free at the group's mean observed rate: the total is scaled by lengthMs / observedMs. Gaps later on
 * are not padded.
 */
export interface BudgetWindow {
  readonly bad: number;
  readonly total: number;
  readonly lengthMs: number;
  /** Equal to lengthMs without a missing lead. */
  readonly observedMs: number;
  /** Of a calendar period that is not over: the events still expected until its end. Nothing otherwise. */
  readonly expected?: number;
}

/** The share of events that may be bad, 1 - target, exactly. `value` is the nearest double. */
export interface BudgetRatio extends Fraction {
  readonly value: number;
}

/** From the objective's own digits: 0.999 gives 1/1000, not 1 - 0.999. */
export function budgetRatioOf(objective: Objective): BudgetRatio {
  const denominator = decimalDenominator(objective.target);
  const numerator = denominator - objective.target.units;
  return { numerator, denominator, value: Number(numerator) / Number(denominator) };
}

/** The events that the budget is a share of: observed, of a missing lead, and expected. */
export const paddedTotal = ({ total, lengthMs, observedMs, expected = 0 }: BudgetWindow): number =>
  (total * lengthMs) / observedMs + expected;

/** Bad events / all events, lead and expected ones included; null without events. */
export function errorRatio(window: BudgetWindow): number | null {
  const total = paddedTotal(window);
  return total === 0 ? null : window.bad / total;
}

/** Error ratio / budget ratio (SRE Workbook, chapter 5); null without events. */
export function burnOf(window: BudgetWindow, budget: BudgetRatio): number | null {
  const ratio = errorRatio(window);
  return ratio === null ? null : ratio / budget.value;
}

/** 1 - bad / (budget x total): signed, never clamped; null without events. */
export function budgetRemaining(window: BudgetWindow, budget: BudgetRatio): number | null {
  const burn = burnOf(window, budget);
  return burn === null ? null : 1 - burn;
}

/** What is left if nothing more were to come: of a calendar period, as if it ended now. */
export const budgetRemainingSoFar = (window: BudgetWindow, budget: BudgetRatio): number | null =>
  budgetRemaining({ ...window, expected: 0 }, budget);

/** Doubles decide unless they are this close to the threshold. */
const CLOSE = 1e-9;

/**
 * burn >= factor, exactly: bad x observed x bDen x fDen >= fNum x bNum x (total x length + expected x observed). False without events. `scale`
 * multiplies the burn (hysteresis).
 */
export function burnsAtLeast(window: BudgetWindow, budget: BudgetRatio, factor: Fraction, scale?: Fraction): boolean {
  const burn = burnOf(window, budget);
  if (burn === null) return false;
  const by = scale === undefined ? 1 : Number(scale.numerator) / Number(scale.denominator);
  const wanted = Number(factor.numerator) / Number(factor.denominator);
  if (Math.abs(burn * by - wanted) > CLOSE * wanted) return burn * by > wanted;
  const whole = (value: number): bigint => BigInt(Math.round(value));
  const left = whole(window.bad) * whole(window.observedMs) * budget.denominator * factor.denominator;
  const total = whole(window.total) * whole(window.lengthMs) + whole(window.expected ?? 0) * whole(window.observedMs);
  const right = factor.numerator * budget.numerator * total;
  return left * (scale?.numerator ?? 1n) >= right * (scale?.denominator ?? 1n);
}

const ONE: Fraction = { numerator: 1n, denominator: 1n };

/** Nothing is left: bad >= budget x total, exactly. */
export const isExhausted = (window: BudgetWindow, budget: BudgetRatio): boolean =>
  window.bad > 0 && burnsAtLeast(window, budget, ONE);
