import type { CellSource } from '../aggregate/cells.ts';
import type { GaugeTarget } from '../aggregate/gauge-cells.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import type { Labels } from '../model/labels.ts';
import { bindEdge } from './bind-edge.ts';
import {
  bindCapacity,
  bindHealth,
  bindHostTimes,
  bindPool,
  bindResets,
  bindTakenOut,
  bindUtilization,
} from './bind-hosts.ts';
import type { BindingDraft } from './binding-draft.ts';
import { hostOf, known, type Pairs } from './host-of.ts';
import type { Origin } from './origin.ts';
import type { CanonicalSeries } from './profiles/profile.ts';

/** Binds a canonical series to what detectors and the read side want of it, besides SLOs. */
export function bindFeatures(draft: BindingDraft, series: CanonicalSeries, origin: Origin, cells: CellSource): void {
  const cluster = series.attributes.get(ATTRIBUTE.cluster);
  if (cluster !== undefined) cells.balancer(origin.balancer).clusters.add(cluster);
  if (series.takes === 'average') return;
  bindEdge(draft, series, origin, cells);
  if (series.takes === 'buckets') {
    draft.observe(cells.histogram(series.metric, known([['cluster', cluster]])), series.toSeconds);
    bindHostTimes(draft, series, origin, cells);
    return;
  }
  switch (series.metric) {
    case 'lb.requests':
      bindRequests(draft, series, cluster, cells);
      return;
    case 'lb.upstream.host.requests':
      bindHost(draft, series, cluster, cells);
      return;
    case 'lb.mirror.requests': {
      const outcome = series.attributes.get(ATTRIBUTE.mirrorOutcome);
      const copies = known([
        ['cluster', cluster],
        ['outcome', outcome],
      ]);
      draft.count(cells.feature('mirror.requests', copies), series.weight);
      return;
    }
    case 'lb.bytes.sent': {
      const listener = series.attributes.get(ATTRIBUTE.listener);
      const place = cluster === undefined ? (['listener', listener] as const) : (['cluster', cluster] as const);
      draft.count(cells.feature('service.bytes', known([place])), series.weight);
      return;
    }
    case 'lb.upstream.ejections':
      bindEjections(draft, series, cluster, origin, cells);
      return;
    case 'lb.upstream.hosts': {
      const labels = known([
        ['cluster', cluster],
        ['state', series.attributes.get(ATTRIBUTE.hostState)],
      ]);
      const cell = cells.gauge('cluster.hosts', labels, sourceIn(origin, series));
      draft.set(series.takes === 'complement' ? complementOf(cell) : cell, series.weight);
      bindPool(draft, series, sourceIn(origin, series), cells);
      return;
    }
    case 'lb.upstream.host.healthy':
      bindHealth(draft, series, origin.source(), cells);
      return;
    case 'lb.upstream.host.capacity':
      bindCapacity(draft, series, origin.source(), cells);
      return;
    case 'lb.upstream.host.utilization':
      bindUtilization(draft, series, cells);
      return;
    case 'lb.stream.resets':
      bindResets(draft, series, cells);
      return;
    case 'lb.upstream.panic.requests':
      if (cluster !== undefined) {
        draft.count(cells.feature('cluster.panic.requests', known([['cluster', cluster]])), series.weight);
      }
      return;
    case 'lb.retries':
      bindRetries(draft, series, cluster, cells);
      return;
    case 'lb.rejections': {
      const reason = series.attributes.get(ATTRIBUTE.rejectionReason);
      const labels = known([
        ['cluster', cluster],
        ['reason', reason],
      ]);
      draft.count(cells.feature('cluster.rejections', labels), series.weight);
      return;
    }
    case 'lb.upstream.hash.overflows':
      if (cluster !== undefined) {
        draft.count(cells.feature('cluster.hash.overflows', known([['cluster', cluster]])), series.weight);
      }
      return;
    case 'lb.upstream.hash.entries.max': {
      const labels = known([['cluster', cluster]]);
      draft.set(cells.gauge('cluster.hash.entries', labels, origin.source()), series.weight);
      return;
    }
    case 'lb.upstream.no_healthy.requests':
      if (cluster !== undefined) {
        draft.count(cells.feature('cluster.no_healthy.requests', known([['cluster', cluster]])), series.weight);
      }
      return;
    case 'lb.upstream.ejections.active': {
      const labels = known([['cluster', cluster]]);
      draft.set(cells.gauge('cluster.ejections.active', labels, origin.source()), series.weight);
      return;
    }
  }
}

