import { type EpochMs, epochMs } from './units.ts';

/** Days from 1970-01-01 to the given civil date, proleptic Gregorian (Howard Hinnant's days_from_civil). */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/** The civil date of a day number counted from 1970-01-01 (Howard Hinnant's civil_from_days). */
export function civilFromDays(days: number): CivilDate {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthShifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthShifted < 10 ? monthShifted + 3 : monthShifted - 9;
  const day = dayOfYear - Math.floor((153 * monthShifted + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;

/** Reads an RFC 3339 time; digits below a millisecond are cut. Returns undefined when it is not one. */
export function parseInstant(text: string): EpochMs | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? '0');
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const days = daysFromCivil(year, month, day);
  const back = civilFromDays(days);
  if (back.year !== year || back.month !== month || back.day !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || part(10) > 23 || part(11) > 59) return undefined;
  const millis = Number((match[7] ?? '0').padEnd(3, '0').slice(0, 3));
  const offsetMinutes = (match[9] === '-' ? -1 : 1) * (part(10) * 60 + part(11));
  return epochMs(days * 86_400_000 + (hour * 60 + minute - offsetMinutes) * 60_000 + second * 1000 + millis);
}

/** Days from 1970-01-01 of a date such as `2026-01-31`; undefined when it is none. */
export function parseCivilDate(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseInstant(`${text}T00:00:00Z`) : undefined;
  return at === undefined ? undefined : at / 86_400_000;
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** RFC 3339 in UTC with milliseconds: `2026-01-01T00:00:00.000Z`. */
export function formatInstant(at: EpochMs): string {
  const days = Math.floor(at / 86_400_000);
  const { year, month, day } = civilFromDays(days);
  const rest = Math.floor(at - days * 86_400_000);
  const clock = `${pad(Math.floor(rest / 3_600_000), 2)}:${pad(Math.floor(rest / 60_000) % 60, 2)}:${pad(Math.floor(rest / 1000) % 60, 2)}`;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${clock}.${pad(rest % 1000, 3)}Z`;
}

/** The date so many days from 1970-01-01: `2026-01-31`. */
export const formatCivilDate = (days: number): string => formatInstant(epochMs(days * 86_400_000)).slice(0, 10);
