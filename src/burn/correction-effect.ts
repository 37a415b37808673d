import { Exclusion } from '../aggregate/exclusion.ts';
import type { FeedView, GroupView } from '../aggregate/view.ts';
import type { EpochMs } from '../base/units.ts';
import { budgetRatioOf, budgetRemaining } from '../slo/budget.ts';
import { sliceEdgeAt, unitOf } from '../slo/slices.ts';
import { GroupWindows } from './window.ts';

/** What one correction does to one group now. */
export interface CorrectionEffect {
  /** Events, or slices, of its time within the SLO window, whether or not others leave them out too. */
  readonly good: number;
  readonly bad: number;
  /** Share of the budget that would be left without it, and that is left; null without events. */
  readonly before: number | null;
  readonly after: number | null;
}

/** Null where the correction does not apply. `without` is the group as if it had been undone. */
export function correctionEffect(
  id: number,
  group: GroupView,
  without: GroupView,
  feed: FeedView,
  now: EpochMs,
): CorrectionEffect | null {
  const source = group.corrected?.exclusion.sources.find((one) => one.id === id);
  if (group.corrected === undefined || source === undefined) return null;
  const { observed } = group.corrected;
  const { budgeting } = group.slo;
  const to = sliceEdgeAt(budgeting, feed.watermark ?? now);
  const unit = unitOf(budgeting);
  const read = (view: GroupView) => new GroupWindows(view, to, undefined, feed.reporting ? to : now).slo;
  const [window, other] = [read(group), read(without)];
  const seen = observed.range(window.from, window.end);
  const rest = new Exclusion('', [source], source.ranges).takeFrom(seen, observed);
  const bad = (seen.bad - rest.bad) / unit;
  const budget = budgetRatioOf(group.slo.objective);
  return {
    good: (seen.total - rest.total) / unit - bad,
    bad,
    before: budgetRemaining(other, budget),
    after: budgetRemaining(window, budget),
  };
}
