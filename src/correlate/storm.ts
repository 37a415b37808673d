import type { EpochMs } from '../base/units.ts';
import type { Alert } from '../model/alert.ts';
import type { Incident } from '../model/incident.ts';
import { durationText } from '../model/phrases.ts';
import type { Board } from './board.ts';
import type { KnownFleet } from './correlator.ts';
import { firingAlerts, type IncidentDraft } from './draft.ts';
import type { StormSettings } from './settings.ts';

/** One kind that starts in many clusters at once (design section 10): all of it is one incident. */
export interface Storm {
  readonly kind: string;
  readonly firstAt: EpochMs;
  /** Those that start in this tick, in order. */
  readonly starting: readonly Alert[];
  /** Incidents that hold others of it. */
  readonly holders: ReadonlySet<IncidentDraft>;
  readonly known: number;
  /** Why they are one, for a person. */
  readonly why: string;
  /** Once it is known where they go. */
  host: IncidentDraft | null;
  isSettled: boolean;
}

interface Start {
  readonly at: EpochMs;
  readonly cluster: string;
  readonly key: string;
  /** Null: it starts in this tick. */
  readonly alert: Alert | null;
  readonly holder: IncidentDraft | null;
}

/** Storms among what starts in this tick, by the key of each such alert. */
export function stormsOf(
  starting: readonly Alert[],
  board: Board,
  settings: StormSettings,
  fleet: KnownFleet,
): ReadonlyMap<string, Storm> {
  const byKind = new Map<string, Alert[]>();
  for (const alert of starting) {
    if (alert.place.cluster === undefined) continue;
    const list = byKind.get(alert.name);
    if (list === undefined) byKind.set(alert.name, [alert]);
    else list.push(alert);
  }
  const found = new Map<string, Storm>();
  let clusters: ReadonlySet<string> | null = null;
  for (const [kind, alerts] of byKind) {
    const starts = startsOf(kind, alerts, board);
    if (new Set(starts.map(({ cluster }) => cluster)).size < settings.clusters) continue;
    clusters ??= knownClusters(starting, board, fleet);
    for (const group of groupsOf(starts, kind, clusters.size, settings)) {
      const storm = stormOf(kind, group, clusters.size, settings);
      for (const { key } of storm.starting) found.set(key, storm);
    }
  }
  return found;
}

/** Starts of one kind in incidents that are not over, and in this tick, in the order of event time. */
function startsOf(kind: string, alerts: readonly Alert[], board: Board): readonly Start[] {
  const starts = new Map<string, Start>();
  for (const { draft, members } of board.ofKind(kind)) {
    if (draft.head.state === 'resolved') continue;
    for (const { alert, state } of members()) {
      const { cluster } = alert.place;
      if (cluster === undefined || state === 'moved') continue;
      starts.set(alert.key, { at: alert.since, cluster, key: alert.key, alert: null, holder: draft });
    }
  }
  for (const alert of alerts) {
    const holder = starts.get(alert.key)?.holder ?? null;
    starts.set(alert.key, { at: alert.since, cluster: alert.place.cluster ?? '', key: alert.key, alert, holder });
  }
  return [...starts.values()].sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
}

/** Clusters of telemetry and of alerts from elsewhere, those that are over for less than a day too. */
function knownClusters(starting: readonly Alert[], board: Board, fleet: KnownFleet): ReadonlySet<string> {
  const known = new Set<string>(fleet.clusters());
  for (const { place } of starting) if (place.cluster !== undefined) known.add(place.cluster);
  for (const { incident } of board.drafts()) {
    for (const { alert } of incident.members) if (alert.place.cluster !== undefined) known.add(alert.place.cluster);
  }
  return known;
}

/** Runs of starts, none further than `within` from the next, that are a storm or go on with one. */
function groupsOf(
  starts: readonly Start[],
  kind: string,
  known: number,
  settings: StormSettings,
): readonly (readonly Start[])[] {
  const isIn = starts.map(({ holder }) => holder?.head.storm?.kinds.includes(kind) === true);
  markWindows(starts, isIn, Math.max(settings.clusters, Math.ceil(settings.share * known - 1e-9)), settings.within);
  // What starts within the time of one that is in the storm, before or after it, is in it as well.
  const spread = (order: readonly number[]): void => {
    let last: EpochMs | null = null;
    for (const i of order) {
      const { at } = starts[i] as Start;
      if (last !== null && Math.abs(at - last) <= settings.within) isIn[i] = true;
      if (isIn[i]) last = at;
    }
  };
  const order = starts.map((_, i) => i);
  spread(order);
  spread(order.reverse());
  const groups: Start[][] = [];
  for (const start of starts.filter((_, i) => isIn[i])) {
    const last = groups.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before !== undefined && start.at - before.at <= settings.within) last.push(start);
    else groups.push([start]);
  }
  return groups.filter((group) => group.some(({ alert }) => alert !== null));
}

/** Marks the starts of every stretch of `within` that holds enough clusters. */
function markWindows(starts: readonly Start[], isIn: boolean[], enough: number, within: number): void {
  const inWindow = new Map<string, number>();
  let from = 0;
  let marked = 0;
  starts.forEach((start, to) => {
    inWindow.set(start.cluster, (inWindow.get(start.cluster) ?? 0) + 1);
    for (let first = starts[from] as Start; start.at - first.at > within; first = starts[from] as Start) {
      const left = (inWindow.get(first.cluster) ?? 0) - 1;
      if (left === 0) inWindow.delete(first.cluster);
      else inWindow.set(first.cluster, left);
      from += 1;
    }
    if (inWindow.size < enough) return;
    for (let i = Math.max(from, marked); i <= to; i += 1) isIn[i] = true;
    marked = to + 1;
  });
}

function stormOf(kind: string, group: readonly Start[], known: number, { within }: StormSettings): Storm {
  const clusters = new Set(group.map(({ cluster }) => cluster)).size;
  return {
    kind,
    firstAt: (group[0] as Start).at,
    starting: group.flatMap(({ alert }) => (alert === null ? [] : [alert])),
    holders: new Set(group.flatMap(({ holder }) => (holder === null ? [] : [holder]))),
    known,
    why: `${kind} started in ${clusters} of ${known} clusters within ${durationText(within)} of each other`,
    host: null,
    isSettled: false,
  };
}

/** Marks an incident as a storm of that kind too. */
export function markStorm(draft: IncidentDraft, { kind, known }: Pick<Storm, 'kind' | 'known'>): void {
  const before = draft.head.storm ?? null;
  const isNoted = before?.kinds.includes(kind) === true;
  if (isNoted && before.known >= known) return;
  const kinds = isNoted ? before.kinds : [...(before?.kinds ?? []), kind];
  draft.set({ storm: { kinds, known: Math.max(known, before?.known ?? 0) } });
}

/** Whether all of what fires in an incident, or was in it once nothing does, started then or later. */
export function beganSince(incident: Incident, at: number): boolean {
  const firing = firingAlerts(incident);
  const alerts = firing.length > 0 ? firing : incident.members.map(({ alert }) => alert);
  return alerts.every(({ since }) => since >= at);
}
