import { parseInstant } from '../base/instant.ts';
import { DAY, MINUTE, type Ms, ms } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';
import { Calendar, type CalendarSpec, type CalendarUnit, nominalLength } from '../slo/calendar.ts';
import type { SloWindow } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { child, keyPosition, type SourceNode, textOf } from './source.ts';

/** A time zone by its IANA name; null when there is none. */
export type FindZone = (name: string) => ZoneRules | null;

/** Steps of 5 minutes are kept for 36 days, those of 15 minutes for a year where an SLO asks for it. */
const FINE_STEP = ms(5 * MINUTE);
const COARSE_STEP = ms(15 * MINUTE);
const FINE_MAX = 35 * DAY;
const LONGEST = 365 * DAY;

/** A calendar window: `duration` in whole units, from `startTime` on the clocks of `timeZone`. */
export function resolveCalendar(
  duration: SourceNode,
  calendar: SourceNode,
  findZone: FindZone,
  report: Report,
): SloWindow | undefined {
  const unit = resolveUnits(duration, report);
  const isLong = unit !== undefined && nominalLength(unit) > FINE_MAX;
  const anchor = resolveStart(calendar, isLong ? COARSE_STEP : FINE_STEP, report);
  const zone = resolveZone(calendar, findZone, report);
  if (unit === undefined || anchor === undefined || zone === undefined) return undefined;
  const length = nominalLength(unit);
  return { rolling: false, text: textOf(duration) ?? '', length, calendar: new Calendar({ ...unit, anchor, zone }) };
}

function resolveUnits(node: SourceNode, report: Report): Pick<CalendarSpec, 'unit' | 'count'> | undefined {
  const text = textOf(node) ?? '';
  const match = /^(\d{1,4})([dwMQY])$/.exec(text);
  const count = Number(match?.[1] ?? 0);
  if (match === null || count === 0) {
    report.error(node.at, {
      code: 'CONFIG_DURATION_INVALID',
      message: `${JSON.stringify(text)} is not the duration of a calendar window`,
      fix: 'write whole days, weeks, months, quarters or years: 1d, 1w, 1M, 1Q or 1Y',
    });
    return undefined;
  }
  const found = { unit: match[2] as CalendarUnit, count };
  if (nominalLength(found) > LONGEST) {
    report.error(node.at, {
      code: 'CONFIG_WINDOW_TOO_LONG',
      message: `a window of ${text} is longer than the history kept`,
      fix: 'use at most 1Y or 365d',
    });
    return undefined;
  }
  return found;
}

const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}$/;

/** Milliseconds of the local time, as if it were UTC. */
function resolveStart(calendar: SourceNode, step: Ms, report: Report): number | undefined {
  const node = child(calendar, 'startTime');
  if (node === undefined) return reportMissing(calendar, 'startTime', '2026-01-01 00:00:00', report);
  const text = textOf(node) ?? '';
  const start = LOCAL_TIME.test(text) ? parseInstant(`${text}Z`) : undefined;
  if (start === undefined) {
    report.error(node.at, {
      code: 'CONFIG_VALUE_INVALID',
      message: `${JSON.stringify(text)} is not a local date and time`,
      fix: 'write it without a zone, which timeZone names: startTime: 2026-01-01 00:00:00',
    });
    return undefined;
  }
  if (start % step !== 0) {
    const minutes = step / MINUTE;
    report.error(node.at, {
      code: 'CONFIG_WINDOW_STEP',
      message: `periods that start at ${text.slice(11)} do not hold whole steps of ${minutes} minutes`,
      fix: `use full ${minutes} minutes, such as 00:00:00`,
    });
    return undefined;
  }
  return start;
}

function resolveZone(calendar: SourceNode, findZone: FindZone, report: Report): ZoneRules | undefined {
  const node = child(calendar, 'timeZone');
  if (node === undefined) return reportMissing(calendar, 'timeZone', 'Europe/Berlin', report);
  const name = textOf(node) ?? '';
  const zone = findZone(name);
  if (zone !== null) return zone;
  report.error(node.at, {
    code: 'CONFIG_ZONE_UNKNOWN',
    message: `${JSON.stringify(name)} is no time zone`,
    fix: 'write an IANA name, such as Europe/Berlin or UTC',
  });
  return undefined;
}

function reportMissing(calendar: SourceNode, key: string, example: string, report: Report): undefined {
  report.error(keyPosition(calendar, key), {
    code: 'CONFIG_KEY_MISSING',
    message: `the calendar has no ${key}`,
    fix: `add ${key}: ${example}`,
  });
}
