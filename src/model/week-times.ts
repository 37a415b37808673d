import { type EpochMs, epochMs } from '../base/units.ts';
import { localOf } from '../base/zone.ts';
import type { Route, WeekTimes } from './receiver.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;

/** Whether clocks of the zone show one of these times. What they show twice counts twice, what they leave out never. */
export function isWithin({ weekdays, from, to, zone }: WeekTimes, at: EpochMs): boolean {
  const minutes = Math.floor(localOf(zone, at) / MINUTE_MS);
  const day = Math.floor(minutes / DAY_MINUTES);
  const minute = minutes - day * DAY_MINUTES;
  const weekday = (((day + FIRST_WEEKDAY) % 7) + 7) % 7;
  const end = to > from ? to : to + DAY_MINUTES;
  const startedToday = weekdays.includes(weekday) && minute >= from && minute < end;
  const startedYesterday = weekdays.includes((weekday + 6) % 7) && minute + DAY_MINUTES < end;
  return startedToday || startedYesterday;
}

const WEEK_MINUTES = 7 * DAY_MINUTES;
const STEP_MINUTES = 15;

/**
 * The first quarter of an hour of the week from `from` on in which none of these routes asks for an incident of this
 * severity whatever its labels are; null when there is none.
 */
export function firstGap(routes: readonly Route[], severity: 'page' | 'ticket', from: EpochMs): EpochMs | null {
  const broad = routes.filter(
    ({ severity: wanted, matchers, owners = [], services = [] }) =>
      (wanted.length === 0 || wanted.includes(severity)) && matchers.length + owners.length + services.length === 0,
  );
  for (let minute = 0; minute < WEEK_MINUTES; minute += STEP_MINUTES) {
    const at = epochMs(from + minute * MINUTE_MS);
    if (!broad.some(({ times = null }) => times === null || isWithin(times, at))) return at;
  }
  return null;
}
