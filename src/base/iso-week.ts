import { civilFromDays, daysFromCivil } from './instant.ts';
import { DAY, type EpochMs, epochMs } from './units.ts';

const WEEK_DAYS = 7;
/** 1970-01-01 was a Thursday. */
const MONDAY_OFFSET = 3;

/** Monday of the week that holds a day, both counted from 1970-01-01. */
const mondayOf = (day: number): number => day - ((((day + MONDAY_OFFSET) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS);

/** The ISO 8601 week that holds an instant, in UTC: `2026-W48`. Its year is that of its Thursday. */
export function isoWeekAt(at: EpochMs): string {
  const monday = mondayOf(Math.floor(at / DAY));
  const { year } = civilFromDays(monday + 3);
  const first = mondayOf(daysFromCivil(year, 1, 4));
  return `${String(year).padStart(4, '0')}-W${String((monday - first) / WEEK_DAYS + 1).padStart(2, '0')}`;
}

/** Start of an ISO week, Monday 00:00 UTC; undefined where the text is none, as `2026-W54` or `2025-W53`. */
export function isoWeekStart(text: string): EpochMs | undefined {
  const [, year, week] = /^(\d{4})-W(\d{2})$/.exec(text) ?? [];
  if (year === undefined || week === undefined || Number(week) < 1) return undefined;
  const start = epochMs((mondayOf(daysFromCivil(Number(year), 1, 4)) + (Number(week) - 1) * WEEK_DAYS) * DAY);
  return isoWeekAt(start) === text ? start : undefined;
}
