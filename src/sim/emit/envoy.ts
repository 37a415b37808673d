import { at } from '../columns.ts';
import type { Fleet } from '../fleet.ts';
import { BOUNDS_S, BUCKETS } from '../histogram-columns.ts';
import {
  CLASS,
  CLASSES,
  EJECTION_KINDS,
  HANDSHAKE,
  HANDSHAKE_KINDS,
  RESPONSE_CLASSES,
  RETRY_OUTCOMES,
} from '../measures.ts';
import { beyond, foldHosts, hashEntries, isHashing, membershipOf, put, Scratch } from './scratch.ts';
import type { Attributes, BalancerSeries, Cell, EmittedSeries } from './series.ts';

/** Bounds as set by `stats_config.histogram_bucket_settings`, ms. */
const BOUNDS_MS: readonly number[] = BOUNDS_S.map((bound) => Number((bound * 1000).toPrecision(6)));
const MS_PER_S = 1000;
const LISTENER_ADDRESS = '0.0.0.0_443';
/** Of the listeners of single services. */
const FIRST_PORT = 8443;
const PREFIX = 'edge';
const HOST_PORT = 8080;

const HASH_STATS = {
  ring: 'cluster.ring_hash_lb.max_hashes_per_host',
  maglev: 'cluster.maglev_lb.max_entries_per_host',
} as const;

const RETRY_STATS: Readonly<Record<string, string>> = {
  attempt: 'cluster.upstream_rq_retry',
  success: 'cluster.upstream_rq_retry_success',
  overflow: 'cluster.upstream_rq_retry_overflow',
};

/**
 * What an Envoy with the documented bootstrap sends of the same balancer. It knows no accept queue, no time of
 * handshakes or writes, no time of single hosts, no zone of hosts, no CPU and no name of its configuration.
 */
export function envoySeries(fleet: Fleet, balancer: number, epochMs: number): BalancerSeries {
  const spec = fleet.spec.balancers[balancer];
  const zone = fleet.spec.zones[spec?.zone ?? 0];
  const own = new Own(fleet, balancer, epochMs);
  return {
    resource: {
      'service.instance.id': spec?.name ?? '',
      'cloud.availability_zone': zone?.name ?? '',
      'cloud.region': zone?.region ?? '',
      'telemetry.sdk.language': 'cpp',
      'telemetry.sdk.name': 'envoy',
      'telemetry.sdk.version': '1a2b3c/1.37.2/Clean/RELEASE/BoringSSL',
    },
    scope: { name: '', version: '' },
    get series() {
      return [...own.edge(), ...fleet.spec.clusters.flatMap((_, cluster) => own.cluster(cluster))];
    },
    refresh: () => own.refresh(),
    shape: () => 0,
  };
}

/** What Envoy counts that the fleet does not, by cluster. */
interface ClusterCells {
  readonly classes: Cell;
  readonly time: Cell;
  readonly timeSum: Cell;
  readonly connect: Cell;
  readonly connectSum: Cell;
  readonly healthy: Cell;
  readonly total: Cell;
  readonly ejected: Cell;
  readonly hashEntries: Cell;
  readonly resets: Cell;
  readonly streams: Cell;
  /** Handshakes of its listener, where it has one of its own; Envoy counts resumed ones here too. */
  readonly done: Cell;
  readonly connections: Cell;
  /** Enforced in all, by reason, and refused. */
  readonly enforced: Cell;
  readonly byKind: Cell;
}

const PER_CLUSTER = CLASSES + 2 * (BUCKETS + 1) + 9 + EJECTION_KINDS.length;
const PER_HOST = 2;
const PER_BALANCER = CLASSES + BUCKETS + 1 + 3;

class Own {
  readonly #fleet: Fleet;
  readonly #balancer: number;
  readonly #epochMs: number;
  readonly #clusters: readonly ClusterCells[];
  /** Answers by class, and their time, of all clusters together: the connection manager knows no cluster. */
  readonly #classes: Cell;
  readonly #time: Cell;
  readonly #timeSum: Cell;
  readonly #handshakes: Cell;
  readonly #connections: Cell;
  readonly #notAfter: Cell;
  /** Successes, then errors, by host. */
  readonly #hosts: Cell;

