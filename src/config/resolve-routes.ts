import type { Owner, Severity } from '../model/alert.ts';
import { type Matcher, parseMatcher } from '../model/matcher.ts';
import type { Route } from '../model/receiver.ts';
import type { Report } from './report.ts';
import type { FindZone } from './resolve-calendar.ts';
import { resolveTimes } from './resolve-times.ts';
import { child, items, type Position, type SourceNode, textOf } from './source.ts';
import { chooseFrom } from './suggest.ts';

/**
 * The routes of a routes.yaml that has passed its schema. `receivers` are the names that a route may send to: those
 * of this file and of slowburn.yaml; `offline` makes any other name a warning. Errors are reported.
 */
export function resolveRoutes(
  root: SourceNode,
  receivers: readonly string[],
  findZone: FindZone,
  report: Report,
  offline = false,
): readonly Route[] {
  const routes: Route[] = [];
  for (const node of items(child(root, 'routes'))) {
    const receiver = child(node, 'receiver');
    const name = textOf(receiver) ?? '';
    checkReceiver(name, receiver?.at ?? node.at, receivers, report, offline);
    const times = child(node, 'times');
    const matchers = items(child(node, 'matchers')).map((matcher) => resolveMatcher(matcher, report));
    routes.push({
      receiver: name,
      severity: items(child(node, 'severity')).map((severity) => textOf(severity) as Severity),
      matchers: matchers.filter((matcher) => matcher !== null),
      ...optional('owners', items(child(node, 'owner')).map(textOf) as Owner[]),
      ...optional('services', items(child(node, 'service')).map(textOf) as string[]),
      ...(times === undefined ? {} : { times: resolveTimes(times, findZone, report) }),
    });
  }
  return routes;
}

const optional = <K extends string, V>(key: K, list: readonly V[]): { [k in K]?: readonly V[] } =>
  list.length === 0 ? {} : ({ [key]: list } as { [k in K]: readonly V[] });

/** Reports a receiver that is not among `known`; `offline` makes it a warning. */
export function checkReceiver(
  name: string,
  at: Position,
  known: readonly string[],
  report: Report,
  offline = false,
): void {
  if (known.includes(name)) return;
  report[offline ? 'warning' : 'error'](at, {
    code: 'CONFIG_RECEIVER_UNKNOWN',
    message: `there is no receiver ${name}`,
    fix: known.length === 0 ? 'add it under receivers' : chooseFrom(name, known),
  });
}

/** Null where it is none; that is reported. */
export function resolveMatcher(node: SourceNode, report: Report): Matcher | null {
  const text = textOf(node) ?? '';
  const matcher = parseMatcher(text);
  if (matcher === null) {
    const pattern = /=~|!~/.test(text);
    report.error(node.at, {
      code: pattern ? 'CONFIG_REGEX_INVALID' : 'CONFIG_MATCHER_INVALID',
      message: `${JSON.stringify(text)} is not a matcher${pattern ? ' with a valid pattern' : ''}`,
      fix: 'write team=edge, team!=edge, zone=~"a|b" or zone!~"a|b"',
    });
  }
  return matcher;
}
