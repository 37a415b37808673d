import { ATTRIBUTE } from '../../model/conventions.ts';
import { at } from '../columns.ts';
import type { Fleet } from '../fleet.ts';
import { BOUNDS_S, BUCKETS, type HistogramColumns } from '../histogram-columns.ts';
import { CLASSES, EJECTION_KINDS, HANDSHAKE, HANDSHAKE_KINDS, RESPONSE_CLASSES, RETRY_OUTCOMES } from '../measures.ts';
import { KEY_TYPES } from '../tls/costs.ts';
import { beyond, foldHosts, hashEntries, isHashing, membershipOf, put, Scratch } from './scratch.ts';
import type { Attributes, BalancerSeries, Cell, CounterSeries, EmittedSeries, GaugeSeries } from './series.ts';

export const CERTIFICATE_NAME = 'edge';
const LISTENER = 'edge';
/** Scratch places per cluster and per balancer; hosts take two each. */
const PER_CLUSTER = BUCKETS + 8;
const PER_BALANCER = 16;

/** Everything that is known about a balancer, in the canonical vocabulary. */
export function canonicalSeries(fleet: Fleet, balancer: number, epochMs: number): BalancerSeries {
  const own = new Own(fleet, balancer, epochMs);
  const spec = fleet.spec.balancers[balancer];
  const zone = fleet.spec.zones[spec?.zone ?? 0];
  return {
    resource: {
      [ATTRIBUTE.service]: 'edge',
      [ATTRIBUTE.instance]: spec?.name ?? '',
      [ATTRIBUTE.balancerZone]: zone?.name ?? '',
      [ATTRIBUTE.region]: zone?.region ?? '',
      [ATTRIBUTE.flavor]: 'simulated',
    },
    scope: { name: 'slowburn.sim', version: '' },
    get series() {
      return [...own.edge(), ...fleet.spec.clusters.flatMap((_, cluster) => own.cluster(cluster))];
    },
    refresh: (elapsedMs) => own.refresh(elapsedMs),
    shape: () => at(fleet.balancers.config, balancer),
  };
}

/** One balancer's series, and the places of what is computed for them. */
class Own {
  readonly #fleet: Fleet;
  readonly #balancer: number;
  readonly #epochMs: number;
  readonly #cpu: Cell;
  readonly #connections: Cell;
  readonly #queue: Cell;
  readonly #queueLimit: Cell;
  readonly #config: Cell;
  readonly #stage: Cell;
  readonly #l4Nodes: Cell;
  readonly #notAfter: Cell;
  /** Successful handshakes by kind (full, resumed), then key type. */
  readonly #handshakes: Cell;
  readonly #clusters: readonly ClusterCells[];
  readonly #healthy: Cell;
  /** What hosts have used of their slots since the last export. */
  readonly #used: Cell;
  readonly #busyBefore: Float64Array;
  #cpuBefore = 0;
  readonly #handshakesBefore = [0, 0];

