import { formatDuration, parseDuration } from '../base/duration.ts';
import { DAY, HOUR, MINUTE, type Ms } from '../base/units.ts';
import type { SloWindow } from '../slo/slo.ts';
import type { Report } from './report.ts';
import { type FindZone, resolveCalendar } from './resolve-calendar.ts';
import { booleanOf, child, items, keyPosition, type SourceNode, textOf } from './source.ts';

/** Steps of 5 minutes are kept for 36 days; the oldest day is needed for the window's old edge. */
const LONGEST = 35 * DAY;
const SHORTEST = HOUR;
const STEP = 5 * MINUTE;

/** A duration, or undefined when the text is none (reported). */
export function resolveDuration(node: SourceNode | undefined, name: string, report: Report): Ms | undefined {
  if (node === undefined) return undefined;
  const text = textOf(node) ?? '';
  const duration = parseDuration(text);
  if (duration !== undefined) return duration;
  report.error(node.at, {
    code: 'CONFIG_DURATION_INVALID',
    message: `${name} ${text === '' ? 'has no duration' : `${JSON.stringify(text)} is not a duration`}`,
    fix: durationFix(text),
  });
  return undefined;
}

function durationFix(text: string): string {
  if (/^\d+[MQY]$/.test(text))
    return 'months, quarters and years have no fixed length: write days, such as 30d, or a calendar window';
  if (/^\d*\.\d+(ms|[smhdw])$/.test(text)) return 'use whole numbers: 1h30m instead of 1.5h';
  if (/^\d+$/.test(text)) return `add a unit: ${text}s, ${text}m, ${text}h or ${text}d`;
  return 'write whole numbers with units ms, s, m, h, d, w, largest first, such as 5m, 1h30m or 30d';
}

/** `spec.timeWindow`: one window, rolling or calendar, that the kept steps can hold. */
export function resolveWindow(spec: SourceNode, findZone: FindZone, report: Report): SloWindow | undefined {
  const [window, second] = items(child(spec, 'timeWindow'));
  if (window === undefined) return undefined;
  if (second !== undefined) {
    report.error(second.at, {
      code: 'CONFIG_WINDOW_COUNT',
      message: 'an SLO has one time window',
      fix: 'keep one of them, or write a second SLO with the other window',
    });
    return undefined;
  }
  const kind = kindOf(window, report);
  if (kind === undefined) return undefined;
  const node = child(window, 'duration');
  if (node === undefined) {
    report.error(window.at, {
      code: 'CONFIG_KEY_MISSING',
      message: 'the time window has no duration',
      fix: kind === 'rolling' ? 'add duration: 30d' : 'add duration: 1M',
    });
    return undefined;
  }
  if (kind === 'calendar') return resolveCalendar(node, child(window, 'calendar') ?? window, findZone, report);
  const length = resolveDuration(node, 'the time window', report);
  if (length === undefined || !isKept(length, node, report)) return undefined;
  return { text: textOf(node) ?? formatDuration(length), length, rolling: true };
}

/** A calendar makes it a calendar window, unless it says that it rolls; nothing said rolls. */
function kindOf(window: SourceNode, report: Report): 'rolling' | 'calendar' | undefined {
  const isRolling = booleanOf(child(window, 'isRolling'));
  const hasCalendar = child(window, 'calendar') !== undefined;
  if (hasCalendar && isRolling === true) {
    report.error(keyPosition(window, 'isRolling'), {
      code: 'CONFIG_WINDOW_KIND',
      message: 'a window either rolls or follows a calendar',
      fix: 'write isRolling: false, or remove the calendar',
    });
    return undefined;
  }
  if (!hasCalendar && isRolling === false) {
    report.error(keyPosition(window, 'isRolling'), {
      code: 'CONFIG_WINDOW_KIND',
      message: 'a window that does not roll needs a calendar',
      fix: 'add calendar: { startTime: 2026-01-01 00:00:00, timeZone: Europe/Berlin }, or write isRolling: true',
    });
    return undefined;
  }
  return hasCalendar ? 'calendar' : 'rolling';
}

function isKept(length: Ms, node: SourceNode, report: Report): boolean {
  const text = textOf(node) ?? '';
  if (length > LONGEST) {
    report.error(node.at, {
      code: 'CONFIG_WINDOW_TOO_LONG',
      message: `a window of ${text} is longer than the history kept`,
      fix: 'use at most 35d; 28d or 30d are usual',
    });
    return false;
  }
  if (length < SHORTEST) {
    report.error(node.at, {
      code: 'CONFIG_WINDOW_TOO_SHORT',
      message: `a window of ${text} is too short for an error budget`,
      fix: 'use at least 1h; 28d or 30d are usual',
    });
    return false;
  }
  if (length % STEP !== 0) {
    report.error(node.at, {
      code: 'CONFIG_WINDOW_STEP',
      message: `a window of ${text} does not hold whole steps of 5 minutes`,
      fix: `write ${formatDuration((Math.floor(length / STEP) * STEP) as Ms)}`,
    });
    return false;
  }
  return true;
}
