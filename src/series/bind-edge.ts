import type { CellSource } from '../aggregate/cells.ts';
import { BALANCER_HISTOGRAM, BALANCER_STAGE_PREFIX, type FeatureName } from '../aggregate/features.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import { type Labels, labelsOf } from '../model/labels.ts';
import type { GaugeCell } from './binding.ts';
import type { BindingDraft } from './binding-draft.ts';
import { hostOf, known, type Pairs } from './host-of.ts';
import type { Origin } from './origin.ts';
import type { CanonicalSeries } from './profiles/profile.ts';

/** Binds what detectors ask of single balancers: what clients do to them, what they run on, what they serve. */
export function bindEdge(draft: BindingDraft, series: CanonicalSeries, origin: Origin, cells: CellSource): void {
  const { attributes, weight } = series;
  const { balancer } = origin;
  const zone: Pairs = [
    ['zone', attributes.get(ATTRIBUTE.balancerZone)],
    ['region', attributes.get(ATTRIBUTE.region)],
  ];
  const isClients = attributes.get(ATTRIBUTE.side) !== 'upstream';
  const count = (name: FeatureName, labels: Labels = of(balancer)): void =>
    draft.count(cells.feature(name, labels), weight);
  const listener = known([
    ['balancer', balancer],
    ['listener', attributes.get(ATTRIBUTE.listener)],
  ]);
  switch (series.metric) {
    case 'lb.requests':
      if (attributes.get(ATTRIBUTE.side) !== 'downstream') return;
      count('balancer.requests');
      count('zone.requests', known(zone));
      if (attributes.get(ATTRIBUTE.responseClass) === '5xx') count('balancer.errors');
      return;
    case 'lb.connections.opened':
      if (!isClients) return;
      count('balancer.connections', listener);
      count('zone.connections', known(zone));
      return;
    case 'lb.connections.active':
      if (!isClients) return;
      draft.set(levelOf(cells, listener), weight);
      draft.set(cells.peak('connections.active', listener), weight);
      return;
    case 'lb.stream.resets':
      if (isClients) count('balancer.resets');
      return;
    case 'lb.l4.flow_table.misses':
      count('l4.misses');
      return;
    case 'lb.l4.nodes':
      draft.set(cells.peak('l4.nodes', of(balancer)), weight);
      return;
    case 'lb.tls.handshakes':
      if (isClients) bindHandshakes(draft, series, listener, zone, cells);
      return;
    case 'lb.added.duration':
      draft.observe(cells.histogram(BALANCER_HISTOGRAM.added, of(balancer)), series.toSeconds);
      return;
    case 'lb.endpoints.propagation.duration':
      draft.observe(cells.histogram(BALANCER_HISTOGRAM.endpoints, of(balancer)), series.toSeconds);
      return;
    case 'lb.stage.accept_queue.duration':
      draft.observe(cells.histogram(BALANCER_HISTOGRAM.acceptQueue, of(balancer)), series.toSeconds);
      return;
    case 'lb.stage.tls.duration':
    case 'lb.stage.connect.duration':
    case 'lb.stage.backend.duration':
    case 'lb.stage.write.duration': {
      const stage = series.metric.slice('lb.stage.'.length, -'.duration'.length);
      draft.observe(cells.histogram(`${BALANCER_STAGE_PREFIX}${stage}`, of(balancer)), series.toSeconds);
      return;
    }
    case 'lb.accept_queue.overflows':
      count('accept_queue.overflows');
      return;
    case 'lb.accept_queue.length':
      draft.set(cells.peak('accept_queue.length', listener), weight);
      return;
    case 'lb.accept_queue.limit':
      draft.set(cells.gauge('accept_queue.limit', listener, origin.source()), weight);
      return;
    case 'lb.cpu.utilization':
      draft.set(sampled(cells, balancer), weight);
      return;
    case 'lb.cpu.time':
      count(
        'balancer.cpu.time',
        known([
          ['balancer', balancer],
          ['state', attributes.get(ATTRIBUTE.cpuState)],
        ]),
      );
      return;
    case 'lb.host.tcp.retransmits':
      count('zone.retransmits', known(zone));
      return;
    default:
      bindStreams(draft, series, origin, cells);
      bindPossessions(draft, series, origin, cells);
  }
}

