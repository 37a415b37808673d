import type { EpochMs } from '../base/units.ts';

/** One firing of an alert: what truly caused it, and the incident that it ended up in. */
export interface LabelledAlert {
  readonly cause: string;
  readonly incident: number;
}

/** What a cause asks for, and what came of it. */
export interface LabelledCause {
  readonly cause: string;
  /** When the first of its alerts began. */
  readonly since: EpochMs;
  readonly deservesPage: boolean;
  /** The first page about an incident that holds an alert of it; null = there was none. */
  readonly pagedAt: EpochMs | null;
}

/** What happened in one scene whose true causes are known. */
export interface LabelledScene {
  readonly alerts: readonly LabelledAlert[];
  readonly causes: readonly LabelledCause[];
  readonly pages: number;
  /** Episodes of which something was told and that were not closed exactly once. */
  readonly leftOpen: number;
  /** Messages that a restart in the middle added or took away. */
  readonly changedByRestart: number;
}

/** Ratios are 0..1; null where there is nothing to judge. */
export interface Score {
  readonly scenes: number;
  readonly alerts: number;
  readonly incidents: number;
  readonly causes: number;
  /** Of the pairs of alerts that share an incident, those that share a cause. */
  readonly precision: number | null;
  /** Of the pairs of alerts that share a cause, those that share an incident. */
  readonly recall: number | null;
  /** Of all incidents, those with alerts of several causes. */
  readonly overMerged: number | null;
  readonly alertsPerIncident: number | null;
  readonly pages: number;
  readonly pagesDeserved: number;
  readonly pagesMissed: number;
  readonly changedByRestart: number;
  readonly leftOpen: number;
  /** From the first alert of a cause to its first page, ms: median and longest. */
  readonly firstPageMs: { readonly median: number; readonly longest: number } | null;
}

const pairs = (count: number): number => (count * (count - 1)) / 2;

const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

interface Pairs {
  readonly together: number;
  readonly inIncidents: number;
  readonly inCauses: number;
  readonly incidents: number;
  readonly overMerged: number;
}

/**
 * How well incidents match causes over all scenes: pairwise precision and recall (Manning, Raghavan, Schuetze:
 * Introduction to Information Retrieval, 16.3), incidents of mixed causes, pages missed, messages left open.
 */
export function scoreOf(scenes: readonly LabelledScene[]): Score {
  const counted = scenes.map(({ alerts }) => pairsOf(alerts));
  const sum = (of: (one: Pairs) => number): number => counted.reduce((total, one) => total + of(one), 0);
  const total = (of: (scene: LabelledScene) => number): number => scenes.reduce((all, scene) => all + of(scene), 0);
  const causes = scenes.flatMap((scene) => scene.causes);
  const deserved = causes.filter(({ deservesPage }) => deservesPage);
  const waits = deserved.flatMap(({ since, pagedAt }) => (pagedAt === null ? [] : [Math.max(0, pagedAt - since)]));
  const alerts = total((scene) => scene.alerts.length);
  const incidents = sum((one) => one.incidents);
  return {
    scenes: scenes.length,
    alerts,
    incidents,
    causes: causes.length,
    precision: ratio(
      sum((one) => one.together),
      sum((one) => one.inIncidents),
    ),
    recall: ratio(
      sum((one) => one.together),
      sum((one) => one.inCauses),
    ),
    overMerged: ratio(
      sum((one) => one.overMerged),
      incidents,
    ),
    alertsPerIncident: ratio(alerts, incidents),
    pages: total((scene) => scene.pages),
    pagesDeserved: deserved.length,
    pagesMissed: deserved.filter(({ pagedAt }) => pagedAt === null).length,
    changedByRestart: total((scene) => scene.changedByRestart),
    leftOpen: total((scene) => scene.leftOpen),
    firstPageMs: waitsOf(waits),
  };
}

function pairsOf(alerts: readonly LabelledAlert[]): Pairs {
  const byIncident = countsOf(alerts.map(({ incident }) => String(incident)));
  const byCause = countsOf(alerts.map(({ cause }) => cause));
  const byBoth = countsOf(alerts.map(({ incident, cause }) => `${incident} ${cause}`));
  const causesOf = countsOf([...byBoth.keys()].map((key) => key.slice(0, key.indexOf(' '))));
  const all = (counts: ReadonlyMap<string, number>): number =>
    [...counts.values()].reduce((sum, count) => sum + pairs(count), 0);
  return {
    together: all(byBoth),
    inIncidents: all(byIncident),
    inCauses: all(byCause),
    incidents: byIncident.size,
    overMerged: [...causesOf.values()].filter((count) => count > 1).length,
  };
}

function countsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function waitsOf(waits: readonly number[]): Score['firstPageMs'] {
  const sorted = [...waits].sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  const longest = sorted.at(-1);
  return median === undefined || longest === undefined ? null : { median, longest };
}
