import { formatInstant } from '../base/instant.ts';
import { DAY, epochMs } from '../base/units.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsToObject } from '../model/labels.ts';
import type { Part, ReviewBudget, ReviewConfig, WeeklyReview } from '../model/review.ts';
import { type ReviewInput, WEEK_MS } from './input.ts';
import type { GroupWeek } from './spends.ts';

const NO_BUDGETS = 'No SLO had events to count in this week.';
const NO_ROLLOUTS =
  'No config rollout is known to have used any budget: there was none, or balancers do not tell their config version.';

/** Of a group: its SLO, and its labels beside that. */
export function groupOf(subject: Labels) {
  const { slo = '', ...labels } = labelsToObject(subject);
  return { slo, labels };
}

/** Events that may be bad in the SLO window at the end of the week, by which shares are told. */
export const budgetAtEnd = ({ hours }: GroupWeek): number => hours.at(-1)?.budget.budget ?? 0;

/** Lowest first. */
export function budgetsOf(groups: readonly GroupWeek[], { span }: ReviewInput): Part<ReviewBudget> {
  const items = groups.flatMap((group): ReviewBudget[] => {
    const last = group.hours.at(-1);
    if (last === undefined || (last.hour === span.from && span.until > span.from)) return [];
    const inWeek = group.hours.filter(({ hour }) => hour > span.from);
    const leftAt = (at: number): number | null => group.hours.find(({ hour }) => hour === at)?.budget.left ?? null;
    const bad = inWeek.reduce((sum, { budget }) => sum + budget.bad, 0);
    const { budget, left, objective, window } = last.budget;
    const days = Array.from({ length: WEEK_MS / DAY + 1 }, (_, day) => span.from + day * DAY);
    return [
      {
        ...groupOf(group.subject),
        objective,
        window,
        leftAtStart: leftAt(span.from),
        leftAtEnd: left,
        spent: budget > 0 ? bad / budget : null,
        bad,
        days: days
          .filter((at) => at <= span.until)
          .map((at) => ({ until: formatInstant(epochMs(at)), left: leftAt(at) })),
      },
    ];
  });
  const lowest = ({ leftAtEnd }: ReviewBudget): number => leftAtEnd ?? Number.POSITIVE_INFINITY;
  // What is not known stands last; infinities have no difference.
  items.sort((a, b) => (lowest(a) === lowest(b) ? 0 : lowest(a) - lowest(b)));
  return { items, unknown: items.length === 0 ? NO_BUDGETS : null };
}

/** Budgets that config rollouts have used something of, the most first. */
export function configOf(groups: readonly GroupWeek[], { span, detectors }: ReviewInput): WeeklyReview['config'] {
  const limit = detectors.get(ALERT.configBudgetSpent)?.thresholds['share'] ?? null;
  const items = groups.flatMap(({ subject, hours }): ReviewConfig[] => {
    const shares = hours.filter(({ hour }) => hour > span.from).map(({ budget }) => budget.byConfig ?? 0);
    const share = Math.max(0, ...shares);
    return share > 0 ? [{ ...groupOf(subject), share, isOver: limit !== null && share > limit }] : [];
  });
  items.sort((a, b) => b.share - a.share);
  return { items, limit, unknown: items.length === 0 ? NO_ROLLOUTS : null };
}
