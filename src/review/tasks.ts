import { labelsFromObject } from '../model/labels.ts';
import { percentText } from '../model/phrases.ts';
import { type ReviewTask, TASK_KINDS, type WeeklyReview } from '../model/review.ts';
import { MEASURE_WORDS, subjectWords } from '../trend/words.ts';
import { groupWords } from './words.ts';

const TASKS_MAX = 3;
/** Days left that make a certificate pressing. */
const URGENT_DAYS = 14;
/** Of a budget: with less left it is low, and an incident that took so much is worth work. */
const LOW_LEFT = 0.25;
const LARGE_SPEND = 0.1;

type Told = Omit<WeeklyReview, 'headline' | 'toDo'>;
type Candidate = Omit<ReviewTask, 'kind'>;

/**
 * What to do first. Kinds are ranked by what is at stake (TASK_KINDS: what users feel already, what stops working on a
 * known day, what was agreed, what grows), things of one kind by size. The first of each kind goes before the second of
 * any, so that three bad budgets do not hide a certificate.
 */
export function tasksOf(told: Told): readonly ReviewTask[] {
  const ranked = TASK_KINDS.map((kind) => CANDIDATES[kind](told).map((one): ReviewTask => ({ kind, ...one })));
  const longest = Math.max(...ranked.map(({ length }) => length));
  const rounds = Array.from({ length: longest }, (_, round) => ranked.flatMap((tasks) => tasks[round] ?? []));
  return rounds.flat().slice(0, TASKS_MAX);
}

const CANDIDATES: Readonly<Record<ReviewTask['kind'], (told: Told) => readonly Candidate[]>> = {
  budget_spent: ({ budgets }) =>
    budgets.items
      .filter(({ leftAtEnd }) => leftAtEnd !== null && leftAtEnd <= 0)
      .map((one) => ({
        title: `Win ${groupWords(one)} back: its budget is spent`,
        reason: `${percentText(-(one.leftAtEnd ?? 0))} more than its ${one.window} budget is gone; users feel it already.`,
        link: `/slos/${encodeURIComponent(one.slo)}`,
      })),
  certificate: ({ certificates }) =>
    certificates.items
      .filter(({ daysLeft }) => daysLeft <= URGENT_DAYS)
      .map(({ name, daysLeft, renewedAt }) => ({
        title: `Renew certificate ${name === '' ? '(without a name)' : name}`,
        reason: `It ${daysLeft < 0 ? 'has ended' : `ends in ${daysLeft} days`}${renewedAt === null ? ', and no renewal was seen' : ''}; it then stops all who use it.`,
        link: '/traffic',
      })),
  config_freeze: ({ config }) =>
    config.items
      .filter(({ isOver }) => isOver)
      .map((one) => ({
        title: `Freeze config changes that are no emergency for ${groupWords(one)}`,
        reason: `Rollouts used ${percentText(one.share)} of its budget; the policy allows ${percentText(config.limit ?? 0)}.`,
        link: `/slos/${encodeURIComponent(one.slo)}`,
      })),
  budget_low: ({ budgets }) =>
    budgets.items
      .filter(({ leftAtEnd }) => leftAtEnd !== null && leftAtEnd > 0 && leftAtEnd < LOW_LEFT)
      .map((one) => ({
        title: `Spare the budget of ${groupWords(one)}`,
        reason: `${percentText(one.leftAtEnd ?? 0)} of it is left, less than ${percentText(LOW_LEFT)}.`,
        link: `/slos/${encodeURIComponent(one.slo)}`,
      })),
  incident_spend: ({ incidents }) =>
    incidents.items
      .filter(({ spent }) => spent !== null && spent >= LARGE_SPEND)
      .map(({ id, title, spent, spentOf }) => ({
        title: `End the cause of incident ${id}: ${title}`,
        reason: `It took ${percentText(spent ?? 0)} of the budget of ${spentOf ?? ''} in this week.`,
        link: `/incidents/${id}`,
      })),
  action_overdue: ({ followUps }) =>
    followUps.items
      .filter(({ isOverdue }) => isOverdue)
      .map(({ id, incident, title, owner, due }) => ({
        title: `Do what was agreed: ${title} (${owner})`,
        reason: `Action ${id} of incident ${incident} was due ${due}.`,
        link: '/actions',
      })),
  trend: ({ trends }) =>
    trends.items.map(({ subject, measure, runbook, summary }) => ({
      title: `Look into ${subjectWords(labelsFromObject(subject))}: ${MEASURE_WORDS[measure]}`,
      reason: `${summary} Over ${trends.weeks} weeks, and below every page: nobody is told otherwise.`,
      link: /^https?:/.test(runbook) ? runbook : `/runbooks/${runbook}`,
    })),
  noise: ({ incidents }) =>
    incidents.items
      .filter(({ noise, pages }) => noise !== null && pages > 0)
      .sort((a, b) => b.pages - a.pages || a.id - b.id)
      .map(({ id, title, pages, noise }) => ({
        title: `Stop paging for what incident ${id} was: ${title}`,
        reason: `${noise?.by ?? ''} judged its ${pages === 1 ? 'page' : `${pages} pages`} noise${noise?.note === null || noise === null ? '' : `: ${noise.note}`}.`,
        link: `/incidents/${id}`,
      })),
};
