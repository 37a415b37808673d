import { formatDuration, parseDuration } from '../base/duration.ts';
import { DAY, HOUR, MINUTE, type Ms } from '../base/units.ts';
import type { SloWindow } from '../slo/slo.ts';
import type { Report } from './report.ts';
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
  if (/^\d+[MQY]$/.test(text)) return 'months, quarters and years have no fixed length: write days, such as 30d';
  if (/^\d*\.\d+(ms|[smhdw])$/.test(text)) return 'use whole numbers: 1h30m instead of 1.5h';
  if (/^\d+$/.test(text)) return `add a unit: ${text}s, ${text}m, ${text}h or ${text}d`;
  return 'write whole numbers with units ms, s, m, h, d, w, largest first, such as 5m, 1h30m or 30d';
}

/** `spec.timeWindow`: one rolling window that the kept steps can hold. */
export function resolveWindow(spec: SourceNode, report: Report): SloWindow | undefined {
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
  const calendar = child(window, 'calendar') !== undefined;
  if (calendar || booleanOf(child(window, 'isRolling')) === false) {
    report.error(keyPosition(window, calendar ? 'calendar' : 'isRolling'), {
      code: 'CONFIG_UNSUPPORTED',
      message: 'calendar windows are not supported',
      fix: 'use a rolling window: timeWindow: [{ duration: 30d, isRolling: true }]',
    });
    return undefined;
  }
  const node = child(window, 'duration');
  if (node === undefined) {
    report.error(window.at, {
      code: 'CONFIG_KEY_MISSING',
      message: 'the time window has no duration',
      fix: 'add duration: 30d',
    });
    return undefined;
  }
  const length = resolveDuration(node, 'the time window', report);
  if (length === undefined || !isKept(length, node, report)) return undefined;
  return { text: textOf(node) ?? formatDuration(length), length, rolling: true };
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
