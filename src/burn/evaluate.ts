import type { FeedView, GroupView } from '../aggregate/view.ts';
import { decimalToNumber } from '../base/decimal.ts';
import { type BurnRate, burnRate, DAY, type EpochMs, HOUR, type Ms, type Ratio, ratio } from '../base/units.ts';
import type { Exhaustion } from '../model/alert.ts';
import type { GroupState } from '../model/views.ts';
import { type BudgetRatio, budgetRemaining, budgetRemainingSoFar, burnOf, errorRatio } from '../slo/budget.ts';
import { membersOf, sharesOf } from '../slo/composite.ts';
import { holdsSlices, sliceEdgeAt, sliceWidthOf, unitOf } from '../slo/slices.ts';
import type { Budgeting } from '../slo/slo.ts';
import { leadingTier } from './alert.ts';
import { compositeSli, isComposite } from './composite.ts';
import type { Events } from './day-book.ts';
import { BudgetCourse, exhaustionAt, type GroupPast } from './exhaustion.ts';
import { type GroupAlertState, INACTIVE, nextState } from './group-state.ts';
import type { Bracket, GroupStatus, MemberStatus, SliceCoverage } from './status.ts';
import { holdingTiers } from './tiers.ts';
import { type GroupWindows, readWindow, type SloWindowRead } from './window.ts';

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
    const value = holdsSlices(group.slo.budgeting, length) ? burnOf(windows.read(length), budget) : null;
    burn.set(name, value === null ? null : burnRate(value));
  }
  // Slices without events are good, but where there was never an event there is nothing to be good at.
  const isQuiet = (group.lastEventAt ?? window.from) <= window.from;
  const remaining = isQuiet ? null : budgetRemaining(window, budget);
  const soFar = isQuiet ? null : budgetRemainingSoFar(window, budget);
  const firing = state.kind === 'firing' ? state : null;
  const counted = observedOf(windows);
  const hasNoSli = isQuiet || window.observedTotal === 0 || window.observedInconsistent;
  const sli = hasNoSli ? null : sliOf(windows);
  const best = window.observedBetween === 0 ? null : bestSliOf(window);
  const { between } = window;
  const leftAtBest = between === 0 ? null : budgetRemaining({ ...window, bad: window.bad - between }, budget);
  return {
    slo: group.slo,
    labels: group.labels,
    key: group.key,
    state: stateOf(feed, isQuiet || window.observedTotal === 0),
    coverage: feed.coverage,
    good: counted.total - counted.bad,
    bad: counted.bad,
    total: counted.total,
    slices: slicesOf(window, group.slo.budgeting),
    members: membersStatus(windows, budget),
    sli,
    sliBracket: bracketOf(sli, best),
    leftOut: leftOutOf(windows),
    budgetRemaining: remaining === null ? null : ratio(remaining),
    budgetRemainingBracket: bracketOf(remaining, leftAtBest),
    budgetRemainingSoFar: calendar === null || soFar === null ? null : ratio(soFar),
    resetsAt: calendar?.period.end ?? null,
    burn,
    exhaustion,
    tier: firing?.tier ?? null,
    tiersHolding: firing?.holding ?? [],
    severity: firing?.severity ?? null,
    since: firing?.since ?? null,
    inconsistent: windows.inconsistent || contradicts(windows),
  };
}

const bracketOf = (low: number | null, high: number | null): Bracket | null =>
  low === null || high === null ? null : { low: ratio(low), high: ratio(high) };

/** What the SLO window's figures do not show: slices and members whose events contradict themselves are left out. */
function contradicts({ counted, slo: { from, end } }: GroupWindows): boolean {
  const isLeftOut = counted.slo.budgeting.kind !== 'occurrences' || isComposite(counted);
  return isLeftOut && (counted.contradicts?.(from, end) ?? false);
}

/** As it was counted, whatever corrections leave out. */
const seen = (group: GroupView): GroupView => group.corrected?.observed ?? group;

/** Events, those of all members of a composite together, or slices. */
function observedOf({ counted, slo }: GroupWindows): Events {
  if (isComposite(counted)) return seen(counted).range(slo.from, slo.end);
  const unit = unitOf(counted.slo.budgeting);
  return { bad: slo.observedBad / unit, total: slo.observedTotal / unit };
}

function sliOf({ counted, slo }: GroupWindows): Ratio | null {
  if (!isComposite(counted)) return ratio((slo.observedTotal - slo.observedBad) / slo.observedTotal);
  const sli = compositeSli(seen(counted), slo.from, slo.end);
  return sli === null ? null : ratio(sli);
}

/** With what lies between the bounds around the threshold counted as good. */
const bestSliOf = ({ observedTotal, observedBad, observedBetween }: SloWindowRead): number =>
  (observedTotal - observedBad + observedBetween) / observedTotal;

function membersStatus({ counted, slo: { from, end } }: GroupWindows, budget: BudgetRatio): MemberStatus[] | null {
  const members = membersOf(counted.slo.indicator);
  if (members.length === 0) return null;
  const shares = sharesOf(members);
  return members.map(({ name, weight }, index): MemberStatus => {
    const sums = seen(counted).members?.[index]?.range(from, end);
    const { bad, total } = sums === undefined || sums.inconsistent ? { bad: 0, total: 0 } : sums;
    const kept = counted.members?.[index];
    const own = kept === undefined ? null : errorRatio(readWindow(kept, end, end - from));
    const spent = own === null ? null : own * ((shares[index] ?? 0) / budget.value);
    return {
      name,
      weight: decimalToNumber(weight),
      good: total - bad,
      bad,
      total,
      sli: total === 0 ? null : ratio(1 - bad / total),
      spent: spent === null || !isComposite(counted) ? null : ratio(spent),
    };
  });
}

/** How many of the slices that end in the SLO window have data; null where events are counted. */
function slicesOf({ edge, end, observedTotal }: SloWindowRead, budgeting: Budgeting): SliceCoverage | null {
  const width = sliceWidthOf(budgeting);
  if (width === null) return null;
  return { observed: observedTotal / unitOf(budgeting), expected: Math.floor(end / width) - Math.floor(edge / width) };
}

/** What corrections take out of the SLO window; null where none meets it. */
function leftOutOf({ counted, slo: window }: GroupWindows): GroupStatus['leftOut'] {
  if (counted.corrected === undefined) return null;
  const sources = counted.corrected.exclusion.within(window.from, window.end);
  if (sources.length === 0) return null;
  const unit = unitOf(counted.slo.budgeting);
  const seen = counted.corrected.observed.range(window.from, window.end);
  const kept = counted.range(window.from, window.end);
  const bad = (seen.bad - kept.bad) / unit;
  return { good: (seen.total - kept.total) / unit - bad, bad, corrections: sources.map(({ id }) => id) };
}

/**
 * No balancer reports: nothing is known. They report and nothing was counted in the SLO window: there is no traffic,
 * and no SLI. Neither is 100 %.
 */
function stateOf(feed: FeedView, isQuiet: boolean): GroupState {
  if (!feed.reporting || feed.watermark === null) return 'no_data';
  return isQuiet ? 'no_traffic' : 'measured';
}
