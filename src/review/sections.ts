import type { Cell, DocumentSection, DocumentTable } from '../model/document.ts';
import { labelsFromObject } from '../model/labels.ts';
import { MEASURES, type MeasureName } from '../model/measure.ts';
import { percentText } from '../model/phrases.ts';
import type { ReviewLevel, WeeklyReview } from '../model/review.ts';
import { MEASURE_WORDS, measureText, subjectWords } from '../trend/words.ts';
import { whyUnknown } from './levels.ts';
import { costSection, spreadSection, standardSection, versionSection } from './standard-sections.ts';
import { groupWords } from './words.ts';

/** Of each table the worst; the JSON has all. */
const ROWS_MAX = 15;
const LINES_MAX = 3;

type ToSection = (review: WeeklyReview) => DocumentSection;

/** What stands below the things to do, in this order. */
const SECTIONS: readonly ToSection[] = [
  trendSection,
  budgetSection,
  incidentSection,
  pageLoadSection,
  standardSection,
  costSection,
  versionSection,
  spreadSection,
  levelSection('zones', 'Zones', ['zone_skew', 'cross_zone']),
  levelSection('hosts', 'Hosts and balancers', ['host_skew', 'connection_skew', 'handshake_skew']),
  levelSection('churn', 'Ejections and health checks', ['ejections', 'health_changes']),
  levelSection('tls', 'TLS resumption', ['resumption']),
  levelSection('retries', 'Retries', ['retries']),
  configSection,
  certificateSection,
  followUpSection,
];

export const reviewSections = (review: WeeklyReview): readonly DocumentSection[] =>
  SECTIONS.map((toSection) => toSection(review));

const shareText = (share: number | null): string => (share === null ? 'not known' : percentText(share));

const time = (at: string): Cell => ({ kind: 'time', at });

const link = (text: string, href: string): Cell => ({ kind: 'link', text, href });

const sloCell = (one: Parameters<typeof groupWords>[0]): Cell =>
  link(groupWords(one), `/slos/${encodeURIComponent(one.slo)}`);

/** The first rows, and how many are not shown. */
function table(title: string, columns: readonly string[], rows: DocumentTable['rows']): DocumentTable {
  const more = rows.length - ROWS_MAX;
  return {
    title: more > 0 ? `${title} (the first ${ROWS_MAX} of ${rows.length})` : title,
    columns,
    rows: rows.slice(0, ROWS_MAX),
  };
}

const section = (
  id: string,
  title: string,
  paragraphs: readonly (string | null)[],
  tables: readonly DocumentTable[] = [],
  chart: DocumentSection['chart'] = null,
): DocumentSection => ({
  id,
  title,
  paragraphs: paragraphs.filter((one) => one !== null),
  chart,
  tables: tables.filter(({ rows }) => rows.length > 0),
});

function trendSection({ trends: { items, unknown, weeks } }: WeeklyReview): DocumentSection {
  const title = 'Slow changes below every page';
  if (unknown !== null) return section('trends', title, [unknown]);
  const none = `Nothing became steadily worse over ${weeks} weeks by as much as the rules name.`;
  const [first] = items;
  if (first === undefined) return section('trends', title, [none]);
  const { measure, days } = first;
  const points = days.map(({ until, value }) => [until, value] as const);
  const words = (value: number): string => measureText(measure, value);
  const subject = subjectWords(labelsFromObject(first.subject));
  const chart = {
    label: first.summary,
    from: days[0]?.until ?? '',
    to: days.at(-1)?.until ?? '',
    lines: [{ label: `${subject}: ${MEASURE_WORDS[measure]}`, points }],
    words,
  };
  const rows = items.map((one) => [
    subjectWords(labelsFromObject(one.subject)),
    MEASURE_WORDS[one.measure],
    measureText(one.measure, one.before),
    measureText(one.measure, one.now),
    `${one.slopePerWeek < 0 ? '-' : '+'}${measureText(one.measure, Math.abs(one.slopePerWeek))}`,
    link(one.runbook, /^https?:/.test(one.runbook) ? one.runbook : `/runbooks/${one.runbook}`),
  ]);
  const course = days.map(({ until, value }): Cell[] => [time(until), value === null ? 'not known' : words(value)]);
  return section(
    'trends',
    title,
    [
      `Over ${weeks} weeks. Each is too small for a ticket; left alone it becomes one.`,
      ...items.map((one) => one.summary),
    ],
    [
      table('Slow changes', ['Where', 'What', 'First week', 'Last week', 'A week', 'Runbook'], rows),
      { title: `${subject} by day`, columns: ['Day until', MEASURE_WORDS[measure]], rows: course, isOfChart: true },
    ],
    chart,
  );
}

function budgetSection({ budgets: { items, unknown }, from, to }: WeeklyReview): DocumentSection {
  const rows = items.map((one) => [
    sloCell(one),
    `${one.objective} in ${one.window}`,
    shareText(one.leftAtStart),
    shareText(one.leftAtEnd),
    shareText(one.spent),
    String(Number(one.bad.toFixed(2))),
  ]);
  const lines = items
    .filter(({ days }) => days.some(({ left }) => left !== null))
    .slice(0, LINES_MAX)
    .map((one) => ({ label: groupWords(one), points: one.days.map(({ until, left }) => [until, left] as const) }));
  const chart =
    lines.length === 0 ? null : { label: 'Budget left by day, of those with least', from, to, lines, words: shareText };
  const course = items
    .slice(0, LINES_MAX)
    .map((one) => [groupWords(one), ...one.days.map(({ left }) => shareText(left))]);
  const days = items[0]?.days.map(({ until }) => until.slice(0, 10)) ?? [];
  const why =
    'Left is of the whole SLO window, which old errors leave meanwhile: what was spent in the week need not be the difference.';
  return section(
    'budgets',
    'Error budgets',
    [unknown, items.length === 0 ? null : why],
    [
      table('Error budgets', ['SLO', 'Objective', 'Left at start', 'Left at end', 'Spent in the week', 'Bad'], rows),
      { title: 'Budget left by day', columns: ['SLO', ...days], rows: course, isOfChart: true },
    ],
    chart,
  );
}