/** Hosts whose names only the resource tells are told apart by them. */
function sourceIn(origin: Origin, { attributes }: CanonicalSeries): string {
  const host = attributes.get(ATTRIBUTE.host);
  return host === undefined ? origin.source() : `${origin.source()} ${host}`;
}

/** Gets one less the value: of a host that is up (1) or down (0), whether it is down. */
const complementOf = (cell: GaugeTarget): GaugeTarget => ({
  set: (at, balancer, value) => cell.set(at, balancer, 1 - value),
});

function bindRequests(
  draft: BindingDraft,
  series: CanonicalSeries,
  cluster: string | undefined,
  cells: CellSource,
): void {
  const { attributes, weight } = series;
  if (cluster === undefined || attributes.get(ATTRIBUTE.side) !== 'upstream') return;
  const labels = known([
    ['cluster', cluster],
    ['zone', attributes.get(ATTRIBUTE.zone)],
  ]);
  draft.count(cells.feature('cluster.requests', labels), weight);
  if (isError(attributes)) draft.count(cells.feature('cluster.errors', labels), weight);
  bindHost(draft, series, cluster, cells);
}

function bindHost(draft: BindingDraft, series: CanonicalSeries, cluster: string | undefined, cells: CellSource): void {
  const { attributes, weight } = series;
  const host = hostOf(attributes);
  if (cluster === undefined || host === undefined) return;
  const labels = known([
    ['cluster', cluster],
    ['host', host],
    ['zone', attributes.get(ATTRIBUTE.zone)],
  ]);
  draft.count(cells.feature('host.requests', labels), weight);
  if (isError(attributes)) draft.count(cells.feature('host.errors', labels), weight);
}

/** Of those that succeeded or ran out of tries each is an attempt already. */
function bindRetries(
  draft: BindingDraft,
  { attributes, weight }: CanonicalSeries,
  cluster: string | undefined,
  cells: CellSource,
): void {
  const outcome = attributes.get(ATTRIBUTE.retryOutcome) ?? 'attempt';
  if (cluster === undefined || (outcome !== 'attempt' && outcome !== 'overflow')) return;
  const labels = known([
    ['cluster', cluster],
    ['layer', attributes.get(ATTRIBUTE.layer)],
  ]);
  draft.count(cells.feature(outcome === 'attempt' ? 'cluster.retries' : 'cluster.retries.overflow', labels), weight);
}

function bindEjections(
  draft: BindingDraft,
  { attributes, weight }: CanonicalSeries,
  cluster: string | undefined,
  { balancer }: Origin,
  cells: CellSource,
): void {
  const place: Pairs = [
    ['cluster', cluster],
    ['balancer', balancer],
  ];
  if (attributes.get(ATTRIBUTE.ejectionEnforced) === 'false') {
    draft.count(cells.feature('cluster.ejections.refused', known(place)), weight);
    return;
  }
  // Hosts that active checks take out come and go with every deploy; they are no outliers.
  if (attributes.get(ATTRIBUTE.ejectionReason) === 'health_check') {
    bindTakenOut(draft, known([...place, ['host', hostOf(attributes)]]), weight, cells);
    return;
  }
  const why: Pairs = [
    ['reason', attributes.get(ATTRIBUTE.ejectionReason)],
    ['host', hostOf(attributes)],
  ];
  draft.count(cells.feature('cluster.ejections', known([...place, ...why])), weight);
}

const isError = (attributes: Labels): boolean => attributes.get(ATTRIBUTE.responseClass) === '5xx';
