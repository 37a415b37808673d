import type { FeatureName, FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs, HOUR } from '../base/units.ts';
import { byBalancer } from '../detect/by-balancer.ts';
import { byCluster, counterOf } from '../detect/clusters.ts';
import { capacitiesOf, hostsByCluster } from '../detect/hosts.ts';
import { sumWhere } from '../detect/sums.ts';
import { requestsByZone, usedByZone, utilizations, type ZoneLoad } from '../detect/zone-loads.ts';
import { labelsKey, labelsOf, NO_LABELS } from '../model/labels.ts';
import type { HourlyFigures } from '../model/measure.ts';
import { hourlyTallies } from './tallies.ts';

/** Events that a ratio, or each part of a comparison in the mean, must rest on (design section 9). */
const EVENTS_MIN = 100;

type Figures = { -readonly [K in keyof HourlyFigures['figures']]: HourlyFigures['figures'][K] };
type Notes = Record<string, number | string>;

/** What is kept of the hour that ends at `hour`: one row per subject that has something to tell, in a fixed order. */
export function hourlyFigures(view: FeatureView, hour: EpochMs): readonly HourlyFigures[] {
  const from = epochMs(hour - HOUR);
  const rows = [...ofFleet(view, from, hour), ...ofClusters(view, from, hour), ...ofBalancers(view, from, hour)];
  const places = new Map(rows.map(({ subject }, index) => [labelsKey(subject), index]));
  for (const { subject, ...told } of hourlyTallies(view, from, hour)) {
    const place = places.get(labelsKey(subject)) ?? rows.length;
    rows[place] = { ...(rows[place] ?? { hour, subject, figures: {}, notes: {} }), ...told };
  }
  return rows;
}

function row(
  hour: EpochMs,
  subject: readonly (readonly [string, string])[],
  figures: Figures,
  notes: Notes = {},
): readonly HourlyFigures[] {
  if (Object.keys(figures).length === 0) return [];
  return [{ hour, subject: subject.length === 0 ? NO_LABELS : labelsOf(subject), figures, notes }];
}

function ofFleet(view: FeatureView, from: EpochMs, to: EpochMs): readonly HourlyFigures[] {
  const figures: Figures = {};
  const all = sumWhere(view, 'tls.handshakes', () => true).range(from, to);
  const resumed = sumWhere(view, 'tls.handshakes', (labels) => labels.get('resumed') === 'true').range(from, to);
  if (all >= EVENTS_MIN) figures.resumption = resumed / all;
  const crossing = crossingShare(view, from, to);
  if (crossing !== null) figures.cross_zone = crossing;
  return row(to, [], figures);
}

/**
 * The least share of requests that crossed zones: what the hosts of a zone took beyond what entered there must have
 * come from another. Null where zones are not told on both sides.
 */
function crossingShare(view: FeatureView, from: EpochMs, to: EpochMs): number | null {
  const entering = byZone(view.features('zone.requests'), from, to);
  const taking = byZone(view.features('host.requests'), from, to);
  const [came, went] = [totalOf(entering), totalOf(taking)];
  if (entering.size < 2 || taking.size < 2 || came < EVENTS_MIN || went < EVENTS_MIN) return null;
  if (![...taking.keys()].every((zone) => entering.has(zone))) return null;
  let crossing = 0;
  for (const [zone, count] of taking) crossing += Math.max(0, count / went - (entering.get(zone) ?? 0) / came);
  return crossing;
}

function byZone(series: Iterable<FeatureSeries>, from: EpochMs, to: EpochMs): ReadonlyMap<string, number> {
  const zones = new Map<string, number>();
  for (const one of series) {
    const zone = one.labels.get('zone');
    const count = zone === undefined ? 0 : one.range(from, to);
    if (zone !== undefined && count > 0) zones.set(zone, (zones.get(zone) ?? 0) + count);
  }
  return zones;
}

const totalOf = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

function* ofClusters(view: FeatureView, from: EpochMs, to: EpochMs): Generator<HourlyFigures> {
  const requests = byCluster(view, 'cluster.requests');
  const ejections = byCluster(view, 'cluster.ejections');
  const retries = byCluster(view, 'cluster.retries');
  const churn = healthChurn(view, from, to);
  const used = utilizations(view);
  const capacities = capacitiesOf(view, to);
  const hosts = hostsByCluster(view);
  for (const cluster of [...new Set([...requests.keys(), ...hosts.keys()])].sort()) {
    const counters = hosts.get(cluster) ?? [];
    const count = counterOf(requests, cluster).range(from, to);
    if (count <= 0) continue;
    const weights = capacities.get(cluster);
    const loads = counters.flatMap(({ host, requests: counted }) => {
      const capacity = weights === undefined ? 1 : (weights.get(host) ?? 0);
      return capacity === 0 ? [] : [{ host, load: counted(from, to), capacity }];
    });
    const figures: Figures = {};
    // A counter that no balancer has is not 0.
    if (ejections.size > 0) figures.ejections = counterOf(ejections, cluster).range(from, to);
    if (churn !== null) figures.health_changes = churn.get(cluster) ?? 0;
    if (retries.size > 0 && count >= EVENTS_MIN) figures.retries = counterOf(retries, cluster).range(from, to) / count;
    const top = hottest(loads.filter(({ load }) => load > 0));
    if (top !== null) figures.host_skew = top.factor;
    yield* row(to, [['cluster', cluster]], figures, top === null ? {} : { top_host: top.one.host });
    const zones = used.get(cluster);
    const isByUse = zones !== undefined && zones.size > 1;
    const zoneLoads = isByUse ? usedByZone(zones, from, to) : requestsByZone(counters, weights, from, to);
    yield* ofZones(to, cluster, zoneLoads, isByUse);
  }
}