  constructor(fleet: Fleet, balancer: number, epochMs: number) {
    this.#fleet = fleet;
    this.#balancer = balancer;
    this.#epochMs = epochMs;
    const scratch = new Scratch(PER_BALANCER + 2 * fleet.hostCount + PER_CLUSTER * fleet.clusterCount);
    this.#cpu = scratch.take();
    this.#connections = scratch.take();
    this.#queue = scratch.take();
    this.#queueLimit = scratch.take();
    this.#config = scratch.take();
    this.#stage = scratch.take();
    this.#l4Nodes = scratch.take();
    this.#notAfter = scratch.take();
    this.#handshakes = scratch.take(2 * KEY_TYPES.length);
    this.#healthy = scratch.take(fleet.hostCount);
    this.#used = scratch.take(fleet.hostCount);
    this.#busyBefore = new Float64Array(fleet.hostCount);
    this.#clusters = fleet.spec.clusters.map(() => ({
      connect: scratch.take(BUCKETS),
      connectSum: scratch.take(),
      healthy: scratch.take(),
      unhealthy: scratch.take(),
      draining: scratch.take(),
      ejected: scratch.take(),
      hashEntries: scratch.take(),
      ownAnswers: scratch.take(),
      connections: scratch.take(),
    }));
  }

  refresh(elapsedMs: number): void {
    const { measures, balancers, spec, keyType, certificateNotAfterMs } = this.#fleet;
    const b = this.#balancer;
    const cpuS = at(measures.cpuS, b);
    const cores = spec.balancers[b]?.cores ?? 1;
    put(this.#cpu, elapsedMs > 0 ? Math.min(1, (cpuS - this.#cpuBefore) / (elapsedMs / 1000) / cores) : 0);
    this.#cpuBefore = cpuS;
    put(this.#connections, Math.round(at(balancers.connections, b)));
    put(this.#queue, at(measures.acceptQueueMax, b));
    measures.acceptQueueMax[b] = 0;
    put(this.#queueLimit, spec.balancers[b]?.acceptPlaces ?? 0);
    put(this.#config, 1);
    put(this.#l4Nodes, this.#fleet.l4.nodes);
    put(this.#stage, spec.balancers[b]?.stage ?? 0);
    put(this.#notAfter, Math.round((this.#epochMs + certificateNotAfterMs) / 1000));
    for (const kind of [HANDSHAKE.full, HANDSHAKE.resumed]) {
      const count = at(measures.handshakes, b * HANDSHAKE_KINDS.length + kind);
      const cell = this.#handshakeCell(kind, KEY_TYPES.indexOf(keyType));
      put(cell, at(cell.column, cell.index) + count - (this.#handshakesBefore[kind] ?? 0));
      this.#handshakesBefore[kind] = count;
    }
    this.#clusters.forEach((cells, cluster) => {
      this.#refreshCluster(cells, cluster);
      put(cells.connections, Math.round(this.#fleet.openConnections(b, cluster)));
    });
    if (this.#fleet.spec.detailed && elapsedMs > 0) this.#refreshUse(elapsedMs / 1000);
  }

  #refreshUse(elapsedS: number): void {
    const { measures, hostCount } = this.#fleet;
    for (let host = 0; host < hostCount; host += 1) {
      const busyS = at(measures.hostBusyS, host);
      const used = (busyS - at(this.#busyBefore, host)) / elapsedS / this.#fleet.slots(host);
      this.#busyBefore[host] = busyS;
      put(beyond(this.#used, host), used);
    }
  }

  #refreshCluster(cells: ClusterCells, cluster: number): void {
    const fleet = this.#fleet;
    foldHosts(fleet, fleet.measures.connect, this.#balancer, cluster, cells.connect, cells.connectSum);
    const seen = membershipOf(fleet, this.#balancer, cluster);
    put(cells.healthy, seen.healthy);
    put(cells.unhealthy, seen.unhealthy);
    put(cells.draining, seen.draining);
    put(cells.ejected, seen.ejected);
    put(cells.hashEntries, hashEntries(seen.healthy));
    const cell = this.#balancer * fleet.clusterCount + cluster;
    put(cells.ownAnswers, at(fleet.measures.noHealthy, cell) + at(fleet.measures.rejections, cell));
    const { pool } = fleet.route(this.#balancer, cluster);
    const first = at(fleet.firstHost, cluster);
    const hosts = fleet.spec.clusters[cluster]?.hosts.length ?? 0;
    for (let host = 0; host < hosts; host += 1) {
      // What checks say; of a host that is no member they said it last while it was one.
      if (pool.isMember(host)) put(beyond(this.#healthy, first + host), (pool.checks?.isUp(host) ?? true) ? 1 : 0);
    }
  }

  #handshakeCell = (kind: number, keyType: number): Cell => beyond(this.#handshakes, kind * KEY_TYPES.length + keyType);

  /** What goes for the balancer as a whole. */
  edge(): EmittedSeries[] {
    const { measures, configVersions, balancers, spec } = this.#fleet;
    const b = this.#balancer;
    const place = { [ATTRIBUTE.side]: 'downstream', [ATTRIBUTE.listener]: LISTENER };
    const inQueue = { [ATTRIBUTE.listener]: LISTENER };
    const version = configVersions[at(balancers.config, b)] ?? '';
    return [
      ...(spec.ownListeners ? spec.clusters.flatMap((_, cluster) => this.#clientsOf(cluster)) : this.#clients(place)),
      stage('tls', place, measures.tls, b),
      stage('accept_queue', inQueue, measures.acceptQueue, b),
      gauge('lb.accept_queue.length', '{connection}', inQueue, this.#queue),
      gauge('lb.accept_queue.limit', '{connection}', inQueue, this.#queueLimit),
      counter(
        'lb.accept_queue.overflows',
        '{connection}',
        inQueue,
        { column: measures.acceptOverflows, index: b },
        true,
      ),
      ...(spec.ownListeners && spec.detailed
        ? []
        : [gauge('lb.connections.active', '{connection}', place, this.#connections)]),
      counter('lb.stream.resets', '{stream}', place, { column: measures.resets, index: b }),
      counter('lb.l4.flow_table.misses', '{flow}', {}, { column: measures.l4Misses, index: b }),
      gauge('lb.l4.nodes', '{node}', {}, this.#l4Nodes),
      gauge('lb.cpu.utilization', '1', {}, this.#cpu, false),
      gauge('lb.config.info', '1', { [ATTRIBUTE.configVersion]: version }, this.#config),
      ...(spec.balancers[b]?.stage == null ? [] : [gauge('lb.config.stage', '1', {}, this.#stage)]),
      counter('lb.config.rejected', '{update}', {}, { column: balancers.configRejected, index: b }),
      gauge('lb.tls.certificate.not_after', 's', { [ATTRIBUTE.certificate]: CERTIFICATE_NAME }, this.#notAfter),
    ];
  }

  /** Handshakes and connections of all clients together. */
  #clients(place: Attributes): EmittedSeries[] {
    const { measures } = this.#fleet;
    const b = this.#balancer;
    return [
      ...KEY_TYPES.flatMap((type, t) =>
        [HANDSHAKE.full, HANDSHAKE.resumed].map((kind) => {
          const resumed = kind === HANDSHAKE.resumed;
          const how = { ...place, [ATTRIBUTE.tlsResumed]: resumed, [ATTRIBUTE.tlsKeyType]: type };
          return counter('lb.tls.handshakes', '{handshake}', how, this.#handshakeCell(kind, t));
        }),
      ),
      counter(
        'lb.tls.handshakes',
        '{handshake}',
        { ...place, [ATTRIBUTE.errorType]: 'timeout' },
        { column: measures.handshakes, index: b * HANDSHAKE_KINDS.length + HANDSHAKE.failed },
      ),
      counter('lb.connections.opened', '{connection}', place, { column: measures.connectionsOpened, index: b }, true),
    ];
  }

  /** The same of one service, whose listener is named like its cluster. Key types are not told by listener. */
  #clientsOf(cluster: number): EmittedSeries[] {
    const { measures, clusterCount, spec } = this.#fleet;
    const cell = this.#balancer * clusterCount + cluster;
    const place = { [ATTRIBUTE.side]: 'downstream', [ATTRIBUTE.listener]: spec.clusters[cluster]?.name ?? '' };
    const of = (kind: number): Cell => ({
      column: measures.serviceHandshakes,
      index: cell * HANDSHAKE_KINDS.length + kind,
    });
    const handshakes = (how: Attributes, kind: number): EmittedSeries =>
      counter('lb.tls.handshakes', '{handshake}', { ...place, ...how }, of(kind));
    const { connections } = this.#clusters[cluster] as ClusterCells;
    return [
      ...(spec.detailed ? [gauge('lb.connections.active', '{connection}', place, connections)] : []),
      handshakes({ [ATTRIBUTE.tlsResumed]: false }, HANDSHAKE.full),
      handshakes({ [ATTRIBUTE.tlsResumed]: true }, HANDSHAKE.resumed),
      handshakes({ [ATTRIBUTE.errorType]: 'timeout' }, HANDSHAKE.failed),
      counter(
        'lb.connections.opened',
        '{connection}',
        place,
        { column: measures.serviceConnections, index: cell },
        true,
      ),
    ];
  }

  cluster(cluster: number): EmittedSeries[] {
    const { measures, clusterCount, spec } = this.#fleet;
    const {
      name = '',
      policy = 'two-choices',
      maxInFlight = null,
      shadowOf = null,
      answerBytes = null,
    } = spec.clusters[cluster] ?? {};
    const cell = this.#balancer * clusterCount + cluster;
    const listener = spec.ownListeners ? name : LISTENER;
    const downstream = { [ATTRIBUTE.side]: 'downstream', [ATTRIBUTE.listener]: listener, [ATTRIBUTE.cluster]: name };
    const upstream = { [ATTRIBUTE.side]: 'upstream', [ATTRIBUTE.cluster]: name };
    const ofCluster = { [ATTRIBUTE.cluster]: name };
    const cells = this.#clusters[cluster] as ClusterCells;
    return [
      ...(shadowOf === null
        ? []
        : [
            copies({ ...ofCluster, [ATTRIBUTE.mirrorOutcome]: 'sent' }, measures.copiesSent, cell),
            copies({ ...ofCluster, [ATTRIBUTE.mirrorOutcome]: 'dropped' }, measures.copiesDropped, cell),
          ]),
      ...RESPONSE_CLASSES.map((responseClass, c) =>
        requests({ ...downstream, [ATTRIBUTE.responseClass]: responseClass }, measures.requests, cell * CLASSES + c),
      ),
      // The balancer's own answer where no host is left, or its limit is reached; it has no host and no zone.
      counter(
        'lb.requests',
        '{request}',
        { ...upstream, [ATTRIBUTE.responseClass]: '5xx', [ATTRIBUTE.responseSource]: 'proxy' },
        cells.ownAnswers,
      ),
      ...(maxInFlight === null
        ? []
        : [
            counter(
              'lb.rejections',
              '{request}',
              { ...upstream, [ATTRIBUTE.rejectionReason]: 'circuit_open' },
              { column: measures.rejections, index: cell },
              true,
            ),
          ]),
      ...(answerBytes === null
        ? []
        : [counter('lb.bytes.sent', 'By', ofCluster, { column: measures.bytesSent, index: cell })]),
      ...this.#hosts(cluster, upstream),
      histogram('http.server.request.duration', downstream, measures.requestDuration, cell),
      histogram('lb.added.duration', ofCluster, measures.addedDuration, cell),
      stage('write', ofCluster, measures.write, cell),
      histogram('lb.endpoints.propagation.duration', ofCluster, measures.propagation, cell),
      {
        ...histogram('lb.stage.connect.duration', upstream, measures.connect, 0),
        counts: cells.connect,
        sum: cells.connectSum,
      },
      ...(['healthy', 'unhealthy', 'draining'] as const).map((state) =>
        gauge('lb.upstream.hosts', '{host}', { ...ofCluster, [ATTRIBUTE.hostState]: state }, cells[state]),
      ),
      gauge('lb.upstream.ejections.active', '{host}', ofCluster, cells.ejected),
      ...RETRY_OUTCOMES.map((outcome, o) =>
        counter(
          'lb.retries',
          '{retry}',
          { ...upstream, [ATTRIBUTE.retryOutcome]: outcome, [ATTRIBUTE.layer]: 'edge' },
          { column: measures.retries, index: cell * RETRY_OUTCOMES.length + o },
        ),
      ),
      counter(
        'lb.retries',
        '{retry}',
        { ...upstream, [ATTRIBUTE.retryOutcome]: 'attempt', [ATTRIBUTE.layer]: 'client' },
        { column: measures.clientRetries, index: cell },
      ),
      ...(isHashing(policy)
        ? [
            gauge('lb.upstream.hash.entries.max', '{entry}', ofCluster, cells.hashEntries),
            counter(
              'lb.upstream.hash.overflows',
              '{request}',
              ofCluster,
              { column: measures.hashOverflows, index: cell },
              true,
            ),
          ]
        : []),
      counter('lb.upstream.panic.requests', '{request}', ofCluster, { column: measures.panicRequests, index: cell }),
      counter('lb.upstream.no_healthy.requests', '{request}', ofCluster, { column: measures.noHealthy, index: cell }),
    ];
  }

  #hosts(cluster: number, upstream: Attributes): EmittedSeries[] {
    const { measures, spec, firstHost, hostCount } = this.#fleet;
    const { name = '', hosts = [], checks = null } = spec.clusters[cluster] ?? {};
    const b = this.#balancer;
    return hosts.flatMap((host, local): EmittedSeries[] => {
      const global = at(firstHost, cluster) + local;
      const index = b * hostCount + global;
      const zone = spec.zones[host.zone]?.name ?? '';
      const where = { ...upstream, [ATTRIBUTE.zone]: zone, [ATTRIBUTE.host]: host.name };
      const which = { [ATTRIBUTE.cluster]: name, [ATTRIBUTE.host]: host.name };
      return [
        ...RESPONSE_CLASSES.map((responseClass, c) =>
          requests({ ...where, [ATTRIBUTE.responseClass]: responseClass }, measures.attempts, index * CLASSES + c),
        ),
        histogram('lb.stage.backend.duration', where, measures.backend, index),
        counter('lb.stream.resets', '{stream}', where, { column: measures.hostResets, index }),
        ...(spec.detailed
          ? [
              gauge(
                'lb.upstream.host.utilization',
                '1',
                { ...which, [ATTRIBUTE.zone]: zone },
                beyond(this.#used, global),
                false,
              ),
            ]
          : []),
        ...this.#streams(cluster, which, index),
        ...EJECTION_KINDS.map((kind, k) =>
          ejections(which, kind, measures.ejections, index * EJECTION_KINDS.length + k),
        ),
        ...(checks === null
          ? []
          : [
              gauge('lb.upstream.host.healthy', '1', which, beyond(this.#healthy, global)),
              counter('lb.upstream.health_checks.failed', '{check}', which, { column: measures.probesFailed, index }),
            ]),
      ];
    });
  }

  /** Of one host, whose place in the columns is `index`. */
  #streams(cluster: number, which: Attributes, index: number): EmittedSeries[] {
    const { measures, spec, streams } = this.#fleet;
    const { connections = 0 } = spec.clusters[cluster]?.streams ?? {};
    if (connections === 0) return [];
    const rejected = { column: measures.streamsRejected, index };
    return [
      counter('lb.upstream.streams.rejected', '{stream}', which, rejected),
      ...Array.from({ length: connections }, (_, connection): EmittedSeries[] => {
        const own = streams.indexOf(index, connection);
        const over = { ...which, [ATTRIBUTE.connection]: String(connection) };
        return [
          gauge('lb.upstream.streams.active', '{stream}', over, { column: streams.active, index: own }),
          gauge('lb.upstream.streams.stalled', '{stream}', over, { column: streams.stalled, index: own }),
          gauge('lb.upstream.streams.limit', '{stream}', over, { column: streams.limit, index: own }),
          histogram('lb.upstream.stream.duration', over, measures.streamDuration, own),
        ];
      }).flat(),
    ];
  }
}

interface ClusterCells {
  readonly connect: Cell;
  readonly connectSum: Cell;
  readonly healthy: Cell;
  readonly unhealthy: Cell;
  readonly draining: Cell;
  readonly ejected: Cell;
  readonly hashEntries: Cell;
  readonly ownAnswers: Cell;
  readonly connections: Cell;
}

const counter = (
  metric: string,
  unit: string,
  attributes: Attributes,
  value: Cell,
  fromStart = false,
): CounterSeries => ({ kind: 'counter', metric, unit, attributes, value, fromStart });

const gauge = (metric: string, unit: string, attributes: Attributes, value: Cell, whole = true): GaugeSeries => ({
  kind: 'gauge',
  metric,
  unit,
  attributes,
  value,
  whole,
});

const requests = (attributes: Attributes, column: Float64Array, index: number): CounterSeries =>
  counter('lb.requests', '{request}', attributes, { column, index });

const copies = (attributes: Attributes, column: Float64Array, index: number): CounterSeries =>
  counter('lb.mirror.requests', '{request}', attributes, { column, index }, true);

const histogram = (metric: string, attributes: Attributes, columns: HistogramColumns, cell: number) =>
  ({
    kind: 'histogram',
    metric,
    unit: 's',
    attributes,
    bounds: BOUNDS_S,
    counts: { column: columns.counts, index: cell * BUCKETS },
    sum: { column: columns.sums, index: cell },
    sumFactor: 1,
  }) as const;

const stage = (name: string, attributes: Attributes, columns: HistogramColumns, cell: number): EmittedSeries =>
  histogram(`lb.stage.${name}.duration`, attributes, columns, cell);

const ejections = (which: Attributes, kind: string, column: Float64Array, index: number): CounterSeries => {
  const isRefused = kind === 'refused';
  const how = { [ATTRIBUTE.ejectionReason]: isRefused ? 'overflow' : kind, [ATTRIBUTE.ejectionEnforced]: !isRefused };
  return counter('lb.upstream.ejections', '{ejection}', { ...which, ...how }, { column, index });
};
