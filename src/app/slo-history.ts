import type { CorrectionBook } from '../aggregate/correction-book.ts';
import type { FeatureView } from '../aggregate/features.ts';
import type { GroupView, SloCells } from '../aggregate/view.ts';
import { formatDuration } from '../base/duration.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { type EpochMs, epochMs, MINUTE } from '../base/units.ts';
import type { GroupStatus } from '../burn/status.ts';
import { GroupWindows } from '../burn/window.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import {
  type BudgetPointView,
  groupKey,
  type SloHistoryAsked,
  type SloHistoryView,
  type TierView,
} from '../model/history-views.ts';
import type { Incident } from '../model/incident.ts';
import { labelsToObject } from '../model/labels.ts';
import { budgetRatioOf, burnOf, paddedTotal } from '../slo/budget.ts';
import { unitOf } from '../slo/slices.ts';
import { minBurnOf } from '../slo/windows.ts';
import { spentBy } from './slo-spent.ts';
import { stepFor, stepsOf } from './time-steps.ts';

/** Steps of what is kept for as long as a budget. */
const LEAST_STEP_MS = 5 * MINUTE;
const HISTORY_POINTS_MAX = 1000;

export interface SloHistoryDeps {
  readonly cells: SloCells;
  readonly corrections: CorrectionBook;
  readonly features: FeatureView;
  readonly statuses: readonly GroupStatus[];
  /** Newest first. */
  readonly incidents: () => readonly Incident[];
  /** Thresholds of ConfigBudgetSpent. */
  readonly configBudget: DetectorSettings | undefined;
}

/** How one group's budget came to be what it is: over time, by tier, and where it went. */
export function sloHistory(deps: SloHistoryDeps, asked: SloHistoryAsked, now: EpochMs): SloHistoryView | null {
  const group = chosen(deps, asked, now);
  if (group === null) return null;
  const to = deps.cells.feed(group, now).watermark ?? now;
  const windows = new GroupWindows(group, to, undefined, now);
  const budget = budgetRatioOf(group.slo.objective).value * paddedTotal(windows.slo);
  const first = epochMs(Math.max(windows.slo.from, group.firstDataAt ?? windows.slo.end));
  const [from, end] = rangeOf(asked, first, windows.slo.end);
  const stepMs = stepOf(asked, end - from);
  return {
    slo: group.slo.id,
    labels: labelsToObject(group.labels),
    from: formatInstant(from),
    to: formatInstant(end),
    stepSeconds: stepMs / 1000,
    budget: budget / unitOf(group.slo.budgeting),
    points: pointsOf(windows, budget, from, end, stepMs),
    tiers: tiersOf(
      windows,
      deps.statuses.find(({ key }) => key === group.key),
    ),
    spent: spentBy(windows, budget, deps),
  };
}

/** The group that was asked for, else the one whose budget is lowest. */
function chosen({ cells, corrections, statuses }: SloHistoryDeps, asked: SloHistoryAsked, now: EpochMs) {
  const groups = [...cells.groups()].filter(({ slo }) => slo.id === asked.slo);
  const lefts = new Map(statuses.map(({ key, budgetRemaining }) => [key, budgetRemaining ?? Number.POSITIVE_INFINITY]));
  const left = ({ key }: GroupView): number => lefts.get(key) ?? Number.POSITIVE_INFINITY;
  const found =
    asked.group === null
      ? groups.reduce<GroupView | undefined>(
          (low, one) => (low === undefined || left(one) < left(low) ? one : low),
          undefined,
        )
      : groups.find(({ labels }) => groupKey(labelsToObject(labels)) === asked.group);
  return found === undefined ? null : corrections.view(found, now);
}

function rangeOf({ from, to }: SloHistoryAsked, first: EpochMs, last: EpochMs): readonly [EpochMs, EpochMs] {
  const end = Math.min(last, (to === null ? undefined : parseInstant(to)) ?? last);
  const start = Math.max(first, (from === null ? undefined : parseInstant(from)) ?? first);
  return [epochMs(Math.min(start, end)), epochMs(end)];
}

/** At least what is kept for so long; never more than a thousand points. */
function stepOf({ stepSeconds }: SloHistoryAsked, lengthMs: number): number {
  if (stepSeconds === null) return stepFor(lengthMs, LEAST_STEP_MS);
  const least = Math.max(LEAST_STEP_MS, lengthMs / HISTORY_POINTS_MAX, stepSeconds * 1000);
  return Math.ceil(least / LEAST_STEP_MS) * LEAST_STEP_MS;
}

function pointsOf(
  { group, counted, slo }: GroupWindows,
  budget: number,
  from: EpochMs,
  to: EpochMs,
  stepMs: number,
): readonly BudgetPointView[] {
  const unit = unitOf(counted.slo.budgeting);
  return stepsOf(from, to, stepMs).map(([start, end]) => {
    const sums = counted.range(start, end);
    const spent = group.range(slo.from, end);
    return {
      at: formatInstant(end),
      bad: sums.inconsistent ? 0 : sums.bad / unit,
      total: sums.inconsistent ? 0 : sums.total / unit,
      left: budget <= 0 || spent.inconsistent ? null : 1 - spent.bad / budget,
    };
  });
}

function tiersOf(windows: GroupWindows, status: GroupStatus | undefined): readonly TierView[] {
  const { slo } = windows.group;
  const budget = budgetRatioOf(slo.objective);
  return slo.policy.tiers.map((tier) => {
    const { numerator, denominator } = minBurnOf(tier);
    return {
      name: tier.name,
      severity: tier.severity,
      exhaustsWithinSeconds: tier.exhaustsWithin / 1000,
      long: formatDuration(tier.long),
      short: formatDuration(tier.short),
      minBurn: Number(numerator) / Number(denominator),
      longBurn: burnOf(windows.read(tier.long), budget),
      shortBurn: burnOf(windows.read(tier.short), budget),
      holds: status?.tiersHolding.includes(tier.name) ?? false,
    };
  });
}
