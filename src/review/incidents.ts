import { formatInstant } from '../base/instant.ts';
import { HOUR } from '../base/units.ts';
import { CLOSING, type IncidentChange, type IncidentChangeKind } from '../model/incident.ts';
import { lastMarks, type NoiseMark } from '../model/noise-mark.ts';
import type { Part, ReviewIncident, ReviewPageLoad } from '../model/review.ts';
import { budgetAtEnd, groupOf } from './budgets.ts';
import type { PastSend, ReviewInput, WeekSpan } from './input.ts';
import { type GroupWeek, spendsOf } from './spends.ts';

const SHIFT_MS = 12 * HOUR;
/** What people write down later keeps no incident in the week. */
const REMARKS: readonly IncidentChangeKind[] = ['note', 'hook', 'update'];

interface Most {
  readonly share: number;
  readonly slo: string;
}

/** Incidents that were open in the week, as they stood at its end; those that spent most first, then by pages. */
export function incidentsOf(groups: readonly GroupWeek[], input: ReviewInput): Part<ReviewIncident> {
  const { span, incidents, marks } = input;
  const most = mostSpent(groups, input);
  const judged = lastMarks(marks);
  const items = incidents.flatMap(({ id, timeline, sends }): ReviewIncident[] => {
    const last = lastInWeek(timeline, span);
    if (last === null) return [];
    const { title, severity, openedAt, resolvedAt } = last.after;
    const spent = most.get(id);
    return [
      {
        id,
        title,
        severity,
        openedAt: formatInstant(openedAt),
        resolvedAt: resolvedAt === null ? null : formatInstant(resolvedAt),
        pages: sends.filter((send) => isPage(send, span)).length,
        spent: spent?.share ?? null,
        spentOf: spent?.slo ?? null,
        noise: noiseOf(judged.get(id)),
      },
    ];
  });
  items.sort((a, b) => (b.spent ?? 0) - (a.spent ?? 0) || b.pages - a.pages || a.id - b.id);
  return { items, unknown: null };
}

/** The last change by the end of the week; null where the incident was not open in it. */
function lastInWeek(timeline: readonly IncidentChange[], { from, until }: WeekSpan): IncidentChange | null {
  const past = timeline.filter(({ at }) => at <= until).sort((a, b) => a.seq - b.seq);
  const before = past.filter(({ at }) => at <= from).at(-1);
  const wasOpen = before !== undefined && before.after.state !== 'resolved';
  const isOfWeek = past.some(({ at, change }) => at > from && !REMARKS.includes(change));
  return wasOpen || isOfWeek ? (past.at(-1) ?? null) : null;
}

const isPage = ({ severity, reason, at }: PastSend, { from, until }: WeekSpan): boolean =>
  severity === 'page' && !CLOSING.includes(reason) && at > from && at <= until;

function noiseOf(mark: NoiseMark | undefined): ReviewIncident['noise'] {
  if (mark === undefined || !mark.isNoise) return null;
  return { by: mark.by, at: formatInstant(mark.at), note: mark.note };
}

/** Of each incident, the budget of which it took the largest share. */
function mostSpent(groups: readonly GroupWeek[], { rows, span }: ReviewInput): ReadonlyMap<number, Most> {
  const most = new Map<number, Most>();
  for (const group of groups) {
    const budget = budgetAtEnd(group);
    if (budget <= 0) continue;
    for (const { incident, bad } of spendsOf(group, rows, span.from, span.until)) {
      const share = bad / budget;
      if (share > (most.get(incident)?.share ?? 0)) most.set(incident, { share, slo: groupOf(group.subject).slo });
    }
  }
  return most;
}

/** Receivers that were sent pages, the most loaded first. */
export function pageLoadOf({ incidents, marks, span }: ReviewInput): Part<ReviewPageLoad> {
  const judged = lastMarks(marks);
  const receivers = new Map<string, { at: number; isNoise: boolean }[]>();
  for (const { id, sends } of incidents) {
    for (const send of sends) {
      if (!isPage(send, span)) continue;
      const pages = receivers.get(send.receiver) ?? [];
      receivers.set(send.receiver, pages);
      pages.push({ at: send.at, isNoise: judged.get(id)?.isNoise ?? false });
    }
  }
  const personHours = (span.until - span.from) / HOUR;
  const items = [...receivers].map(
    ([receiver, pages]): ReviewPageLoad => ({
      receiver,
      pages: pages.length,
      noise: pages.filter(({ isNoise }) => isNoise).length,
      personHours,
      pagesPerPersonHour: pages.length / personHours,
      mostInShift: mostInShift(pages.map(({ at }) => at)),
    }),
  );
  items.sort((a, b) => b.pages - a.pages || (a.receiver < b.receiver ? -1 : 1));
  return { items, unknown: null };
}

function mostInShift(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  let first = 0;
  let most = 0;
  sorted.forEach((at, index) => {
    while (at - (sorted[first] as number) >= SHIFT_MS) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

/** Of all of them, each receiver its own. */
export const pagesOf = (incidents: readonly ReviewIncident[]): number =>
  incidents.reduce((sum, { pages }) => sum + pages, 0);
