import type { FeedView, GroupView } from '../aggregate/view.ts';
import { type BurnRate, burnRate, DAY, type EpochMs, HOUR, type Ms, ratio } from '../base/units.ts';
import type { Exhaustion } from '../model/alert.ts';
import type { GroupState } from '../model/views.ts';
import { type BudgetRatio, budgetRemaining, budgetRemainingSoFar, burnOf } from '../slo/budget.ts';
import { leadingTier } from './alert.ts';
import { BudgetCourse, exhaustionAt, type GroupPast } from './exhaustion.ts';
import { type GroupAlertState, INACTIVE, nextState } from './group-state.ts';
import type { GroupStatus } from './status.ts';
import { holdingTiers } from './tiers.ts';
import type { GroupWindows } from './window.ts';

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
 * The next alert state of one group. All alert windows end at the feed's watermark. While none of its balancers
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
  const to = feed.watermark ?? now;
  const course = new BudgetCourse(group, budget, to, past, feed.reporting ? to : now);
  const after = (): GroupAlertState => {
    if (feed.reporting && feed.watermark !== null) {
      const held = before.kind === 'firing' ? before.holding : [];
      const holding = holdingTiers(policy, { budget, course }, held);
      const began = isLeftOut(group, to, now) ? holding.filter(({ name }) => held.includes(name)) : holding;
      return nextState(before, policy, began, feed.coverage, now);
    }
    const isRetired = feed.newestPointAt !== null && now - feed.newestPointAt >= RETIRED_MS;
    return isRetired ? INACTIVE : before;
  };
  return { windows: course.windows, course, state: after(), budget };
}

/** Whether a correction covers what happens now, as far as it is known: then no tier begins to hold. */
function isLeftOut({ corrected }: GroupView, to: EpochMs, now: EpochMs): boolean {
  return corrected !== undefined && (corrected.exclusion.covers(to) || corrected.exclusion.covers(now));
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
    const value = burnOf(windows.read(length), budget);
    burn.set(name, value === null ? null : burnRate(value));
  }
  const remaining = budgetRemaining(window, budget);
  const soFar = budgetRemainingSoFar(window, budget);
  const firing = state.kind === 'firing' ? state : null;
  const good = window.observedTotal - window.observedBad;
  return {
    slo: group.slo,
    labels: group.labels,
    key: group.key,
    state: stateOf(feed, window.observedTotal),
    coverage: feed.coverage,
    good,
    bad: window.observedBad,
    total: window.observedTotal,
    sli: window.observedTotal === 0 || window.observedInconsistent ? null : ratio(good / window.observedTotal),
    leftOut: leftOutOf(windows),
    budgetRemaining: remaining === null ? null : ratio(remaining),
    budgetRemainingSoFar: calendar === null || soFar === null ? null : ratio(soFar),
    resetsAt: calendar?.period.end ?? null,
    burn,
    exhaustion,
    tier: firing?.tier ?? null,
    tiersHolding: firing?.holding ?? [],
    severity: firing?.severity ?? null,
    since: firing?.since ?? null,
    inconsistent: windows.inconsistent,
  };
}

/** What corrections take out of the SLO window; null where none meets it. */
function leftOutOf({ group, slo: window }: GroupWindows): GroupStatus['leftOut'] {
  if (group.corrected === undefined) return null;
  const sources = group.corrected.exclusion.within(window.from, window.end);
  if (sources.length === 0) return null;
  const { bad, total } = window.leftOut;
  return { good: total - bad, bad, corrections: sources.map(({ id }) => id) };
}

/**
 * No balancer reports: nothing is known. They report and nothing was counted in the SLO window: there is no traffic,
 * and no SLI. Neither is 100 %.
 */
function stateOf(feed: FeedView, total: number): GroupState {
  if (!feed.reporting || feed.watermark === null) return 'no_data';
  return total === 0 ? 'no_traffic' : 'measured';
}
