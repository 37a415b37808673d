import type { Severity } from '../model/alert.ts';
import { type Matcher, parseMatcher } from '../model/matcher.ts';
import type { Receiver, Route } from '../model/receiver.ts';
import type { Report } from './report.ts';
import { booleanOf, child, items, keyPosition, type Position, type SourceNode, textOf } from './source.ts';
import { chooseFrom } from './suggest.ts';
import { reportDuplicates } from './validate.ts';

/**
 * The receivers under `receivers` of a file that has passed its schema. Names must differ. `offline` does not ask for
 * sound URLs: their secrets were not read.
 */
export function resolveReceivers(root: SourceNode, report: Report, offline = false): readonly Receiver[] {
  const nodes = items(child(root, 'receivers'));
  reportDuplicates(
    nodes.map((node) => ({ name: textOf(child(node, 'name')) ?? '', at: child(node, 'name')?.at ?? node.at })),
    'receiver',
    report,
  );
  return nodes.map((node) => {
    const url = child(node, 'url');
    if (!offline && url !== undefined && !isHttpUrl(textOf(url) ?? '')) {
      report.error(url.at, {
        code: 'CONFIG_URL_INVALID',
        message: 'the url of a receiver is not an absolute http or https URL',
        fix: 'write for example http://127.0.0.1:9000/hook',
      });
    }
    return {
      name: textOf(child(node, 'name')) ?? '',
      type: 'webhook',
      url: textOf(url) ?? '',
      secret: textOf(child(node, 'secret')) ?? null,
      sendResolved: booleanOf(child(node, 'sendResolved')) ?? true,
    };
  });
}

/** An absolute http or https URL with a host and, if any, a port in range. */
export function isHttpUrl(text: string): boolean {
  const match = /^https?:\/\/(?:[^\s/?#@]*@)?(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:[\]]+)(?::(\d{1,5}))?(?:[/?#]\S*)?$/.exec(
    text,
  );
  return match !== null && Number(match[1] ?? '1') <= 65_535;
}

/**
 * The routes of a routes.yaml that has passed its schema. `receivers` are the names that a route may send to: those
 * of this file and of slowburn.yaml; `offline` makes any other name a warning. Errors are reported.
 */
export function resolveRoutes(
  root: SourceNode,
  receivers: readonly string[],
  report: Report,
  offline = false,
): readonly Route[] {
  const routes: Route[] = [];
  for (const node of items(child(root, 'routes'))) {
    const receiver = child(node, 'receiver');
    const name = textOf(receiver) ?? '';
    checkReceiver(name, receiver?.at ?? node.at, receivers, report, offline);
    if (child(node, 'times') !== undefined) {
      report.error(keyPosition(node, 'times'), {
        code: 'CONFIG_UNSUPPORTED',
        message: 'times in a route are not supported',
        fix: 'remove it; without it the route sends at any time',
      });
    }
    const matchers = items(child(node, 'matchers')).map((matcher) => resolveMatcher(matcher, report));
    routes.push({
      receiver: name,
      severity: items(child(node, 'severity')).map((severity) => textOf(severity) as Severity),
      matchers: matchers.filter((matcher) => matcher !== null),
    });
  }
  return routes;
}

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
