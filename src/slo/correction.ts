import { DAY, type EpochMs, epochMs } from '../base/units.ts';
import { instantOfLocal, localOf, type ZoneRules } from '../base/zone.ts';
import { type Correction, type Recurrence, WEEKDAYS } from '../model/correction.ts';
import type { Period } from './calendar.ts';

/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;

/**
 * The times of planned work that overlap (from, to), in order. It begins when the zone's clocks show its start: where
 * they leave that out, as far behind the gap as it was meant to be; where they show it twice, at the first. It lasts as
 * long as it says, so that it may end an hour off by the clock.
 */
export function occurrencesOf(recurrence: Recurrence, zone: ZoneRules, from: EpochMs, to: EpochMs): readonly Period[] {
  const { weekdays, start, duration, firstDay, lastDay } = recurrence;
  const wanted = WEEKDAYS.map((day) => weekdays.includes(day));
  const dayOf = (at: number): number => Math.floor(localOf(zone, epochMs(at)) / DAY);
  const first = Math.max(firstDay, dayOf(from - duration) - 1);
  const last = Math.min(lastDay ?? Number.POSITIVE_INFINITY, dayOf(to) + 1);
  const found: Period[] = [];
  for (let day = first; day <= last; day += 1) {
    if (wanted[(((day + FIRST_WEEKDAY) % 7) + 7) % 7] !== true) continue;
    const begin = instantOfLocal(zone, day * DAY + start);
    const end = epochMs(begin + duration);
    if (begin < to && end > from) found.push({ start: begin, end });
  }
  return found;
}

/** The times that a correction names within (from, to), as given: in order, not rounded, perhaps overlapping. */
export function timesOf(
  correction: Correction,
  zoneOf: (name: string) => ZoneRules | null,
  from: EpochMs,
  to: EpochMs,
): readonly Period[] {
  const { time, ended, undone } = correction;
  if (undone !== null) return [];
  const zone = time.kind === 'once' ? null : zoneOf(time.recurrence.zone);
  const named =
    time.kind === 'once'
      ? [{ start: time.from, end: time.to }]
      : zone === null
        ? []
        : occurrencesOf(time.recurrence, zone, from, to);
  const until = ended?.at ?? Number.POSITIVE_INFINITY;
  return named
    .filter(({ start, end }) => start < to && end > from && start < until)
    .map(({ start, end }) => ({ start, end: epochMs(Math.min(end, until)) }));
}

/**
 * Rounded out to whole steps and joined where they touch or overlap. One fixed step, whatever the age of the data: what
 * is left out does not change when fine steps become coarse ones.
 */
export function wholeSteps(times: readonly Period[], stepMs: number): readonly Period[] {
  const rounded = times.map(({ start, end }) => ({
    start: Math.floor(start / stepMs) * stepMs,
    end: Math.ceil(end / stepMs) * stepMs,
  }));
  rounded.sort((a, b) => a.start - b.start);
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of rounded) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined.map(({ start, end }) => ({ start: epochMs(start), end: epochMs(end) }));
}