/** Load per capacity beside that of all: by utilization where that is known, else by requests. */
function* ofZones(
  hour: EpochMs,
  cluster: string,
  zones: readonly ZoneLoad[],
  isByUse: boolean,
): Generator<HourlyFigures> {
  const load = zones.reduce((sum, one) => sum + one.load, 0);
  const capacity = zones.reduce((sum, one) => sum + one.capacity, 0);
  if (zones.length < 2 || load <= 0 || (!isByUse && load < EVENTS_MIN * zones.length)) return;
  for (const one of [...zones].sort((a, b) => (a.zone < b.zone ? -1 : 1))) {
    const subject = [
      ['cluster', cluster],
      ['zone', one.zone],
    ] as const;
    const skew = (one.load * capacity) / (one.capacity * load);
    yield* row(hour, subject, { zone_skew: skew }, isByUse ? { utilization: one.load / one.capacity } : {});
  }
}

/** Changes of health per cluster, as the balancer that saw most of them counts; null where none tells any. */
function healthChurn(view: FeatureView, from: EpochMs, to: EpochMs): ReadonlyMap<string, number> | null {
  const seen = new Map<string, Map<string, number>>();
  let isTold = false;
  for (const series of view.features('host.health.changes')) {
    isTold = true;
    const cluster = series.labels.get('cluster') ?? '';
    const count = series.range(from, to);
    if (count === 0) continue;
    const balancers = seen.get(cluster) ?? new Map<string, number>();
    seen.set(cluster, balancers);
    const balancer = series.labels.get('balancer') ?? '';
    balancers.set(balancer, (balancers.get(balancer) ?? 0) + count);
  }
  return isTold ? new Map([...seen].map(([cluster, balancers]) => [cluster, Math.max(...balancers.values())])) : null;
}

interface Loaded {
  readonly load: number;
  readonly capacity: number;
}

/** The one with most load per capacity, and how many times the mean; null where that rests on too little. */
function hottest<T extends Loaded>(all: readonly T[]): { readonly one: T; readonly factor: number } | null {
  const load = all.reduce((sum, one) => sum + one.load, 0);
  const capacity = all.reduce((sum, one) => sum + one.capacity, 0);
  if (all.length < 2 || load < EVENTS_MIN * all.length) return null;
  const one = all.reduce((most, next) => (next.load / next.capacity > most.load / most.capacity ? next : most));
  return { one, factor: (one.load * capacity) / (one.capacity * load) };
}

/** Beside the others of its service, flavour and region. */
function* ofBalancers(view: FeatureView, from: EpochMs, to: EpochMs): Generator<HourlyFigures> {
  const counts = (name: FeatureName): ReadonlyMap<string, number> =>
    new Map(
      [...byBalancer(view.features(name))].map(([id, series]) => [
        id,
        series.reduce((sum, one) => sum + one.range(from, to), 0),
      ]),
    );
  const connections = counts('balancer.connections');
  const handshakes = counts('tls.handshakes');
  const balancers = [...view.balancers(to)].sort((a, b) => (a.id < b.id ? -1 : 1));
  const groupOf = ({ service, flavor, region }: (typeof balancers)[number]): string =>
    JSON.stringify([service, flavor, region]);
  const meansOf = (all: ReadonlyMap<string, number>): ReadonlyMap<string, number> => {
    const groups = new Map<string, { total: number; members: number }>();
    for (const balancer of balancers) {
      const own = all.get(balancer.id) ?? 0;
      if (own === 0) continue;
      const { total, members } = groups.get(groupOf(balancer)) ?? { total: 0, members: 0 };
      groups.set(groupOf(balancer), { total: total + own, members: members + 1 });
    }
    const told = [...groups].filter(([, { total, members }]) => members > 1 && total >= EVENTS_MIN * members);
    return new Map(told.map(([group, { total, members }]) => [group, total / members]));
  };
  const [meanOpened, meanShaken] = [meansOf(connections), meansOf(handshakes)];
  for (const balancer of balancers) {
    const figures: Figures = {};
    const skewOf = (all: ReadonlyMap<string, number>, means: ReadonlyMap<string, number>): number | null => {
      const [own, mean] = [all.get(balancer.id) ?? 0, means.get(groupOf(balancer))];
      return own === 0 || mean === undefined ? null : own / mean;
    };
    const [opened, shaken] = [skewOf(connections, meanOpened), skewOf(handshakes, meanShaken)];
    if (opened !== null) figures.connection_skew = opened;
    if (shaken !== null) figures.handshake_skew = shaken;
    yield* row(to, [['balancer', balancer.id]], figures);
  }
}
