import { DAY, type EpochMs, epochMs, type Ms } from '../base/units.ts';
import { instantOfLocal, localOf, type ZoneRules } from '../base/zone.ts';
import { WEEKDAYS, type Weekday } from '../model/correction.ts';
import type { Matcher } from '../model/matcher.ts';

/** A time of the week in which nobody is told of the alerts that match. */
export interface MuteInterval {
  readonly name: string;
  /** Local days on which it begins. */
  readonly weekdays: readonly Weekday[];
  /** Local time of day since midnight. */
  readonly from: Ms;
  /** At most 24 h; not after `from` = on the next day. */
  readonly to: Ms;
  /** IANA name. */
  readonly zone: string;
  readonly matchers: readonly Matcher[];
}

/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;

/**
 * Until when the interval that runs now goes on; null when none does. It runs from the moment at which the zone's clocks
 * first show its start, or first pass it, to the moment at which they do so with its end: an hour that is shown twice
 * does not begin or end it twice, and one that is left out shortens it.
 */
export function intervalUntil(interval: MuteInterval, zone: ZoneRules, now: EpochMs): EpochMs | null {
  const today = Math.floor(localOf(zone, now) / DAY);
  for (let day = today - 1; day <= today + 1; day += 1) {
    const weekday = WEEKDAYS[(((day + FIRST_WEEKDAY) % 7) + 7) % 7];
    if (weekday === undefined || !interval.weekdays.includes(weekday)) continue;
    const endDay = interval.to > interval.from ? day : day + 1;
    const start = firstInstantOf(zone, day * DAY + interval.from);
    const end = firstInstantOf(zone, endDay * DAY + interval.to);
    if (start <= now && now < end) return end;
  }
  return null;
}

/** When clocks first show a local time; where they leave it out, when they jump over it. */
function firstInstantOf(zone: ZoneRules, local: number): EpochMs {
  const at = instantOfLocal(zone, local);
  if (localOf(zone, at) === local) return at;
  // The jump lies before: within a day of it the clocks show less.
  let [before, after] = [at - DAY, at as number];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (localOf(zone, epochMs(middle)) < local) before = middle;
    else after = middle;
  }
  return epochMs(after);
}
