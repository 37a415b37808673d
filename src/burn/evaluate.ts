import type { FeedView, GroupView } from '../aggregate/view.ts';
import { type BurnRate, burnRate, DAY, type EpochMs, HOUR, type Ms, ratio } from '../base/units.ts';
import type { Exhaustion } from '../model/alert.ts';
import type { GroupState } from '../model/views.ts';
import { type BudgetRatio, budgetRemaining, budgetRemainingSoFar, burnOf } from '../slo/budget.ts';
import { holdsSlices, sliceEdgeAt, sliceWidthOf, unitOf } from '../slo/slices.ts';
import type { Budgeting } from '../slo/slo.ts';
import { leadingTier } from './alert.ts';
import { BudgetCourse, exhaustionAt, type GroupPast } from './exhaustion.ts';
import { type GroupAlertState, INACTIVE, nextState } from './group-state.ts';
import type { GroupStatus, SliceCoverage } from './status.ts';
import { holdingTiers } from './tiers.ts';
import type { GroupWindows, SloWindowRead } from './window.ts';

/** A group unheard for this long is retired: its alert is closed as unknown. */
export const RETIRED_MS: Ms = DAY;

/** One group at one tick: what is to be read, and what it leads to. */
export interface GroupEvaluation {
  readonly windows: GroupWindows;
  readonly course: BudgetCourse;
  readonly state: GroupAlertState;
  readonly budget: BudgetRatio;
}

/**
 * The next alert state of one group. All alert windows end at the feed's watermark, where slices are counted at the end of
 * the last one that it has passed. While none of its balancers
 * reports, what fires goes on firing and nothing begins to; after 24 h of silence it is retired.
 */
export function evaluateGroup(
  group: GroupView,
  feed: FeedView,
  before: GroupAlertState,
  budget: BudgetRatio,
  past: GroupPast,
  now: EpochMs,
): GroupEvaluation {
  const { policy } = group.slo;
  const to = sliceEdgeAt(group.slo.budgeting, feed.watermark ?? now);
  const course = new BudgetCourse(group, budget, to, past, feed.reporting ? to : now);
  const after = (): GroupAlertState => {
    if (feed.reporting && feed.watermark !== null) {
      const held = before.kind === 'firing' ? before.holding : [];
      const holding = holdingTiers(policy, { budget, course }, held);
      return nextState(before, policy, holding, feed.coverage, now);
    }
    const isRetired = feed.newestPointAt !== null && now - feed.newestPointAt >= RETIRED_MS;
    return isRetired ? INACTIVE : before;
  };
  return { windows: course.windows, course, state: after(), budget };
}

/** Of the long window of the highest holding tier, else of an hour. */
export function exhaustionOf({ windows, course, state, budget }: GroupEvaluation): Exhaustion {
  const { slo } = windows.group;
  const long = leadingTier(slo, state)?.long ?? HOUR;
  return exhaustionAt(course, windows.read(long), budget, slo.window.length);
}

/** What the read side shows. `shown` are the windows by name, shortest first. */
export function toStatus(
  evaluation: GroupEvaluation,
  feed: FeedView,
  exhaustion: Exhaustion,
  shown: ReadonlyMap<string, Ms>,
): GroupStatus {
  const { windows, state, budget } = evaluation;
  const { group, slo: window, calendar } = windows;
  const burn = new Map<string, BurnRate | null>();
  for (const [name, length] of shown) {
    const value = holdsSlices(group.slo.budgeting, length) ? burnOf(windows.read(length), budget) : null;
    burn.set(name, value === null ? null : burnRate(value));
  }
  // Slices without events are good, but where there was never an event there is nothing to be good at.
  const isQuiet = (group.lastEventAt ?? window.from) <= window.from;
  const remaining = isQuiet ? null : budgetRemaining(window, budget);
  const soFar = isQuiet ? null : budgetRemainingSoFar(window, budget);
  const firing = state.kind === 'firing' ? state : null;
  const unit = unitOf(group.slo.budgeting);
  const good = window.observedTotal - window.observedBad;
  return {
    slo: group.slo,
    labels: group.labels,
    key: group.key,
    state: stateOf(feed, isQuiet || window.observedTotal === 0),
    coverage: feed.coverage,
    good: good / unit,
    bad: window.observedBad / unit,
    total: window.observedTotal / unit,
    slices: slicesOf(window, group.slo.budgeting),
    sli: isQuiet || window.total === 0 ? null : ratio(good / window.total),
    budgetRemaining: remaining === null ? null : ratio(remaining),
    budgetRemainingSoFar: calendar === null || soFar === null ? null : ratio(soFar),
    resetsAt: calendar?.period.end ?? null,
    burn,
    exhaustion,
    tier: firing?.tier ?? null,
    tiersHolding: firing?.holding ?? [],
    severity: firing?.severity ?? null,
    since: firing?.since ?? null,
    inconsistent: windows.inconsistent || (group.contradicts?.(window.from, window.end) ?? false),
  };
}

/** How many of the slices that end in the SLO window have data; null where events are counted. */
function slicesOf({ edge, end, observedTotal }: SloWindowRead, budgeting: Budgeting): SliceCoverage | null {
  const width = sliceWidthOf(budgeting);
  if (width === null) return null;
  return { observed: observedTotal / unitOf(budgeting), expected: Math.floor(end / width) - Math.floor(edge / width) };
}

/**
 * No balancer reports: nothing is known. They report and nothing was counted in the SLO window: there is no traffic,
 * and no SLI. Neither is 100 %.
 */
function stateOf(feed: FeedView, isQuiet: boolean): GroupState {
  if (!feed.reporting || feed.watermark === null) return 'no_data';
  return isQuiet ? 'no_traffic' : 'measured';
}
