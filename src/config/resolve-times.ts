import type { WeekTimes } from '../model/receiver.ts';
import type { Report } from './report.ts';
import type { FindZone } from './resolve-calendar.ts';
import { child, type SourceNode, textOf } from './source.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const DAY_MINUTES = 1440;

/** The `times` of a route; null when something is wrong with it (reported). */
export function resolveTimes(node: SourceNode, findZone: FindZone, report: Report): WeekTimes | null {
  const [weekdays, between, zoneName] = [child(node, 'weekdays'), child(node, 'between'), child(node, 'zone')];
  const days = weekdays === undefined ? EVERY_DAY : readWeekdays(textOf(weekdays) ?? '');
  const span = between === undefined ? { from: 0, to: DAY_MINUTES } : readSpan(textOf(between) ?? '');
  const zone = findZone(textOf(zoneName) ?? 'UTC');
  if (days === null) {
    report.error((weekdays ?? node).at, {
      code: 'CONFIG_TIMES_INVALID',
      message: `${JSON.stringify(textOf(weekdays) ?? '')} names no days of the week`,
      fix: `write mon..fri, sat..sun, or mon,wed,fri with ${DAYS.join(', ')}`,
    });
  }
  if (span === null) {
    report.error((between ?? node).at, {
      code: 'CONFIG_TIMES_INVALID',
      message: `${JSON.stringify(textOf(between) ?? '')} is no span of a day`,
      fix: 'write 09:00-18:00; 18:00-09:00 goes on past midnight, 00:00-24:00 is the whole day',
    });
  }
  if (zone === null) {
    report.error((zoneName ?? node).at, {
      code: 'CONFIG_ZONE_UNKNOWN',
      message: `there is no time zone ${textOf(zoneName) ?? ''}`,
      fix: 'write an IANA name such as Europe/Berlin, America/New_York or UTC',
    });
  }
  return days === null || span === null || zone === null ? null : { weekdays: days, ...span, zone };
}

/** `mon..fri`, `fri..mon` (over the weekend), `sat,sun`; null for anything else. */
function readWeekdays(text: string): readonly number[] | null {
  const found = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [first, last = first, ...rest] = part
      .trim()
      .split('..')
      .map((name) => DAYS.indexOf(name.trim()));
    if (first === undefined || last === undefined || first < 0 || last < 0 || rest.length > 0) return null;
    for (let day = first; ; day = (day + 1) % 7) {
      found.add(day);
      if (day === last) break;
    }
  }
  return [...found].sort((a, b) => a - b);
}

function readSpan(text: string): { readonly from: number; readonly to: number } | null {
  const match = /^(\d{2}):(\d{2})\s*-\s*(\d{2}):(\d{2})$/.exec(text.trim());
  if (match === null) return null;
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = match.slice(1).map(Number);
  const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
  if (fromMinute > 59 || toMinute > 59 || from >= DAY_MINUTES || to > DAY_MINUTES || from === to) return null;
  return { from, to };
}