  constructor(fleet: Fleet, balancer: number, epochMs: number) {
    this.#fleet = fleet;
    this.#balancer = balancer;
    this.#epochMs = epochMs;
    const scratch = new Scratch(PER_BALANCER + PER_HOST * fleet.hostCount + PER_CLUSTER * fleet.clusterCount);
    this.#classes = scratch.take(CLASSES);
    this.#time = scratch.take(BUCKETS);
    this.#timeSum = scratch.take();
    this.#handshakes = scratch.take();
    this.#connections = scratch.take();
    this.#notAfter = scratch.take();
    this.#hosts = scratch.take(PER_HOST * fleet.hostCount);
    this.#clusters = fleet.spec.clusters.map(() => ({
      classes: scratch.take(CLASSES),
      time: scratch.take(BUCKETS),
      timeSum: scratch.take(),
      connect: scratch.take(BUCKETS),
      connectSum: scratch.take(),
      healthy: scratch.take(),
      total: scratch.take(),
      ejected: scratch.take(),
      hashEntries: scratch.take(),
      resets: scratch.take(),
      streams: scratch.take(),
      done: scratch.take(),
      connections: scratch.take(),
      enforced: scratch.take(),
      byKind: scratch.take(EJECTION_KINDS.length),
    }));
  }

  refresh(): void {
    const { measures, balancers, clusterCount, certificateNotAfterMs } = this.#fleet;
    const b = this.#balancer;
    for (let c = 0; c < CLASSES; c += 1) {
      put(
        beyond(this.#classes, c),
        sumOver(clusterCount, (k) => at(measures.requests, (b * clusterCount + k) * CLASSES + c)),
      );
    }
    const { requestDuration } = measures;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const count = sumOver(clusterCount, (k) => at(requestDuration.counts, (b * clusterCount + k) * BUCKETS + bucket));
      put(beyond(this.#time, bucket), count);
    }
    put(
      this.#timeSum,
      sumOver(clusterCount, (k) => at(requestDuration.sums, b * clusterCount + k)),
    );
    const kinds = b * HANDSHAKE_KINDS.length;
    // Envoy counts resumed handshakes here too.
    const done = at(measures.handshakes, kinds + HANDSHAKE.full) + at(measures.handshakes, kinds + HANDSHAKE.resumed);
    put(this.#handshakes, done);
    put(this.#connections, Math.round(at(balancers.connections, b)));
    put(this.#notAfter, Math.round((this.#epochMs + certificateNotAfterMs) / 1000));
    this.#clusters.forEach((cells, cluster) => {
      this.#refreshCluster(cells, cluster);
    });
  }

  #refreshCluster(cells: ClusterCells, cluster: number): void {
    const fleet = this.#fleet;
    const { measures, hostCount, clusterCount } = fleet;
    const b = this.#balancer;
    const first = at(fleet.firstHost, cluster);
    const hosts = fleet.spec.clusters[cluster]?.hosts.length ?? 0;
    const attempts = (host: number, c: number): number =>
      at(measures.attempts, (b * hostCount + first + host) * CLASSES + c);
    for (let c = 0; c < CLASSES; c += 1) {
      // Envoy answers for a cluster without healthy hosts or above its limits, and counts that as its 5xx.
      const cell = b * clusterCount + cluster;
      const own = c === CLASS.serverError ? at(measures.noHealthy, cell) + at(measures.rejections, cell) : 0;
      put(beyond(cells.classes, c), own + sumOver(hosts, (host) => attempts(host, c)));
    }
    for (let host = 0; host < hosts; host += 1) {
      const errors = attempts(host, CLASS.serverError) + attempts(host, CLASS.none);
      const place = beyond(this.#hosts, PER_HOST * (first + host));
      put(place, sumOver(CLASSES, (c) => attempts(host, c)) - errors);
      put(beyond(place, 1), errors);
    }
    foldHosts(fleet, measures.backend, b, cluster, cells.time, cells.timeSum);
    foldHosts(fleet, measures.connect, b, cluster, cells.connect, cells.connectSum);
    const seen = membershipOf(fleet, b, cluster);
    put(cells.healthy, seen.healthy);
    put(cells.total, seen.healthy + seen.unhealthy + seen.draining);
    put(cells.ejected, seen.ejected);
    put(cells.hashEntries, hashEntries(seen.healthy));
    put(
      cells.resets,
      sumOver(hosts, (host) => at(measures.hostResets, b * hostCount + first + host)),
    );
    const kinds = (b * clusterCount + cluster) * HANDSHAKE_KINDS.length;
    const handshakes = (kind: number): number => at(measures.serviceHandshakes, kinds + kind);
    put(cells.connections, Math.round(fleet.openConnections(b, cluster)));
    put(cells.done, handshakes(HANDSHAKE.full) + handshakes(HANDSHAKE.resumed));
    const { streams } = fleet;
    const ofHost = (host: number): number =>
      sumOver(streams.width, (k) => at(streams.active, streams.indexOf(b * hostCount + first + host, k)));
    put(cells.streams, sumOver(hosts, ofHost));
    EJECTION_KINDS.forEach((_, kind) => {
      const of = (host: number): number =>
        at(measures.ejections, (b * hostCount + first + host) * EJECTION_KINDS.length + kind);
      put(beyond(cells.byKind, kind), sumOver(hosts, of));
    });
    put(cells.enforced, at(cells.byKind.column, cells.byKind.index) + at(cells.byKind.column, cells.byKind.index + 1));
  }

  edge(): EmittedSeries[] {
    const { measures, balancers, spec } = this.#fleet;
    const b = this.#balancer;
    const manager = { 'envoy.http_conn_manager_prefix': PREFIX };
    const listener = { 'envoy.listener_address': LISTENER_ADDRESS };
    const kinds = b * HANDSHAKE_KINDS.length;
    const handshakes = (kind: number): Cell => ({ column: measures.handshakes, index: kinds + kind });
    return [
      ...classCounters('http.downstream_rq_xx', manager, this.#classes),
      histogram('http.downstream_rq_time', manager, this.#time, this.#timeSum),
      ...(spec.ownListeners
        ? spec.clusters.flatMap((_, cluster) => this.#clientsOf(cluster))
        : clientCounters(listener, [this.#handshakes, handshakes(HANDSHAKE.resumed), handshakes(HANDSHAKE.failed)], {
            column: measures.connectionsOpened,
            index: b,
          })),
      ...(spec.ownListeners && spec.detailed
        ? []
        : [gauge('listener.downstream_cx_active', listener, this.#connections)]),
      counter('cluster_manager.cds.update_rejected', {}, { column: balancers.configRejected, index: b }),
      gauge(
        'listener.ssl.certificate.expiration_unix_time_seconds',
        { ...listener, 'envoy.tls_certificate': 'edge' },
        this.#notAfter,
      ),
    ];
  }

  /** Of one service, whose listener has a port of its own. */
  #clientsOf(cluster: number): EmittedSeries[] {
    const { measures, clusterCount } = this.#fleet;
    const cell = this.#balancer * clusterCount + cluster;
    const handshakes = (kind: number): Cell => ({
      column: measures.serviceHandshakes,
      index: cell * HANDSHAKE_KINDS.length + kind,
    });
    const { done, connections } = this.#clusters[cluster] as ClusterCells;
    const listener = { 'envoy.listener_address': `0.0.0.0_${FIRST_PORT + cluster}` };
    return [
      ...clientCounters(listener, [done, handshakes(HANDSHAKE.resumed), handshakes(HANDSHAKE.failed)], {
        column: measures.serviceConnections,
        index: cell,
      }),
      ...(this.#fleet.spec.detailed ? [gauge('listener.downstream_cx_active', listener, connections)] : []),
    ];
  }

  cluster(cluster: number): EmittedSeries[] {
    const { measures, clusterCount, firstHost, spec } = this.#fleet;
    const {
      name = '',
      hosts = [],
      policy = 'two-choices',
      maxInFlight = null,
      streams = null,
      answerBytes = null,
    } = spec.clusters[cluster] ?? {};
    const cell = this.#balancer * clusterCount + cluster;
    const tags = { 'envoy.cluster_name': name };
    const cells = this.#clusters[cluster] as ClusterCells;
    const [row, rate, refused] = [0, 1, 2].map((kind) => beyond(cells.byKind, kind)) as [Cell, Cell, Cell];
    return [
      ...classCounters('cluster.upstream_rq_xx', tags, cells.classes),
      histogram('cluster.upstream_rq_time', tags, cells.time, cells.timeSum),
      histogram('cluster.upstream_cx_connect_ms', tags, cells.connect, cells.connectSum),
      counter('cluster.upstream_rq_rx_reset', tags, cells.resets),
      ...(answerBytes === null
        ? []
        : [counter('cluster.upstream_cx_rx_bytes_total', tags, { column: measures.bytesSent, index: cell })]),
      ...(streams === null ? [] : [gauge('cluster.http2.streams_active', tags, cells.streams)]),
      gauge('cluster.membership_healthy', tags, cells.healthy),
      gauge('cluster.membership_total', tags, cells.total),
      ...(isHashing(policy)
        ? [gauge(HASH_STATS[policy.startsWith('ring') ? 'ring' : 'maglev'], tags, cells.hashEntries)]
        : []),
      gauge('cluster.outlier_detection.ejections_active', tags, cells.ejected),
      counter('cluster.outlier_detection.ejections_enforced_total', tags, cells.enforced, true),
      counter('cluster.outlier_detection.ejections_enforced_consecutive_5xx', tags, row, true),
      counter('cluster.outlier_detection.ejections_enforced_success_rate', tags, rate, true),
      counter('cluster.outlier_detection.ejections_overflow', tags, refused, true),
      ...RETRY_OUTCOMES.map((outcome, o) =>
        counter(RETRY_STATS[outcome] ?? '', tags, {
          column: measures.retries,
          index: cell * RETRY_OUTCOMES.length + o,
        }),
      ),
      ...(maxInFlight === null
        ? []
        : [counter('cluster.upstream_rq_pending_overflow', tags, { column: measures.rejections, index: cell }, true)]),
      counter('cluster.upstream_cx_none_healthy', tags, { column: measures.noHealthy, index: cell }, true),
      counter('cluster.lb_healthy_panic', tags, { column: measures.panicRequests, index: cell }, true),
      ...hosts.flatMap((_, local) => {
        const global = at(firstHost, cluster) + local;
        const place = beyond(this.#hosts, PER_HOST * global);
        const where = { ...tags, 'envoy.endpoint_address': endpointAddress(global) };
        return [
          counter('cluster.endpoint.rq_success', where, place),
          counter('cluster.endpoint.rq_error', where, beyond(place, 1)),
        ];
      }),
    ];
  }
}

/** Envoy names hosts by their addresses. `host` counts over the whole fleet. */
export const endpointAddress = (host: number): string =>
  `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}:${HOST_PORT}`;

function sumOver(count: number, value: (index: number) => number): number {
  let sum = 0;
  for (let index = 0; index < count; index += 1) sum += value(index);
  return sum;
}

/** Requests that got no answer have no class. */
const classCounters = (metric: string, tags: Attributes, classes: Cell): EmittedSeries[] =>
  RESPONSE_CLASSES.flatMap((responseClass, c) =>
    c === CLASS.none
      ? []
      : [counter(metric, { ...tags, 'envoy.response_code_class': responseClass.charAt(0) }, beyond(classes, c))],
  );

/** Handshakes done, resumed and failed, and connections of one listener. */
const clientCounters = (
  listener: Attributes,
  [done, resumed, failed]: readonly [Cell, Cell, Cell],
  opened: Cell,
): EmittedSeries[] => [
  counter('listener.ssl.handshake', listener, done, true),
  counter('listener.ssl.session_reused', listener, resumed, true),
  counter('listener.ssl.connection_error', listener, failed, true),
  counter('listener.downstream_cx_total', listener, opened, true),
];

const counter = (metric: string, attributes: Attributes, value: Cell, fromStart = false): EmittedSeries => ({
  kind: 'counter',
  metric,
  unit: '',
  attributes,
  value,
  fromStart,
});

const gauge = (metric: string, attributes: Attributes, value: Cell): EmittedSeries => ({
  kind: 'gauge',
  metric,
  unit: '',
  attributes,
  value,
  whole: true,
});

const histogram = (metric: string, attributes: Attributes, counts: Cell, sum: Cell): EmittedSeries => ({
  kind: 'histogram',
  metric,
  unit: '',
  attributes,
  bounds: BOUNDS_MS,
  counts,
  sum,
  sumFactor: MS_PER_S,
});
