import { formatInstant } from '../base/instant.ts';
import { isoWeekAt } from '../base/iso-week.ts';
import { epochMs, HOUR } from '../base/units.ts';
import { labelsKey } from '../model/labels.ts';
import { percentText } from '../model/phrases.ts';
import type { ReviewState, WeeklyReview } from '../model/review.ts';
import { budgetsOf, configOf } from './budgets.ts';
import { costOf } from './cost.ts';
import { certificatesOf, followUpsOf } from './dues.ts';
import { headroomOf } from './headroom.ts';
import { incidentsOf, pageLoadOf, pagesOf } from './incidents.ts';
import { type ReviewInput, WEEK_MS, type WeekSpan } from './input.ts';
import { levelsOf, trendsOf } from './levels.ts';
import { scoresOf } from './scorecard.ts';
import { groupWeeks } from './spends.ts';
import { hostSpreads, zoneUses } from './spread.ts';
import { tasksOf } from './tasks.ts';
import { groupWords } from './words.ts';

/**
 * The review of one week. Only what was stored of it counts, rows that are never changed once written and each incident
 * as it stood when the week ended, so that it is the same whenever it is made; what people add later, that pages were
 * noise, is new in it.
 */
export function weeklyReview(given: ReviewInput): WeeklyReview {
  const { span } = given;
  const rows = given.rows.filter(({ hour }) => hour <= span.until);
  // The order in which sums are made must not show.
  rows.sort((a, b) => a.hour - b.hour || (labelsKey(a.subject) < labelsKey(b.subject) ? -1 : 1));
  const input = { ...given, rows };
  const groups = groupWeeks(rows, span.from, span.until);
  const hoursKnown = new Set(rows.flatMap(({ hour }) => (hour > span.from ? hour : []))).size;
  const incidents = incidentsOf(groups, input);
  const told = {
    week: span.week,
    from: formatInstant(span.from),
    to: formatInstant(span.to),
    previous: isoWeekAt(epochMs(span.from - WEEK_MS)),
    next: isoWeekAt(span.to),
    state: stateOf(span, hoursKnown, incidents.items.length),
    until: formatInstant(span.until),
    hours: (span.until - span.from) / HOUR,
    hoursKnown,
    trends: trendsOf(input),
    budgets: budgetsOf(groups, input),
    incidents,
    pageLoad: pageLoadOf(input),
    levels: levelsOf(input),
    config: configOf(groups, input),
    ...standardOf(input),
    certificates: certificatesOf(input),
    followUps: followUpsOf(input),
  };
  return { ...told, headline: headlineOf(told), toDo: told.state === 'no_data' ? [] : tasksOf(told) };
}

function standardOf({
  rows,
  span,
  incidents,
  standard,
}: ReviewInput): Pick<WeeklyReview, 'standard' | 'cost' | 'spread'> {
  const own = rows.filter(({ hour }) => hour > span.from);
  const opened = incidents.flatMap(({ id, alerts }) => (alerts === undefined ? [] : [{ id, alerts }]));
  return {
    standard: { scores: scoresOf(own, opened, standard), headroom: headroomOf(own, standard) },
    cost: costOf(own),
    spread: { hosts: hostSpreads(own), zones: zoneUses(own) },
  };
}

function stateOf({ from, to, until }: WeekSpan, hoursKnown: number, incidents: number): ReviewState {
  if (until <= from) return 'ahead';
  if (hoursKnown === 0 && incidents === 0) return 'no_data';
  return until < to ? 'running' : 'over';
}

function headlineOf(told: Omit<WeeklyReview, 'headline' | 'toDo'>): string {
  if (told.state === 'ahead') return 'This week has not begun, or its first hour is not over.';
  if (told.state === 'no_data') return 'Nothing was kept of this week: slowburn did not run, or no balancer pushed.';
  const { incidents, trends, budgets } = told;
  const pages = pagesOf(incidents.items);
  const noise = pagesOf(incidents.items.filter((one) => one.noise !== null));
  const [lowest] = budgets.items;
  const line = [
    `${counted(incidents.items.length, 'incident')}, ${counted(pages, 'page')}${noise === 0 ? '' : ` (${noise} noise)`}`,
    ...(lowest === undefined || lowest.leftAtEnd === null
      ? []
      : [`lowest budget ${percentText(lowest.leftAtEnd)} left, of ${groupWords(lowest)}`]),
    trends.unknown === null
      ? `${counted(trends.items.length, 'slow change')} for the worse below every page`
      : 'trends not known yet',
  ].join('; ');
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}.`;
}

const counted = (count: number, what: string): string =>
  `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`;
