import { DAY, HOUR, MINUTE, type Ms, ms } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';
import type { InhibitRule } from '../correlate/inhibit.ts';
import type { MuteInterval } from '../correlate/interval.ts';
import type { MuteRules } from '../correlate/mute.ts';
import { asksForSomething } from '../correlate/silence.ts';
import { WEEKDAYS, type Weekday } from '../model/correction.ts';
import type { Matcher } from '../model/matcher.ts';
import type { Report } from './report.ts';
import { resolveMatcher } from './resolve-routes.ts';
import { child, items, type SourceNode, textOf } from './source.ts';
import { reportDuplicates } from './validate.ts';

/**
 * `inhibit` and `muteIntervals` of a correlation.yaml that has passed its schema. Each list replaces the one of `defaults`
 * as a whole where it is written. What is wrong is reported and left out.
 */
export function resolveMutes(
  root: SourceNode,
  defaults: MuteRules,
  zoneOf: (name: string) => ZoneRules | null,
  report: Report,
): MuteRules {
  const inhibit = child(root, 'inhibit');
  const intervals = child(root, 'muteIntervals');
  return {
    inhibit: inhibit === undefined ? defaults.inhibit : resolveInhibit(inhibit, report),
    intervals: intervals === undefined ? defaults.intervals : resolveIntervals(intervals, zoneOf, report),
  };
}

function resolveInhibit(node: SourceNode, report: Report): readonly InhibitRule[] {
  return items(node).map((item) => ({
    source: resolveMatchers(item, 'source', report),
    target: resolveMatchers(item, 'target', report),
    equal: items(child(item, 'equal')).map((name) => textOf(name) ?? ''),
  }));
}

function resolveIntervals(
  node: SourceNode,
  zoneOf: (name: string) => ZoneRules | null,
  report: Report,
): readonly MuteInterval[] {
  const found: MuteInterval[] = [];
  const names: { name: string; at: SourceNode['at'] }[] = [];
  for (const item of items(node)) {
    const nameNode = child(item, 'name');
    const name = textOf(nameNode) ?? '';
    names.push({ name, at: nameNode?.at ?? item.at });
    const matchers = resolveMatchers(item, 'matchers', report);
    const weekdays = resolveWeekdays(child(item, 'weekdays'), report);
    const times = resolveBetween(child(item, 'between'), report);
    const zoneNode = child(item, 'zone');
    const zone = textOf(zoneNode) ?? '';
    const isKnown = zoneOf(zone) !== null;
    if (!isKnown) {
      report.error(zoneNode?.at ?? item.at, {
        code: 'CONFIG_ZONE_UNKNOWN',
        message: `${JSON.stringify(zone)} is no time zone`,
        fix: 'write an IANA name such as Europe/Berlin or UTC',
      });
    }
    if (weekdays !== null && times !== null && isKnown) found.push({ name, weekdays, ...times, zone, matchers });
  }
  reportDuplicates(names, 'mute interval', report);
  return found;
}

/** Matchers that name something: a rule that fits every alert is never what was meant. */
function resolveMatchers(item: SourceNode, key: string, report: Report): readonly Matcher[] {
  const node = child(item, key);
  const nodes = items(node);
  const matchers = nodes.map((one) => resolveMatcher(one, report)).filter((matcher) => matcher !== null);
  if (matchers.length === nodes.length && !asksForSomething(matchers)) {
    report.error(node?.at ?? item.at, {
      code: 'CONFIG_MATCHER_TOO_WIDE',
      message: `${key} would match every alert, one without any label too`,
      fix: 'add a matcher that names something, for example alertname=DiskFull; every alert is alertname=~".+"',
    });
  }
  return matchers;
}

/** A list of days, or a range such as `mon..fri`; `fri..mon` goes over the weekend. */
function resolveWeekdays(node: SourceNode | undefined, report: Report): readonly Weekday[] | null {
  if (node === undefined) return WEEKDAYS;
  const texts = node.kind === 'list' ? items(node).map((item) => textOf(item) ?? '') : [textOf(node) ?? ''];
  const days = texts.flatMap(daysOf);
  if (days.length > 0 && !days.includes(null)) return WEEKDAYS.filter((day) => days.includes(day));
  report.error(node.at, {
    code: 'CONFIG_WEEKDAYS_INVALID',
    message: 'these are no days of the week',
    fix: `write a list such as [sat, sun] or a range such as mon..fri, of ${WEEKDAYS.join(', ')}`,
  });
  return null;
}

function daysOf(text: string): readonly (Weekday | null)[] {
  const [first = -1, last = first, ...rest] = text.split('..').map((day) => WEEKDAYS.indexOf(day.trim() as Weekday));
  if (first < 0 || last < 0 || rest.length > 0) return [null];
  const count = ((last - first + WEEKDAYS.length) % WEEKDAYS.length) + 1;
  return Array.from({ length: count }, (_, index) => WEEKDAYS[(first + index) % WEEKDAYS.length] ?? null);
}

function resolveBetween(node: SourceNode | undefined, report: Report): { from: Ms; to: Ms } | null {
  const match = /^(\d\d):(\d\d)\s*-\s*(\d\d):(\d\d)$/.exec(textOf(node) ?? '');
  const [from, to] = [timeOf(match?.[1], match?.[2]), timeOf(match?.[3], match?.[4])];
  if (from !== null && to !== null && from !== to && from < DAY) return { from: ms(from), to: ms(to) };
  if (node === undefined) return null;
  report.error(node.at, {
    code: 'CONFIG_TIMES_INVALID',
    message: 'this is no time of day from and to',
    fix: 'write 02:00-04:00, 22:00-06:00 (to the next day) or 00:00-24:00',
  });
  return null;
}

/** Since midnight; null unless it is 00:00 to 24:00. */
function timeOf(hour: string | undefined, minute: string | undefined): number | null {
  if (hour === undefined || minute === undefined || Number(minute) > 59) return null;
  const time = Number(hour) * HOUR + Number(minute) * MINUTE;
  return time <= DAY ? time : null;
}
