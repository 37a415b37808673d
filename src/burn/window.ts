import { type GroupView, STEP_MS, type WindowSums } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { BudgetWindow } from '../slo/budget.ts';

const EMPTY = { bad: 0, total: 0 };

/**
 * Reads (to - lengthMs, to] of a group. Input that contradicts itself reads as no events: it must not become a
 * budget.
 */
export function readWindow(group: GroupView, to: EpochMs, lengthMs: number): BudgetWindow & { inconsistent: boolean } {
  const sums = group.range(epochMs(to - lengthMs), to);
  return toBudgetWindow(group, sums, to, lengthMs);
}

/** The SLO window, to the end of everything received. */
export function readSloWindow(group: GroupView, now: EpochMs): BudgetWindow & { inconsistent: boolean } {
  const end = epochMs(Math.max(now, group.lastEventAt ?? now));
  const { length } = group.slo.window;
  return toBudgetWindow(group, group.range(epochMs(now - length), end), now, length);
}

function toBudgetWindow(group: GroupView, sums: WindowSums, to: EpochMs, lengthMs: number) {
  const first = group.firstDataAt;
  const isPadded = first !== null && first > to - lengthMs;
  const observedMs = isPadded ? Math.max(STEP_MS, to - first) : lengthMs;
  const { bad, total } = sums.inconsistent ? EMPTY : sums;
  return { bad, total, lengthMs, observedMs: Math.min(observedMs, lengthMs), inconsistent: sums.inconsistent };
}
