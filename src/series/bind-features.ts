import type { CellSource } from '../aggregate/cells.ts';
import type { GaugeTarget } from '../aggregate/gauge-cells.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import { type Labels, labelsOf } from '../model/labels.ts';
import { bindEdge } from './bind-edge.ts';
import type { BindingDraft } from './binding-draft.ts';
import type { Origin } from './origin.ts';
import type { CanonicalSeries } from './profiles/profile.ts';

type Pairs = readonly (readonly [string, string | undefined])[];

/** Binds a canonical series to what detectors and the read side want of it, besides SLOs. */
export function bindFeatures(draft: BindingDraft, series: CanonicalSeries, origin: Origin, cells: CellSource): void {
  const cluster = series.attributes.get(ATTRIBUTE.cluster);
  if (cluster !== undefined) cells.balancer(origin.balancer).clusters.add(cluster);
  if (series.takes === 'average') return;
  bindEdge(draft, series, origin, cells);
  if (series.takes === 'buckets') {
    draft.observe(cells.histogram(series.metric, known([['cluster', cluster]])), series.toSeconds);
    return;
  }
  switch (series.metric) {
    case 'lb.requests':
      bindRequests(draft, series, cluster, cells);
      return;
    case 'lb.upstream.host.requests':
      bindHost(draft, series, cluster, cells);
      return;
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
      return;
    }
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
  ]);
  draft.count(cells.feature('host.requests', labels), weight);
  if (isError(attributes)) draft.count(cells.feature('host.errors', labels), weight);
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
  if (attributes.get(ATTRIBUTE.ejectionReason) === 'health_check') return;
  const why: Pairs = [
    ['reason', attributes.get(ATTRIBUTE.ejectionReason)],
    ['host', hostOf(attributes)],
  ];
  draft.count(cells.feature('cluster.ejections', known([...place, ...why])), weight);
}

const isError = (attributes: Labels): boolean => attributes.get(ATTRIBUTE.responseClass) === '5xx';

/** The backend's name, else its address as the conventions give it. */
function hostOf(attributes: Labels): string | undefined {
  const name = attributes.get(ATTRIBUTE.host);
  const address = attributes.get('network.peer.address');
  const port = attributes.get('network.peer.port');
  if (name !== undefined || address === undefined) return name;
  return port === undefined ? address : `${address}:${port}`;
}

const known = (pairs: Pairs): Labels =>
  labelsOf(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
