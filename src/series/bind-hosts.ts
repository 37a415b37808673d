import type { CellSource } from '../aggregate/cells.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import type { Labels } from '../model/labels.ts';
import type { GaugeCell } from './binding.ts';
import type { BindingDraft } from './binding-draft.ts';
import { hostOf, known } from './host-of.ts';
import type { CanonicalSeries } from './profiles/profile.ts';

/** One request to a host, whichever of the two metrics tells its time. */
const HOST_TIMES: ReadonlySet<string> = new Set(['http.client.request.duration', 'lb.stage.backend.duration']);
const MICROSECONDS = 1e6;
const THOUSANDTHS = 1e3;

/** Hosts in these states are out on purpose: they are not missed. */
const OUT_ON_PURPOSE: ReadonlySet<string> = new Set(['excluded', 'draining']);
/** Hosts in these states take requests. */
const USABLE: ReadonlySet<string> = new Set(['healthy', 'degraded']);

/** Count and total time of a host's requests. Exponential histograms give no increments of their sum. */
export function bindHostTimes(
  draft: BindingDraft,
  { metric, attributes, toSeconds }: CanonicalSeries,
  { kind }: { readonly kind: string },
  cells: CellSource,
): void {
  if (kind !== 'histogram' || !HOST_TIMES.has(metric)) return;
  const labels = hostLabels(attributes);
  if (labels === null) return;
  draft.count(cells.feature('host.timed', labels), 1);
  draft.countSum(cells.feature('host.duration', labels), toSeconds * MICROSECONDS);
}

/** Readings of a pool, added up; and where each host is told by itself, its changes. */
export function bindPool(draft: BindingDraft, series: CanonicalSeries, source: string, cells: CellSource): void {
  const { attributes, takes, weight } = series;
  const cluster = attributes.get(ATTRIBUTE.cluster);
  const state = attributes.get(ATTRIBUTE.hostState) ?? 'healthy';
  if (cluster === undefined) return;
  const labels = known([['cluster', cluster]]);
  const isComplement = takes === 'complement';
  if (USABLE.has(state)) draft.set(addingTo(cells, 'cluster.hosts.healthy', labels, isComplement), weight);
  if (!OUT_ON_PURPOSE.has(state)) draft.set(addingTo(cells, 'cluster.hosts.due', labels, isComplement), weight);
  if (state !== 'healthy' || isComplement) return;
  const readings = cells.feature('cluster.hosts.readings', labels);
  draft.set({ set: (at) => readings.add(at, at, 1) }, 1);
  bindHealth(draft, series, source, cells);
}

/** Requests that were cut on the way to a cluster's hosts. */
export function bindResets(draft: BindingDraft, { attributes, weight }: CanonicalSeries, cells: CellSource): void {
  const cluster = attributes.get(ATTRIBUTE.cluster);
  if (cluster === undefined || attributes.get(ATTRIBUTE.side) === 'downstream') return;
  draft.count(cells.feature('cluster.resets', known([['cluster', cluster]])), weight);
  const labels = hostLabels(attributes);
  if (labels !== null) draft.count(cells.feature('host.resets', labels), weight);
}

/** The state of one host, and how often it changes. */
export function bindHealth(
  draft: BindingDraft,
  { attributes }: CanonicalSeries,
  source: string,
  cells: CellSource,
): void {
  const labels = hostLabels(attributes);
  const balancer = attributes.get(ATTRIBUTE.instance);
  if (labels === null || balancer === undefined) return;
  const state = cells.gauge('host.healthy', labels, source);
  const changes = cells.feature('host.health.changes', known([...labels, ['balancer', balancer]]));
  const seen = cells.feature('host.seen', labels);
  const cell: GaugeCell = {
    set(at, from, value) {
      if (value > 0) seen.add(at, at, 0);
      const before = state.set(at, from, value);
      if (before !== null && before !== value) changes.add(at, at, 1);
    },
  };
  draft.set(cell, 1);
}

/** A host that checks have taken out comes back: two changes. */
export function bindTakenOut(draft: BindingDraft, labels: Labels, weight: number, cells: CellSource): void {
  if (labels.has('cluster') && labels.has('host')) {
    draft.count(cells.feature('host.health.changes', labels), 2 * weight);
  }
}

/** What an operator or telemetry says that a host can carry. */
export function bindCapacity(
  draft: BindingDraft,
  { attributes, weight }: CanonicalSeries,
  source: string,
  cells: CellSource,
): void {
  const labels = hostLabels(attributes);
  if (labels === null) return;
  const zone = attributes.get(ATTRIBUTE.zone);
  draft.set(cells.gauge('host.capacity', known([...labels, ['zone', zone]]), source), weight);
}

/** Utilization of hosts by zone, as a sum of readings. */
export function bindUtilization(draft: BindingDraft, { attributes, weight }: CanonicalSeries, cells: CellSource): void {
  const labels = known([
    ['cluster', attributes.get(ATTRIBUTE.cluster)],
    ['zone', attributes.get(ATTRIBUTE.zone)],
  ]);
  if (labels.size < 2) return;
  const total = cells.feature('zone.utilization', labels);
  const readings = cells.feature('zone.utilization.readings', labels);
  const cell: GaugeCell = {
    set(at, _balancer, value) {
      if (!Number.isFinite(value) || value < 0) return;
      total.add(at, at, Math.round(THOUSANDTHS * value));
      readings.add(at, at, 1);
    },
  };
  draft.set(cell, weight);
}

/** Adds each value to a counter. Values are of whole hosts. */
function addingTo(
  cells: CellSource,
  name: 'cluster.hosts.healthy' | 'cluster.hosts.due',
  labels: Labels,
  isComplement: boolean,
): GaugeCell {
  const counter = cells.feature(name, labels);
  return { set: (at, _balancer, value) => counter.add(at, at, Math.round(isComplement ? 1 - value : value)) };
}

/** Null where the series names no cluster or no host. */
function hostLabels(attributes: Labels): Labels | null {
  const labels = known([
    ['cluster', attributes.get(ATTRIBUTE.cluster)],
    ['host', hostOf(attributes)],
  ]);
  return labels.size === 2 ? labels : null;
}
