import { type Ms, ms } from '../base/units.ts';
import {
  type CauseEdge,
  type CorrelationSettings,
  LOSSES,
  type Scope,
  type StormSettings,
} from '../correlate/settings.ts';
import { SIDES } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import type { Report } from './report.ts';
import { resolveDuration } from './resolve-window.ts';
import { booleanOf, child, entries, items, numberOf, type SourceNode, textOf } from './source.ts';
import { nearest } from './suggest.ts';

const OWN_ALERTS: readonly string[] = Object.values(ALERT);
const SCOPES: readonly Scope[] = ['service', 'cluster', 'zone', 'region', 'host', 'balancer', 'all'];

/** Used while the shipped file is read; it names everything itself. */
export const EMPTY_CORRELATION: CorrelationSettings = {
  causes: [],
  subjects: new Map(),
  openAfter: ms(0),
  resolveHold: ms(0),
  reopenWithin: ms(0),
  reopenWithinTicket: ms(0),
  ackLapse: ms(0),
  minAlerts: 1,
  storm: { clusters: 1, share: 1, within: ms(0) },
  replicaLabels: [],
  ignoreLabels: [],
};

/**
 * A correlation.yaml that has passed its schema. `causes` and `subjects` replace the shipped ones as a whole where
 * they are written; of `storm` and `settings` each key that is left out keeps its default.
 */
export function resolveCorrelation(
  root: SourceNode,
  defaults: CorrelationSettings,
  report: Report,
): CorrelationSettings {
  const causes = child(root, 'causes');
  const subjects = child(root, 'subjects');
  const settings = child(root, 'settings');
  const duration = (key: 'openAfter' | 'resolveHold' | 'reopenWithin' | 'reopenWithinTicket' | 'ackLapse'): Ms =>
    resolveDuration(child(settings, key), `settings.${key}`, report) ?? defaults[key];
  return {
    causes: causes === undefined ? defaults.causes : resolveCauses(causes, report),
    subjects: subjects === undefined ? defaults.subjects : resolveSubjects(subjects),
    openAfter: duration('openAfter'),
    resolveHold: duration('resolveHold'),
    reopenWithin: duration('reopenWithin'),
    reopenWithinTicket: duration('reopenWithinTicket'),
    ackLapse: duration('ackLapse'),
    minAlerts: numberOf(child(settings, 'minAlerts')) ?? defaults.minAlerts,
    storm: resolveStorm(child(root, 'storm'), defaults.storm, report),
    replicaLabels: textsOf(child(settings, 'replicaLabels')) ?? defaults.replicaLabels,
    ignoreLabels: textsOf(child(settings, 'ignoreLabels')) ?? defaults.ignoreLabels,
  };
}

const resolveStorm = (node: SourceNode | undefined, defaults: StormSettings, report: Report): StormSettings => ({
  clusters: numberOf(child(node, 'clusters')) ?? defaults.clusters,
  share: numberOf(child(node, 'share')) ?? defaults.share,
  within: resolveDuration(child(node, 'within'), 'storm.within', report) ?? defaults.within,
});

function resolveSubjects(node: SourceNode): ReadonlyMap<string, readonly string[]> {
  return new Map(entries(node).map(([kind, { value }]) => [kind, textsOf(value) ?? []] as const));
}

const textsOf = (node: SourceNode | undefined): readonly string[] | undefined =>
  node === undefined ? undefined : items(node).map((item) => textOf(item) ?? '');

function resolveCauses(node: SourceNode, report: Report): readonly CauseEdge[] {
  const edges: CauseEdge[] = [];
  for (const item of items(node)) {
    const cause = resolveAlertName(child(item, 'cause'), report);
    const effect = resolveAlertName(child(item, 'effect'), report);
    const scope = SCOPES.find((known) => known === textOf(child(item, 'scope'))) ?? 'cluster';
    const within = resolveDuration(child(item, 'within'), 'within', report);
    if (within === undefined) continue;
    const side = SIDES.find((known) => known === textOf(child(item, 'side')));
    const of = LOSSES.find((known) => known === textOf(child(item, 'of')));
    const narrower = {
      ...(side === undefined ? {} : { side }),
      ...(of === undefined ? {} : { of }),
      ...(booleanOf(child(item, 'atStart')) === true ? { atStart: true } : {}),
    };
    const edge: CauseEdge = { cause, effect, scope, within, ...narrower };
    const fault = edgeFault(edge, edges);
    if (fault === undefined) edges.push(edge);
    else report.error(child(item, 'effect')?.at ?? item.at, { code: 'CONFIG_CAUSE_INVALID', ...fault });
  }
  return edges;
}

function edgeFault(edge: CauseEdge, before: readonly CauseEdge[]): { message: string; fix: string } | undefined {
  const { cause, effect, scope, side, of } = edge;
  if (cause === effect) {
    return {
      message: `${cause} cannot explain itself`,
      fix: 'remove it: the same alert on the same subject always joins',
    };
  }
  const isSame = (other: CauseEdge): boolean =>
    other.cause === cause && other.effect === effect && other.scope === scope && other.side === side && other.of === of;
  if (before.some(isSame)) {
    return { message: `${cause} explains ${effect} in its ${scope} twice`, fix: 'keep one of the two' };
  }
  if (explains(before, effect, cause)) {
    return {
      message: `${cause} explains ${effect}, which explains ${cause} by earlier lines`,
      fix: 'remove one direction: a circle has no first cause',
    };
  }
  return undefined;
}

/** Whether a chain of edges leads from `from` to `to`. */
function explains(edges: readonly CauseEdge[], from: string, to: string): boolean {
  const reached = new Set([from]);
  // A set grows while it is walked, so that the loop visits what it adds.
  for (const name of reached) {
    for (const edge of edges) if (edge.cause === name) reached.add(edge.effect);
  }
  return reached.has(to);
}

/** Any alert name is allowed, as foreign alerts have names of their own; one that nearly is ours gets a warning. */
function resolveAlertName(node: SourceNode | undefined, report: Report): string {
  const name = textOf(node) ?? '';
  const near = OWN_ALERTS.includes(name) ? undefined : nearest(name, OWN_ALERTS);
  if (near !== undefined && node !== undefined) {
    report.warning(node.at, {
      code: 'CONFIG_ALERT_UNKNOWN',
      message: `slowburn raises no alert ${name}`,
      fix: `did you mean ${near}? A foreign alert may have this name`,
    });
  }
  return name;
}
