import type { CellSource } from '../aggregate/cells.ts';
import { ATTRIBUTE, canonicalMetric } from '../model/conventions.ts';
import { FLEET_TOTALS } from '../model/fleet-totals.ts';
import type { Labels } from '../model/labels.ts';
import type { BindingDraft } from './binding-draft.ts';
import { hostOf, known, type Pairs } from './host-of.ts';
import type { Origin } from './origin.ts';
import type { CanonicalSeries } from './profiles/profile.ts';

/** Binds a canonical series to the totals that /metrics shows. */
export function bindTotals(draft: BindingDraft, series: CanonicalSeries, origin: Origin, cells: CellSource): void {
  if (series.takes === 'average') return;
  const side = series.attributes.get(ATTRIBUTE.side);
  if (series.metric === 'lb.requests') {
    bindRequests(draft, series, origin, cells);
    return;
  }
  const total = FLEET_TOTALS.get(series.metric);
  if (total === undefined || (total.ofClients === true && side === 'upstream')) return;
  const labels = pick(series.attributes, origin, total.labels);
  if (canonicalMetric(series.metric)?.type !== 'histogram') {
    draft.count(cells.total(series.metric, labels), series.weight);
  } else if (series.takes === 'buckets') {
    draft.observe(cells.totalHistogram(series.metric, labels), series.toSeconds);
  }
}

/** By balancer what clients ask, by cluster and zone what hosts are asked; and each host's under a name of its own. */
function bindRequests(draft: BindingDraft, series: CanonicalSeries, origin: Origin, cells: CellSource): void {
  const { attributes, weight } = series;
  const side = attributes.get(ATTRIBUTE.side);
  const { responseClass, cluster, zone } = ATTRIBUTE;
  if (side === 'downstream') {
    const names = [ATTRIBUTE.side, ATTRIBUTE.instance, ATTRIBUTE.balancerZone];
    countByClass(draft, 'lb.requests', pick(attributes, origin, names), attributes.get(responseClass), weight, cells);
    return;
  }
  if (side !== 'upstream') return;
  const labels = pick(attributes, origin, [ATTRIBUTE.side, cluster, zone]);
  countByClass(draft, 'lb.requests', labels, attributes.get(responseClass), weight, cells);
  if (hostOf(attributes) === undefined) return;
  const ofHost = pick(attributes, origin, [cluster, zone, ATTRIBUTE.host]);
  countByClass(draft, 'lb.upstream.host.requests', ofHost, attributes.get(responseClass), weight, cells);
}

/** The errors of whatever is counted are there from the start: the first of them is an increase, not a new series. */
function countByClass(
  draft: BindingDraft,
  metric: string,
  labels: Labels,
  responseClass: string | undefined,
  weight: number,
  cells: CellSource,
): void {
  const of = (value: string | undefined): Labels => known([...labels, [ATTRIBUTE.responseClass, value]]);
  if (responseClass !== undefined) cells.total(metric, of('5xx'));
  draft.count(cells.total(metric, of(responseClass)), weight);
}

function pick(attributes: Labels, { balancer }: Origin, names: readonly string[]): Labels {
  const pairs: Pairs = names.map((name) => [
    name,
    name === ATTRIBUTE.instance ? balancer : name === ATTRIBUTE.host ? hostOf(attributes) : attributes.get(name),
  ]);
  return known(pairs);
}
