import type { Aggregate, CounterRing } from '../aggregate/cells.ts';
import type { FeatureName, GaugeName } from '../aggregate/features.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import { type Labels, labelsOf, NO_LABELS } from '../model/labels.ts';
import type { Slo } from '../slo/slo.ts';
import type { Binder, GaugeCell, SeriesBinding, SeriesDescription } from './binding.ts';
import { compileQuery, type QueryMatcher } from './match.ts';
import { type CanonicalSeries, textOf } from './profiles/profile.ts';
import { translate } from './profiles/registry.ts';

interface CompiledSlo {
  readonly slo: Slo;
  readonly part: QueryMatcher;
  readonly total: QueryMatcher;
  /** Seconds; latency indicators only. */
  readonly threshold: number | null;
}

/** What one description feeds, while it is being put together. */
interface Draft {
  readonly counters: { cell: CounterRing; weight: number }[];
  readonly atOrBelow: { cell: CounterRing; weight: number; threshold: number }[];
  readonly gauges: { cell: GaugeCell; weight: number }[];
}

/** Compiles the SLOs once; binding a series then finds every cell that it feeds. */
export function createBinder({ slos, aggregate }: { slos: readonly Slo[]; aggregate: Aggregate }): Binder {
  const compiled = slos.map(compileSlo);
  return {
    bind(description): SeriesBinding {
      const { understood, series } = translate(description);
      const { balancer } = description;
      const { book } = aggregate;
      Object.assign(book.record(balancer), factsOf(description, series, book.record(balancer)));
      book.bound(balancer, description.name, understood);
      const draft: Draft = { counters: [], atOrBelow: [], gauges: [] };
      for (const one of series) {
        for (const slo of compiled) bindSlo(draft, slo, one, description, aggregate);
        bindFeatures(draft, one, description, aggregate);
      }
      return { understood, ...draft, histograms: [] };
    },
  };
}

function compileSlo(slo: Slo): CompiledSlo {
  const { indicator } = slo;
  if (indicator.kind === 'events') {
    return { slo, part: compileQuery(indicator.part), total: compileQuery(indicator.total), threshold: null };
  }
  const query = compileQuery(indicator.query);
  return { slo, part: query, total: query, threshold: indicator.threshold };
}

function bindSlo(
  draft: Draft,
  compiled: CompiledSlo,
  series: CanonicalSeries,
  description: SeriesDescription,
  aggregate: Aggregate,
): void {
  const isPart = compiled.part(series.metric, series.attributes);
  const isTotal = compiled.total(series.metric, series.attributes);
  if (!isPart && !isTotal) return;
  // A latency SLO needs buckets; what is only counted cannot say how long it took.
  if (compiled.threshold !== null && series.takes !== 'buckets') return;
  for (const labels of groupsOf(compiled.slo, series.attributes)) {
    const group = aggregate.group(compiled.slo, labels);
    const record = aggregate.book.record(description.balancer);
    record.slos.add(compiled.slo.id);
    record.groups.add(group.key);
    if (isTotal) draft.counters.push({ cell: group.total, weight: series.weight });
    if (!isPart) continue;
    if (compiled.threshold === null) draft.counters.push({ cell: group.part, weight: series.weight });
    else {
      const threshold = compiled.threshold / series.toSeconds;
      draft.atOrBelow.push({ cell: group.part, weight: series.weight, threshold });
    }
  }
}

/** The group that a series belongs to, and the fleet-wide one where the SLO asks for both. */
function groupsOf(slo: Slo, attributes: Labels): readonly Labels[] {
  const own = labelsOf(slo.groupBy.map((name) => [name, attributes.get(name) ?? '']));
  return slo.rollup && slo.groupBy.length > 0 ? [own, NO_LABELS] : [own];
}

function bindFeatures(
  draft: Draft,
  series: CanonicalSeries,
  { balancer, name: source }: SeriesDescription,
  aggregate: Aggregate,
): void {
  const { metric, attributes, weight } = series;
  const cluster = attributes.get(ATTRIBUTE.cluster);
  if (cluster !== undefined) aggregate.book.record(balancer).clusters.add(cluster);
  const count = (name: FeatureName, labels: Iterable<readonly [string, string | undefined]>): void => {
    draft.counters.push({ cell: aggregate.feature(name, known(labels)), weight });
  };
  const gauge = (name: GaugeName, labels: Iterable<readonly [string, string | undefined]>): void => {
    draft.gauges.push({ cell: aggregate.gauge(name, known(labels)).from(source), weight });
  };
  switch (metric) {
    case 'lb.requests': {
      if (attributes.get(ATTRIBUTE.side) !== 'upstream' || cluster === undefined) return;
      const place = [
        ['cluster', cluster],
        ['zone', attributes.get(ATTRIBUTE.zone)],
      ] as const;
      const host = attributes.get(ATTRIBUTE.host);
      const failed = attributes.get(ATTRIBUTE.responseClass) === '5xx';
      count('cluster.requests', place);
      if (failed) count('cluster.errors', place);
      if (host !== undefined)
        count('host.requests', [
          ['cluster', cluster],
          ['host', host],
        ]);
      if (host !== undefined && failed)
        count('host.errors', [
          ['cluster', cluster],
          ['host', host],
        ]);
      return;
    }
    case 'lb.upstream.ejections': {
      const enforced = attributes.get(ATTRIBUTE.ejectionEnforced) !== 'false';
      count(enforced ? 'cluster.ejections' : 'cluster.ejections.refused', [
        ['cluster', cluster],
        ['balancer', balancer],
        ['reason', attributes.get(ATTRIBUTE.ejectionReason)],
        ['host', attributes.get(ATTRIBUTE.host)],
      ]);
      return;
    }
    case 'lb.tls.handshakes':
      count('tls.handshakes', [
        ['balancer', balancer],
        ['resumed', attributes.get(ATTRIBUTE.tlsResumed)],
      ]);
      return;
    case 'lb.upstream.hosts':
      gauge('cluster.hosts', [
        ['cluster', cluster],
        ['state', attributes.get(ATTRIBUTE.hostState)],
      ]);
      return;
    case 'lb.upstream.ejections.active':
      gauge('cluster.ejections.active', [['cluster', cluster]]);
      return;
  }
}

const known = (labels: Iterable<readonly [string, string | undefined]>): Labels =>
  labelsOf([...labels].filter((pair): pair is readonly [string, string] => pair[1] !== undefined));

function factsOf(
  { resource, name }: SeriesDescription,
  series: readonly CanonicalSeries[],
  before: { flavor: string },
) {
  const sdk = textOf(resource, 'telemetry.sdk.name');
  const flavor =
    textOf(resource, 'lb.flavor') ??
    series[0]?.attributes.get(ATTRIBUTE.flavor) ??
    (name.startsWith('traefik_') ? 'traefik' : undefined) ??
    (before.flavor === 'unknown' ? (sdk ?? 'unknown') : before.flavor);
  return {
    flavor,
    version:
      textOf(resource, 'lb.version') ??
      textOf(resource, 'service.version') ??
      textOf(resource, 'telemetry.sdk.version') ??
      null,
    zone: textOf(resource, 'cloud.availability_zone') ?? null,
    region: textOf(resource, 'cloud.region') ?? null,
  };
}
