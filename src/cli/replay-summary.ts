import type { BurnEpisode, EpisodeBook } from '../app/burn-episodes.ts';
import { formatInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import type { Unusable } from '../config/force-policy.ts';
import { objectivePercent } from '../config/reach.ts';
import { durationText, percentText } from '../model/phrases.ts';
import type { Slo } from '../slo/slo.ts';
import { alignColumns } from './columns.ts';

/** One policy's run over the history. */
export interface PolicyRun {
  readonly policy: string;
  readonly slos: ReadonlySet<string>;
  readonly unusable: readonly Unusable[];
  readonly book: EpisodeBook;
}

export interface Summary {
  readonly from: EpochMs | null;
  readonly until: EpochMs | null;
  /** As their files say; each with its own policy. */
  readonly slos: readonly Slo[];
  readonly runs: readonly PolicyRun[];
}

/** Dates named per SLO and policy; `--json` has all. */
const NAMED_MAX = 20;

interface Row {
  readonly run: PolicyRun;
  readonly isOwn: boolean;
  /** Why the policy cannot be used; null where it was. */
  readonly reason: string | null;
  readonly pages: readonly BurnEpisode[];
  readonly tickets: readonly BurnEpisode[];
}

function rowsOf(slo: Slo, { runs }: Summary): readonly Row[] {
  return runs.flatMap((run) => {
    const reason = run.unusable.find((one) => one.slo === slo.id)?.reason ?? null;
    if (reason === null && !run.slos.has(slo.id)) return [];
    const mine = run.book.episodes().filter((episode) => episode.slo === slo.id);
    const [pages, tickets] = (['page', 'ticket'] as const).map((wanted) =>
      mine.filter(({ severity }) => severity === wanted),
    );
    return [{ run, isOwn: run.policy === slo.policy.name, reason, pages: pages ?? [], tickets: tickets ?? [] }];
  });
}

const timeText = (at: EpochMs): string => `${formatInstant(at).slice(0, 19).replace('T', ' ')}Z`;

const minutesBetween = (from: EpochMs, to: EpochMs): number => Math.max(0, to - from) / 60_000;

const minuteText = ({ onset, firedAt }: BurnEpisode): string =>
  String(Number(minutesBetween(onset, firedAt).toFixed(1)));

const shareText = (share: number | null): string => (share === null ? '-' : percentText(share));

const lengthOf = ({ firedAt, endedAt }: BurnEpisode, until: EpochMs): number => (endedAt ?? until) - firedAt;

const groupText = (group: readonly string[]): string =>
  group.map((value) => (value === '' ? '(none)' : value)).join(', ');

/** A table per SLO with a line per policy, then the moments at which each would have paged. */
export function formatSummary(summary: Summary): string {
  const { from, until, slos, runs } = summary;
  if (from === null || until === null) return 'nothing to replay: no line moved the time\n';
  const sent = runs.map(({ policy, book }) => `${policy} ${book.pagesSent()}`).join(', ');
  const blocks = slos.map((slo) => formatSlo(slo, rowsOf(slo, summary), until));
  return [
    `replayed ${timeText(from)} to ${timeText(until)}\n`,
    ...blocks,
    `pages sent, alerts of one incident being one: ${sent}\n`,
  ].join('\n');
}

function formatSlo(slo: Slo, rows: readonly Row[], until: EpochMs): string {
  const group = slo.groupBy.length === 0 ? '' : ` per ${slo.groupBy.join(', ')}`;
  const head = `${slo.id}: ${objectivePercent(slo)} % over ${slo.window.text}${group}`;
  const table = [
    ['policy', 'pages', 'tickets', 'first', 'at', 'minute', 'spent at fire', 'spent at end', 'longest'],
    ...rows.map((row) => tableRow(row, until)),
  ];
  const used = rows.find(({ reason }) => reason === null);
  return [
    head,
    ...alignColumns(table).map((line) => `  ${line}`),
    ...(rows.some(({ isOwn }) => isOwn) ? ['  * its own policy'] : []),
    ...rows.flatMap(({ run, reason }) => (reason === null ? [] : [`  ${run.policy} cannot be used: ${reason}`])),
    ...rows.flatMap(pageLines(slo, until)),
    ...(used === undefined ? [] : budgetLine(slo, used.run.book)),
    '',
  ].join('\n');
}

function tableRow({ run, isOwn, pages, tickets, reason }: Row, until: EpochMs): readonly string[] {
  const name = `${run.policy}${isOwn ? ' *' : ''}`;
  if (reason !== null) return [name, '-', '-', '-', '-', '-', '-', '-', '-'];
  const first = pages[0] ?? tickets[0];
  const counts = [name, String(pages.length), String(tickets.length)];
  if (first === undefined) return [...counts, '-', '-', '-', '-', '-', '-'];
  const longest = Math.max(...[...pages, ...tickets].map((episode) => lengthOf(episode, until)));
  return [
    ...counts,
    `${first.severity} ${first.tier ?? ''}`,
    timeText(first.firedAt),
    minuteText(first),
    shareText(first.spentAtFire),
    shareText(first.spentAtEnd),
    durationText(longest),
  ];
}

const pageLines =
  (slo: Slo, until: EpochMs) =>
  ({ run, pages }: Row): readonly string[] => {
    if (pages.length === 0) return [];
    const lines = pages.slice(0, NAMED_MAX).map((page) => {
      const where = slo.groupBy.length === 0 ? '' : ` for ${groupText(page.group)}`;
      const end =
        page.endedAt === null ? 'still firing at the end' : `over after ${durationText(lengthOf(page, until))}`;
      const spent = `${shareText(page.spentAtFire)} spent`;
      const cost = `${end}, ${shareText(page.spentAtEnd)} spent`;
      return `    ${timeText(page.firedAt)}${where}, at minute ${minuteText(page)}, ${spent}, tier ${page.tier}; ${cost}`;
    });
    const more = pages.length > NAMED_MAX ? [`    and ${pages.length - NAMED_MAX} more`] : [];
    return [`  ${run.policy} would have paged`, ...lines, ...more];
  };

function budgetLine(slo: Slo, book: EpisodeBook): readonly string[] {
  const known = book.budgets().filter((budget) => budget.slo === slo.id && budget.remaining !== null);
  const [worst] = [...known].sort((a, b) => (a.remaining ?? 0) - (b.remaining ?? 0));
  if (worst === undefined) return ['  nothing was measured'];
  const remaining = worst.remaining ?? 0;
  const left = remaining < 0 ? `${percentText(-remaining)} overspent` : `${percentText(remaining)} left`;
  const where = slo.groupBy.length === 0 ? '' : ` for ${groupText(worst.group)}, the worst`;
  return [`  budget at the end: ${left}${where}`];
}

const instantOrNull = (at: EpochMs | null): string | null => (at === null ? null : formatInstant(at));

/** The same for machines: every episode of every SLO and policy. */
export function summaryToJson(summary: Summary) {
  const { from, until, slos, runs } = summary;
  return {
    from: instantOrNull(from),
    until: instantOrNull(until),
    pagesSent: Object.fromEntries(runs.map(({ policy, book }) => [policy, book.pagesSent()])),
    slos: slos.map((slo) => ({
      id: slo.id,
      objective: slo.objective.text,
      window: slo.window.text,
      groupBy: slo.groupBy,
      policy: slo.policy.name,
      policies: rowsOf(slo, summary).map(({ run, isOwn, reason, pages, tickets }) => ({
        policy: run.policy,
        own: isOwn,
        unusable: reason,
        pages: pages.length,
        tickets: tickets.length,
        alerts: [...pages, ...tickets].map((episode) => ({
          labels: Object.fromEntries(slo.groupBy.map((name, index) => [name, episode.group[index] ?? ''])),
          severity: episode.severity,
          tier: episode.tier,
          burningSince: formatInstant(episode.onset),
          firedAt: formatInstant(episode.firedAt),
          minute: minutesBetween(episode.onset, episode.firedAt),
          budgetSpentAtFire: episode.spentAtFire,
          budgetSpentAtEnd: episode.spentAtEnd,
          endedAt: instantOrNull(episode.endedAt),
          seconds: until === null ? null : lengthOf(episode, until) / 1000,
        })),
      })),
    })),
  };
}
