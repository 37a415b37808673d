import { createReplay } from '../../src/app/replay.ts';
import type { ReplaySink } from '../../src/app/replay-output.ts';
import { assert } from '../../src/base/assert.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { Rules } from '../../src/config/config.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { matches, parseMatcher } from '../../src/model/matcher.ts';
import { planOf } from '../../src/sim/drill/drill-run.ts';
import { rehearse } from '../../src/sim/drill/rehearse.ts';
import type { Scenario as Drill } from '../../src/sim/scenarios/scenario.ts';
import { instantAt, rulesOf, type Scenario } from '../contract/correlation/scenario.ts';

/** Everything that one failure made alerts say, from its first to its last. One cause, by construction. */
export interface AlertStream {
  /** `health-cascade 3`: scenario and seed. */
  readonly cause: string;
  /** In the order in which they came. */
  readonly changes: readonly AlertChange[];
  /** Whether an alert of it pages when nothing else happens. */
  readonly deservesPage: boolean;
  /** The last tick of the drill. */
  readonly until: EpochMs;
}

/** A situation of test/contract/correlation whose true causes are told. */
export type LabelledFile = Scenario & Required<Pick<Scenario, 'causes'>>;

/** Labels and places that tell one part of a fleet from another. */
const CLUSTER_PARTS = ['service', 'cluster', 'host'] as const;

/** Rehearses a scenario at the size of the seed and keeps what its alerts did. */
export function recordStream(scenario: Drill, seed: number, rules: Rules): AlertStream {
  const changes: AlertChange[] = [];
  let until = epochMs(0);
  rehearse({
    plan: planOf(scenario, seed).plan,
    rules,
    flavor: 'canonical',
    onOutcome: ({ at, alerts }) => {
      changes.push(...alerts);
      until = at;
    },
  });
  return { cause: `${scenario.name} ${seed}`, changes, until, deservesPage: changes.some(isPage) };
}

/** What each of the causes that a file names makes alerts say, whatever people do in it. */
export function streamsOfFile(scenario: LabelledFile): readonly AlertStream[] {
  const changes: AlertChange[] = [];
  const sink: ReplaySink = { outcome: ({ alerts }) => void changes.push(...alerts), close: () => undefined };
  const replay = createReplay(rulesOf(scenario), sink);
  for (const [second, { alerts }] of scenario.events) {
    if (Array.isArray(alerts)) replay.line({ where: scenario.id, at: instantAt(second), kind: 'alerts', alerts });
  }
  const until = instantAt(scenario.until);
  replay.finish(until);
  return Object.entries(scenario.causes).map(([name, text]) => {
    const matcher = parseMatcher(text);
    assert(matcher !== null, text);
    const own = changes.filter(({ alert }) => matches(matcher, alert.labels));
    return { cause: `${scenario.id}: ${name}`, changes: own, until, deservesPage: own.some(isPage) };
  });
}

const isPage = (change: AlertChange): boolean => change.kind !== 'resolved' && change.alert.severity === 'page';

/** The same failure in other clusters of the same fleet, so much later. */
export function elsewhere(stream: AlertStream, name: string, byMs: number): AlertStream {
  const changes = stream.changes.map((change) => ({
    ...change,
    at: epochMs(change.at + byMs),
    alert: renamed(change.alert, name, byMs),
  }));
  return { ...stream, cause: `${stream.cause} ${name}`, changes, until: epochMs(stream.until + byMs) };
}

function renamed(alert: Alert, name: string, byMs: number): Alert {
  const isPart = (part: string): boolean => (CLUSTER_PARTS as readonly string[]).includes(part);
  const rename = ([part, value]: readonly [string, string]): readonly [string, string] =>
    isPart(part) ? [part, `${name}-${value}`] : [part, value];
  return {
    ...alert,
    key: `${name} ${alert.key}`,
    labels: labelsOf([...alert.labels].map(rename)),
    place: Object.fromEntries(Object.entries(alert.place).map(rename)),
    since: epochMs(alert.since + byMs),
    ...(alert.began === undefined ? {} : { began: epochMs(alert.began + byMs) }),
    ...(alert.clusters === undefined ? {} : { clusters: alert.clusters.map((cluster) => `${name}-${cluster}`) }),
  };
}

/** Ends at its last tick what still fires then, as if all had been mended. */
export function ended({ changes, until }: AlertStream): readonly AlertChange[] {
  const firing = new Map<string, Alert>();
  for (const { kind, alert } of changes) {
    if (kind === 'resolved') firing.delete(alert.key);
    else firing.set(alert.key, alert);
  }
  const closing = [...firing.values()].map(
    (alert): AlertChange => ({ kind: 'resolved', at: until, alert, reason: 'recovered' }),
  );
  return [...changes, ...closing];
}
