import type { FeedView, GroupView } from '../aggregate/view.ts';
import { type BurnRate, burnRate, DAY, type EpochMs, HOUR, type Ms, ratio } from '../base/units.ts';
import type { Exhaustion } from '../model/alert.ts';
import type { GroupState } from '../model/views.ts';
import { type BudgetRatio, budgetRemaining, budgetRemainingSoFar, burnOf } from '../slo/budget.ts';
import { leadingTier } from './alert.ts';
import { BudgetCourse, exhaustionAt, type GroupPast } from './exhaustion.ts';
import { type GroupAlertState, INACTIVE, nextState } from './group-state.ts';
import type { Bracket, GroupStatus } from './status.ts';
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
    const value = burnOf(windows.read(length), budget);
    burn.set(name, value === null ? null : burnRate(value));
  }
  const remaining = budgetRemaining(window, budget);
  const soFar = budgetRemainingSoFar(window, budget);
  const firing = state.kind === 'firing' ? state : null;
  const good = window.observedTotal - window.observedBad;
  const { sli, sliBracket } = sliOf(window);
  const atBest = window.between === 0 ? null : budgetRemaining({ ...window, bad: window.bad - window.between }, budget);
  return {
    slo: group.slo,
    labels: group.labels,
    key: group.key,
    state: stateOf(feed, window.observedTotal),
    coverage: feed.coverage,
    good,
    bad: window.observedBad,
    total: window.observedTotal,
    sli,
    sliBracket,
    budgetRemaining: remaining === null ? null : ratio(remaining),
    budgetRemainingBracket: bracketOf(remaining, atBest),
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

/** Good events / all, and how much better it is at best where a threshold lies between two bounds. */
function sliOf({ total, observedTotal, observedBad, between }: SloWindowRead) {
  if (total === 0) return { sli: null, sliBracket: null };
  const good = observedTotal - observedBad;
  const best = between === 0 ? null : (good + between) / total;
  return { sli: ratio(good / total), sliBracket: bracketOf(good / total, best) };
}

const bracketOf = (low: number | null, high: number | null): Bracket | null =>
  low === null || high === null ? null : { low: ratio(low), high: ratio(high) };

/**
 * No balancer reports: nothing is known. They report and nothing was counted in the SLO window: there is no traffic,
 * and no SLI. Neither is 100 %.
 */
function stateOf(feed: FeedView, total: number): GroupState {
  if (!feed.reporting || feed.watermark === null) return 'no_data';
  return total === 0 ? 'no_traffic' : 'measured';
}