/** Connections to hosts that carry many requests at a time. */
function bindStreams(draft: BindingDraft, series: CanonicalSeries, origin: Origin, cells: CellSource): void {
  const { metric, attributes, weight } = series;
  const cluster = attributes.get(ATTRIBUTE.cluster);
  if (cluster === undefined) return;
  const where: Pairs = [
    ['balancer', origin.balancer],
    ['cluster', cluster],
    ['host', hostOf(attributes)],
  ];
  const connection = attributes.get(ATTRIBUTE.connection);
  const labels = (): Labels => known([...where, ['connection', connection]]);
  switch (metric) {
    case 'lb.upstream.streams.active':
      draft.set(cells.peak('streams.active', labels()), weight);
      return;
    case 'lb.upstream.streams.stalled':
      draft.set(cells.peak('streams.stalled', labels()), weight);
      return;
    case 'lb.upstream.streams.limit':
      draft.set(cells.gauge('streams.limit', labels(), origin.source()), weight);
      return;
    case 'lb.upstream.streams.rejected':
      draft.count(cells.feature('streams.rejected', known(where)), weight);
      return;
    case 'lb.upstream.stream.duration':
      if (connection === undefined) return;
      draft.observe(cells.histogram(BALANCER_HISTOGRAM.streams, labels()), series.toSeconds);
      return;
  }
}

/** Config versions and certificates: what is there, not how much. */
function bindPossessions(draft: BindingDraft, series: CanonicalSeries, origin: Origin, cells: CellSource): void {
  const { metric, attributes, weight } = series;
  const certificate = attributes.get(ATTRIBUTE.certificate) ?? attributes.get('server.address') ?? '';
  switch (metric) {
    case 'lb.config.info': {
      const version = attributes.get(ATTRIBUTE.configVersion);
      if (version === undefined || version === '') return;
      draft.set(cells.config(attributes.get(ATTRIBUTE.configKind) ?? '', version), weight);
      return;
    }
    case 'lb.config.rejected':
      draft.count(
        cells.feature(
          'config.rejected',
          known([
            ['balancer', origin.balancer],
            ['kind', attributes.get(ATTRIBUTE.configKind)],
          ]),
        ),
        weight,
      );
      return;
    case 'lb.config.stage':
      draft.set(cells.gauge('config.stage', of(origin.balancer), origin.source()), weight);
      return;
    case 'lb.tls.certificate.not_after':
      // Towards hosts it is a workload's, of hours, and the mesh's own matter.
      if (attributes.get(ATTRIBUTE.side) === 'upstream') return;
      draft.set(cells.certificate(certificate, origin.source()), weight);
      return;
    case 'lb.tls.certificate.renewals':
      if (attributes.get(ATTRIBUTE.renewalOutcome) === 'failure' || attributes.has(ATTRIBUTE.errorType)) return;
      draft.count(cells.renewals(certificate), weight);
      return;
  }
}

/** Failed handshakes have no resumption to speak of. */
function bindHandshakes(
  draft: BindingDraft,
  { attributes, weight }: CanonicalSeries,
  where: Labels,
  zone: Pairs,
  cells: CellSource,
): void {
  if (attributes.has(ATTRIBUTE.errorType)) {
    draft.count(cells.feature('tls.handshakes.failed', where), weight);
    return;
  }
  const how: Pairs = [
    ['resumed', attributes.get(ATTRIBUTE.tlsResumed)],
    ['keyType', attributes.get(ATTRIBUTE.tlsKeyType)],
  ];
  draft.count(cells.feature('tls.handshakes', known([...where, ...how])), weight);
  draft.count(cells.feature('zone.handshakes', known([...zone, ...how])), weight);
}

/** Levels counted as samples, so that a mean over any window comes from sums. Utilisation is kept in thousandths. */
function sampled(cells: CellSource, balancer: string): GaugeCell {
  const samples = cells.feature('balancer.cpu.samples', of(balancer));
  const permille = cells.feature('balancer.cpu.permille', of(balancer));
  return {
    set(at, _balancer, value) {
      if (!(value >= 0)) return;
      samples.add(at, at, 1);
      permille.add(at, at, Math.round(value * 1000));
    },
  };
}

/** Readings of open connections. */
function levelOf(cells: CellSource, labels: Labels): GaugeCell {
  const readings = cells.feature('connections.open.readings', labels);
  const total = cells.feature('connections.open', labels);
  return {
    set(at, _balancer, value) {
      if (!(value >= 0)) return;
      readings.add(at, at, 1);
      total.add(at, at, Math.round(value));
    },
  };
}

const of = (balancer: string): Labels => labelsOf([['balancer', balancer]]);
