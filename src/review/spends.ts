import { type EpochMs, epochMs, HOUR } from '../base/units.ts';
import { alertKey } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey } from '../model/labels.ts';
import { type HourBudget, type HourlyFigures, PARTS_PER_HOUR } from '../model/measure.ts';

const PART_MS = HOUR / PARTS_PER_HOUR;

export interface GroupHour {
  readonly hour: EpochMs;
  readonly budget: HourBudget;
}

/** One SLO group over the hours of a week, oldest first. */
export interface GroupWeek {
  readonly subject: Labels;
  readonly hours: readonly GroupHour[];
}

/** What one incident took of one group's budget. */
export interface Spend {
  readonly incident: number;
  readonly bad: number;
}

interface Span {
  readonly incident: number;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** Hours that end in [from, until]: the first row says what was left when the week began. In the order of the keys. */
export function groupWeeks(rows: readonly HourlyFigures[], from: EpochMs, until: EpochMs): readonly GroupWeek[] {
  const groups = new Map<string, { subject: Labels; hours: GroupHour[] }>();
  for (const { hour, subject, budget } of rows) {
    if (budget === undefined || hour < from || hour > until) continue;
    const key = labelsKey(subject);
    const known = groups.get(key) ?? { subject, hours: [] };
    groups.set(key, known);
    known.hours.push({ hour, budget });
  }
  const found = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  for (const { hours } of found) hours.sort((a, b) => a.hour - b.hour);
  return found;
}

/**
 * The bad events of a group by the incident during whose burn they came. An event belongs to one incident: where spans
 * overlap, as after a merge, to that whose burn set in first. So what incidents spend never exceeds what was spent.
 */
export function spendsOf(
  { subject, hours }: GroupWeek,
  rows: readonly HourlyFigures[],
  from: EpochMs,
  until: EpochMs,
): readonly Spend[] {
  const spans = spansOf(rows, alertKey(ALERT.errorBudgetBurn, subject), from, until);
  const bad = new Map<number, number>();
  for (const { hour, budget } of hours) {
    if (hour <= from || hour > until) continue;
    for (const [part, count] of budget.parts) {
      const start = hour - HOUR + part * PART_MS;
      const owner = spans.find((span) => span.from < start + PART_MS && span.to > start);
      if (owner !== undefined) bad.set(owner.incident, (bad.get(owner.incident) ?? 0) + count);
    }
  }
  return [...bad].map(([incident, count]) => ({ incident, bad: count })).sort((a, b) => a.incident - b.incident);
}

/** The newest word on each burn; one that nobody has spoken of since an hour went on until its end. */
function spansOf(rows: readonly HourlyFigures[], alert: string, from: EpochMs, until: EpochMs): readonly Span[] {
  const newest = new Map<string, Span & { readonly hour: EpochMs }>();
  for (const { hour, subject, burning = [] } of rows) {
    if (hour <= from || hour > until) continue;
    const incident = Number(subject.get('incident'));
    for (const span of burning) {
      if (span.alert !== alert) continue;
      const key = `${incident} ${span.from}`;
      const known = newest.get(key);
      if (known !== undefined && known.hour >= hour) continue;
      newest.set(key, { incident, from: span.from, to: epochMs(span.to ?? hour), hour });
    }
  }
  return [...newest.values()].sort((a, b) => a.from - b.from || a.incident - b.incident);
}