function incidentSection({ incidents: { items, unknown } }: WeeklyReview): DocumentSection {
  const rows = items.map(({ id, title, severity, openedAt, resolvedAt, pages, spent, spentOf, noise }) => [
    link(`${id}: ${title}`, `/incidents/${id}`),
    severity,
    time(openedAt),
    resolvedAt === null ? 'open' : time(resolvedAt),
    spent === null ? 'none of a budget' : `${percentText(spent)} of ${spentOf ?? ''}`,
    String(pages),
    noise === null ? '' : `noise, says ${noise.by}${noise.note === null ? '' : `: ${noise.note}`}`,
  ]);
  const columns = ['Incident', 'Severity', 'Opened', 'Resolved', 'Spent in the week', 'Pages', 'Judged'];
  const lede = items.length === 0 ? 'No incident was open in this week.' : null;
  return section('incidents', 'Incidents', [unknown, lede], [table('Incidents', columns, rows)]);
}

function pageLoadSection({ pageLoad: { items, unknown } }: WeeklyReview): DocumentSection {
  const rows = items.map(({ receiver, pages, noise, personHours, pagesPerPersonHour, mostInShift }) => [
    receiver,
    String(pages),
    String(noise),
    String(personHours),
    String(Number(pagesPerPersonHour.toPrecision(3))),
    String(mostInShift),
  ]);
  const columns = ['Receiver', 'Pages', 'Noise', 'Person-hours', 'Pages per person-hour', 'Most in 12 h'];
  const lede =
    items.length === 0
      ? 'Nobody was paged.'
      : 'One person per receiver at any time; more than two pages in 12 hours are too many. People mark pages as noise on the page of their incident.';
  return section('page-load', 'Page load', [unknown, lede], [table('Page load', columns, rows)]);
}

function levelSection(id: string, title: string, measures: readonly MeasureName[]): ToSection {
  return ({ levels }) => {
    const tables = measures.map((measure) =>
      levelTable(
        measure,
        levels.items.filter((one) => one.measure === measure),
      ),
    );
    const missing = measures.filter(
      (measure) => !levels.items.some((one) => one.measure === measure && one.weeks.at(-1) !== null),
    );
    return section(id, title, missing.map(whyUnknown), tables);
  };
}

function levelTable(measure: MeasureName, items: readonly ReviewLevel[]): DocumentTable {
  const { alert, worse } = MEASURES[measure];
  const figure = (value: number | null): string => (value === null ? '–' : measureText(measure, value));
  const rows = items.map(({ subject, weeks, change }) => [
    subjectWords(labelsFromObject(subject)),
    ...weeks.map(figure),
    change === null
      ? 'not known'
      : `${change < 0 ? '-' : '+'}${figure(Math.abs(change))}${isWorse(change, worse) ? ', worse' : ''}`,
  ]);
  const count = items[0]?.weeks.length ?? 0;
  const before = Array.from({ length: count }, (_, index) => count - 1 - index);
  const columns = before.map((back) => (back === 0 ? 'This week' : back === 1 ? 'Week before' : `${back} before`));
  const title = `${MEASURE_WORDS[measure]} (${alert})`;
  return table(title, ['Where', ...columns, 'Beside the mean of those before'], rows);
}

const isWorse = (change: number, worse: 'up' | 'down'): boolean => (worse === 'up' ? change > 0 : change < 0);

function configSection({ config: { items, limit, unknown } }: WeeklyReview): DocumentSection {
  const rows = items.map((one) => [sloCell(one), percentText(one.share), one.isOver ? 'over: freeze' : 'within']);
  const policy =
    limit === null
      ? 'No policy limits it: ConfigBudgetSpent is not set.'
      : `Policy: above ${percentText(limit)} of a budget only emergencies may change config.`;
  const columns = ['SLO', 'Used by rollouts, at most', 'Policy'];
  return section('config', 'Budget spent by config rollouts', [policy, unknown], [table('By rollouts', columns, rows)]);
}

function certificateSection({ certificates: { items, unknown } }: WeeklyReview): DocumentSection {
  const rows = items.map(({ name, notAfter, daysLeft, balancers, renewedAt }) => [
    name === '' ? '(without a name)' : name,
    time(notAfter),
    String(daysLeft),
    renewedAt === null ? 'not seen' : time(renewedAt),
    String(balancers),
  ]);
  const lede = unknown === null && items.length === 0 ? 'None ends within 30 days of the end of the week.' : null;
  const columns = ['Certificate', 'Ends', 'Days left', 'Renewed', 'Balancers'];
  return section('certificates', 'Certificates due', [unknown, lede], [table('Certificates', columns, rows)]);
}

function followUpSection({ followUps: { items, unknown } }: WeeklyReview): DocumentSection {
  const rows = items.map(({ id, incident, title, owner, due, isOverdue }) => [
    link(`${id}: ${title}`, '/actions'),
    owner,
    `${due}${isOverdue ? ', overdue' : ''}`,
    link(`incident ${incident}`, `/incidents/${incident}`),
  ]);
  const lede = items.length === 0 ? 'None was open at the end of the week.' : null;
  return section('actions', 'Actions', [unknown, lede], [table('Actions', ['Action', 'Owner', 'Due', 'From'], rows)]);
}
