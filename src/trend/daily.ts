import { DAY, type EpochMs, epochMs } from '../base/units.ts';
import { type Labels, labelsKey } from '../model/labels.ts';
import { type HourlyFigures, MEASURES, type MeasureName } from '../model/measure.ts';

export interface DailyRow {
  readonly subject: Labels;
  readonly values: readonly (number | null)[];
  readonly top: readonly (string | null)[];
}

export interface DailySeries {
  /** Begins of the days of UTC that lie in (from, until], oldest first. */
  readonly days: readonly EpochMs[];
  readonly rows: readonly DailyRow[];
}

interface Day {
  readonly values: number[];
  readonly tops: Map<string, number>;
}

/**
 * One measure by subject and day: the middle hour of a level, the sum of a count. Rows that are the worst on the last
 * day of which anything is known come first.
 */
export function dailySeries(
  rows: readonly HourlyFigures[],
  measure: MeasureName,
  from: EpochMs,
  until: EpochMs,
): DailySeries {
  const first = Math.floor(from / DAY);
  const count = Math.max(0, Math.ceil(until / DAY) - first);
  const subjects = new Map<string, { readonly subject: Labels; readonly days: (Day | undefined)[] }>();
  for (const { hour, subject, figures, notes } of rows) {
    const value = figures[measure];
    // An hour is named by its end: that of midnight is the last of the day before.
    const index = Math.ceil(hour / DAY) - 1 - first;
    if (value === undefined || index < 0 || index >= count) continue;
    const key = labelsKey(subject);
    const known = subjects.get(key) ?? { subject, days: new Array<Day | undefined>(count).fill(undefined) };
    subjects.set(key, known);
    const day = known.days[index] ?? { values: [], tops: new Map<string, number>() };
    known.days[index] = day;
    day.values.push(value);
    const top = notes['top_host'];
    if (measure === 'host_skew' && typeof top === 'string') day.tops.set(top, (day.tops.get(top) ?? 0) + 1);
  }
  const { kind, worse } = MEASURES[measure];
  const found = [...subjects].map(([key, { subject, days }]) => {
    const values = days.map((day) => (day === undefined ? null : ofDay(day.values, kind)));
    return { key, subject, values, top: days.map((day) => (day === undefined ? null : mostOf(day.tops))) };
  });
  const last = ({ values }: DailyRow): number =>
    values.findLast((value) => value !== null) ?? (worse === 'up' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const sign = worse === 'up' ? 1 : -1;
  found.sort((a, b) => sign * (last(b) - last(a)) || (a.key < b.key ? -1 : 1));
  return {
    days: Array.from({ length: count }, (_, index) => epochMs((first + index) * DAY)),
    rows: found.map(({ subject, values, top }) => ({ subject, values, top })),
  };
}

function ofDay(values: readonly number[], kind: 'level' | 'count'): number {
  if (kind === 'count') return values.reduce((sum, value) => sum + value, 0);
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
}

function mostOf(tops: ReadonlyMap<string, number>): string | null {
  const [first] = [...tops].sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1));
  return first?.[0] ?? null;
}
