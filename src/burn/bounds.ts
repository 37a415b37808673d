import { paddedTotal } from '../slo/budget.ts';
import { unitOf } from '../slo/slices.ts';
import type { Budgeting } from '../slo/slo.ts';
import { eventsOf } from './composite.ts';
import { wilsonBounds } from './wilson.ts';
import type { ReadWindow } from './window.ts';

/**
 * Bounds of a window's error ratio by its events or slices. Those of a composite are its members', by their shares:
 * each is as sure as its own events make it, so that one failure of few does not count as many of all. A bound of the
 * sum itself would be less strict.
 */
export function ratioBounds(
  window: ReadWindow,
  budgeting: Budgeting,
  z?: number,
): { readonly low: number; readonly high: number } {
  if (window.members === undefined) {
    const unit = unitOf(budgeting);
    return wilsonBounds(window.bad / unit, paddedTotal(window) / unit, z);
  }
  let [low, high] = [0, 0];
  for (const { share, window: own } of window.members) {
    if (own.total <= 0) continue;
    const bounds = wilsonBounds(own.bad, paddedTotal(own), z);
    low += share * bounds.low;
    high += share * bounds.high;
  }
  return { low, high };
}

/** Bad and all events or slices of a window as they were counted: no parts, no weights. */
export function countedIn(window: ReadWindow, budgeting: Budgeting): { readonly bad: number; readonly total: number } {
  if (window.members !== undefined) return eventsOf(window.members);
  const unit = unitOf(budgeting);
  return { bad: window.bad / unit, total: window.total / unit };
}
