import { ALERT } from '../model/conventions.ts';
import type { Report } from './report.ts';
import { type SourceNode, textOf } from './source.ts';
import { nearest } from './suggest.ts';

const OWN_ALERTS: readonly string[] = Object.values(ALERT);

/** Any name is allowed, as foreign alerts have names of their own; one that nearly is ours gets a warning. */
export function alertNames(nodes: readonly SourceNode[], report: Report): readonly string[] {
  return nodes.map((item) => {
    const name = textOf(item) ?? '';
    const near = OWN_ALERTS.includes(name) ? undefined : nearest(name, OWN_ALERTS);
    if (near !== undefined) {
      report.warning(item.at, {
        code: 'CONFIG_ALERT_UNKNOWN',
        message: `slowburn raises no alert ${name}`,
        fix: `did you mean ${near}? A foreign alert may have this name`,
      });
    }
    return name;
  });
}
