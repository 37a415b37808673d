import { createPrng, type Prng } from '../base/prng.ts';
import { add, at } from './columns.ts';
import type { BalancerChoice, HostChoice } from './faults/change.ts';
import type { ClusterSpec, FleetSpec } from './fleet-spec.ts';
import type { PoolHost } from './health/host-pool.ts';
import { L4Tier } from './l4/l4-tier.ts';
import { HANDSHAKE, Measures } from './measures.ts';
import { PinnedConnections } from './pinned-connections.ts';
import { hashOf } from './policies/hash.ts';
import { Route } from './route.ts';
import { Streams } from './streams.ts';
import type { KeyType } from './tls/costs.ts';
import { TicketHolders } from './tls/ticket-holders.ts';
import { TicketKeys } from './tls/ticket-keys.ts';

export const REACH = { up: 0, refused: 1, hangs: 2 } as const;
export const PROBES = { real: 0, pass: 1, fail: 2 } as const;

/** Hosts of the whole fleet, in columns; changed by faults only. Hosts of a cluster lie together. */
export interface HostColumns {
  readonly cluster: Int32Array;
  readonly zone: Int32Array;
  readonly serviceMs: Float64Array;
  readonly spread: Float64Array;
  readonly slots: Int32Array;
  readonly queueMs: Float64Array;
  readonly failShare: Float64Array;
  readonly failMs: Float64Array;
  readonly slow: Float64Array;
  readonly reach: Uint8Array;
  readonly probes: Uint8Array;
  readonly capacity: Float64Array;
  /** Virtual time at which a host that joined cold is warm, and how much slower it is until then. */
  readonly warmAt: Float64Array;
  readonly coldFactor: Float64Array;
  /** Virtual time at which it left last; requests in flight then are cut. */
  readonly leftAt: Float64Array;
}

/** Balancers, in columns. */
export interface BalancerColumns {
  readonly present: Uint8Array;
  /** 1 = what it pushes arrives nowhere. */
  readonly unheard: Uint8Array;
  readonly acceptsPerS: Float64Array;
  readonly cpuFactor: Float64Array;
  readonly addedMs: Float64Array;
  readonly failShare: Float64Array;
  /** Index into `configVersions`. */
  readonly config: Int32Array;
  /** 1 = takes no update. */
  readonly updatesRefused: Uint8Array;
  readonly configRejected: Float64Array;
  /** Client connections open, and clients that gave up and are missing. */
  readonly connections: Float64Array;
  readonly missing: Float64Array;
  /** Clients that were reset and are coming back. */
  readonly reconnecting: Float64Array;
}

export interface DependencyState {
  serviceMs: number;
  failShare: number;
  hangShare: number;
}

export interface TrafficState {
  /** Multiples by cluster. */
  readonly requests: Float64Array;
  connections: number;
  newShare: number;
  /** By cluster: its share of new connections, all alike at first in what each request needs; and of new clients. */
  readonly services: readonly ServiceTraffic[];
}

export interface ServiceTraffic {
  /** Share of the connections that the specification says. */
  readonly weight: number;
  /** Multiple of that. */
  connections: number;
  newShare: number;
}

const DAY_MS = 86_400_000;
/** Config of every balancer before any push. */
const FIRST_CONFIG = 'v1';

/**
 * The whole state of a simulated fleet: what it is, how each part behaves now, and what its balancers have counted.
 * Engines move it through virtual time, faults change it, the emitter reads it.
 */
export class Fleet {
  readonly spec: FleetSpec;
  readonly measures: Measures;
  readonly prng: Prng;
  readonly hosts: HostColumns;
  readonly balancers: BalancerColumns;
  /** By balancer x clusters + cluster: part of the balancer's open connections, where services have listeners. */
  readonly openOf: Float64Array;
  /** Index of each cluster's first host. */
  readonly firstHost: Int32Array;
  readonly hostCount: number;
  /** By cluster: what is configured and which hosts are members. */
  readonly members: readonly (readonly PoolHost[])[];
  /** By balancer x clusters + cluster. */
  readonly routes: readonly Route[];
  readonly pinned: readonly (PinnedConnections | null)[];
  readonly streams: Streams;
  readonly hotKeyShare: Float64Array;
  /** By cluster that is a shadow: share of the copies that are dropped, below 1. */
  readonly copiesDropped: Float64Array;
  /** By cluster: most retries of a request, by its balancer and by its client. */
  readonly retriesMax: Float64Array;
  readonly clientRetriesMax: Float64Array;
  readonly dependencies: readonly DependencyState[];
  readonly traffic: TrafficState;
  readonly configVersions: string[] = [FIRST_CONFIG];
  readonly keys = new TicketKeys();
  readonly holders: TicketHolders;
  readonly l4: L4Tier;
  /** Of new connections this share comes from so few addresses. */
  nat = { sources: 1, share: 0 };
  keyType: KeyType;
  certificateNotAfterMs: number;

  constructor(spec: FleetSpec) {
    this.spec = spec;
    this.prng = createPrng(spec.seed);
    const clusters = spec.clusters;
    this.firstHost = new Int32Array(clusters.length);
    clusters.forEach(({ hosts }, c) => {
      this.firstHost[c + 1] = at(this.firstHost, c) + hosts.length;
    });
    this.hostCount = clusters.reduce((sum, { hosts }) => sum + hosts.length, 0);
    this.hosts = hostColumns(clusters, this.hostCount);
    this.balancers = balancerColumns(spec);
    this.streams = new Streams(spec);
    this.measures = new Measures(spec.balancers.length, clusters.length, this.hostCount, this.streams.width);
    this.members = clusters.map(({ hosts }) =>
      hosts.map(({ weight, present }) => ({ weight, member: present, draining: false, joinedAt: -DAY_MS })),
    );
    this.routes = spec.balancers.flatMap(({ zone }) =>
      clusters.map((cluster, c) => new Route(cluster, this.members[c] ?? [], zone, spec.zones.length, this.prng)),
    );
    this.pinned = clusters.map(({ pinned, hosts }) =>
      pinned === null ? null : new PinnedConnections(pinned.connections, pinned.maxAgeMs, hosts.length, this.prng),
    );
    this.hotKeyShare = Float64Array.from(clusters, ({ hotKeyShare }) => hotKeyShare);
    this.copiesDropped = new Float64Array(clusters.length);
    this.retriesMax = Float64Array.from(clusters, ({ retries }) => retries?.max ?? 0);
    this.clientRetriesMax = Float64Array.from(clusters, ({ clientRetries }) => clientRetries);
    this.dependencies = spec.dependencies.map(({ serviceMs }) => ({ serviceMs, failShare: 0, hangShare: 0 }));
    this.traffic = {
      requests: new Float64Array(clusters.length).fill(1),
      connections: 1,
      newShare: spec.clients.newShare,
      services: servicesOf(spec),
    };
    this.holders = new TicketHolders(this.keys, spec.tls.ticketHolders);
    this.l4 = new L4Tier(spec.l4, spec.l4.nodes, this.presentBalancers());
    this.keyType = spec.tls.keyType;
    this.certificateNotAfterMs = spec.tls.notAfterMs;
    this.balancersMoved();
    for (const [balancer, share] of this.l4.shares()) {
      const open = spec.clients.connectionsPerS * (spec.clients.connectionLifeMs / 1000) * share;
      this.balancers.connections[balancer] = Math.round(open);
    }
    this.openOf = Float64Array.from(
      this.routes,
      (_, route) => this.traffic.services[route % clusters.length]?.weight ?? 0,
    );
  }

  get clusterCount(): number {
    return this.spec.clusters.length;
  }

  get balancerCount(): number {
    return this.spec.balancers.length;
  }

  /** The route of a balancer to a cluster. */
  route(balancer: number, cluster: number): Route {
    const route = this.routes[balancer * this.clusterCount + cluster];
    if (route === undefined) throw new RangeError(`no route from balancer ${balancer} to cluster ${cluster}`);
    return route;
  }

  presentBalancers(): number[] {
    return Array.from(this.balancers.present, (present, balancer) => (present === 1 ? balancer : -1)).filter(
      (balancer) => balancer >= 0,
    );
  }

  /** The balancer of a new connection: hashed by its flow, or behind NAT by its address alone. */
  connectingBalancer(): number {
    const { sources, share } = this.nat;
    const isNatted = share > 0 && this.prng.next() < share;
    return this.l4.balancerOf(isNatted ? sourceHash(this.prng.below(sources)) : this.prng.below(2 ** 32));
  }

  /** Share of new connections that each balancer gets. */
  connectionShares(): ReadonlyMap<number, number> {
    const { sources, share } = this.nat;
    const shares = new Map([...this.l4.shares()].map(([balancer, own]) => [balancer, own * (1 - share)]));
    for (let source = 0; source < sources; source += 1) {
      const balancer = this.l4.balancerOf(sourceHash(source));
      shares.set(balancer, (shares.get(balancer) ?? 0) + share / sources);
    }
    return shares;
  }

  /** Tells routes by which zones traffic enters, after balancers came or went. */
  balancersMoved(): void {
    const shares = this.l4.shares();
    const traffic = this.spec.zones.map((_, zone) =>
      this.spec.balancers.reduce((sum, { zone: own }, b) => sum + (own === zone ? (shares.get(b) ?? 0) : 0), 0),
    );
    for (const route of this.routes) route.trafficChanged(traffic);
  }

  /** Factor of the daily course at a virtual time. */
  dayFactor(now: number): number {
    const { swing, peakAtMs } = this.spec.clients;
    return swing === 0 ? 1 : 1 + swing * Math.cos((2 * Math.PI * (now - peakAtMs)) / DAY_MS);
  }

  /** Requests to a cluster per second at a virtual time, if every client can connect. */
  requestsPerS(cluster: number, now: number): number {
    const spec = this.spec.clusters[cluster];
    const shadowOf = spec?.shadowOf ?? null;
    if (shadowOf !== null) {
      return this.requestsPerS(shadowOf.cluster, now) * shadowOf.share * (1 - at(this.copiesDropped, cluster));
    }
    return (spec?.requestsPerS ?? 0) * at(this.traffic.requests, cluster) * this.dayFactor(now);
  }

  /** Counts so many requests that came to a cluster: of a shadow they are copies, beside which others were dropped. */
  copied(balancer: number, cluster: number, count: number): void {
    if (this.spec.clusters[cluster]?.shadowOf == null || count === 0) return;
    const cell = balancer * this.clusterCount + cluster;
    const dropped = at(this.copiesDropped, cluster);
    add(this.measures.copiesSent, cell, count);
    if (dropped > 0) add(this.measures.copiesDropped, cell, this.prng.poisson((count * dropped) / (1 - dropped)));
  }

  /** New connections per second at a virtual time, without those that come back after a reset. */
  connectionsPerS(now: number): number {
    return this.spec.clients.connectionsPerS * this.traffic.connections * this.dayFactor(now);
  }

  /** Share of returning clients that can resume. A flow reaches any balancer, so one session cache knows its share. */
  resumableShare(): number {
    if (this.spec.tls.resumption === 'tickets') return this.holders.resumableShare;
    return 1 / Math.max(1, this.presentBalancers().length);
  }

  /** Share of each service in handshakes of one kind; those that fail are of all. */
  serviceShares(kind: number): readonly number[] {
    const resumable = this.resumableShare();
    const parts = this.traffic.services.map(({ weight, connections, newShare }) => {
      const resumed = (1 - newShare) * resumable;
      return weight * connections * (kind === HANDSHAKE.resumed ? resumed : kind === HANDSHAKE.full ? 1 - resumed : 1);
    });
    const total = parts.reduce((sum, part) => sum + part, 0);
    return parts.map((part) => (total > 0 ? part / total : 1 / parts.length));
  }

  /** Connections to one service that a balancer has open: they end like those to any other. */
  openConnections(balancer: number, cluster: number): number {
    return at(this.balancers.connections, balancer) * at(this.openOf, balancer * this.clusterCount + cluster);
  }

  /** Counts what connections were open for so long, at so many on average. */
  held(balancer: number, connections: number, elapsedS: number): void {
    if (!this.spec.ownListeners) return;
    const first = balancer * this.clusterCount;
    for (let cell = first; cell < first + this.clusterCount; cell += 1) {
      add(this.measures.connectionS, cell, at(this.openOf, cell) * connections * elapsedS);
    }
  }

  /** So many connections to a service open beside those that are. */
  opened(balancer: number, cluster: number, count: number, beside: number): void {
    if (count === 0) return;
    const first = balancer * this.clusterCount;
    for (let c = 0; c < this.clusterCount; c += 1) {
      this.openOf[first + c] = (at(this.openOf, first + c) * beside + (c === cluster ? count : 0)) / (beside + count);
    }
  }

  /** Share of a balancer's clients that got through: the others send no requests. */
  availability(balancer: number): number {
    const open = at(this.balancers.connections, balancer);
    const missing = at(this.balancers.missing, balancer);
    return missing === 0 ? 1 : open / (open + missing);
  }

  /** Factor on the service time of a host now: slow by a fault, or cold. */
  slowness(host: number, now: number): number {
    return at(this.hosts.slow, host) * (now < at(this.hosts.warmAt, host) ? at(this.hosts.coldFactor, host) : 1);
  }

  /** Slots of a host now. */
  slots(host: number): number {
    return Math.max(1, Math.round(at(this.hosts.slots, host) * at(this.hosts.capacity, host)));
  }

  /** What a probe of the host would find. */
  probePasses(host: number): boolean {
    const probes = at(this.hosts.probes, host);
    if (probes !== PROBES.real) return probes === PROBES.pass;
    if (at(this.hosts.reach, host) !== REACH.up) return false;
    const cluster = this.spec.clusters[at(this.hosts.cluster, host)];
    if (cluster === undefined || cluster.checkDepth === 'shallow' || cluster.dependency === null) return true;
    const dependency = this.dependencies[cluster.dependency];
    if (dependency === undefined) return true;
    const isLate = dependency.serviceMs > cluster.checkTimeoutMs;
    const draw = this.prng.next();
    return !isLate && draw >= dependency.failShare + dependency.hangShare;
  }

  /** Indices of the chosen hosts within their cluster. */
  chosenHosts(cluster: number, choice: HostChoice): number[] {
    const hosts = this.spec.clusters[cluster]?.hosts ?? [];
    if (choice !== 'all' && !('zone' in choice)) return [...choice];
    return [...hosts.keys()].filter((host) => choice === 'all' || hosts[host]?.zone === choice.zone);
  }

  chosenBalancers(choice: BalancerChoice): number[] {
    if (choice !== 'all' && !('zone' in choice)) return [...choice];
    const { balancers } = this.spec;
    return [...balancers.keys()].filter((b) => choice === 'all' || balancers[b]?.zone === choice.zone);
  }
}

function servicesOf({ clusters, clients }: FleetSpec): ServiceTraffic[] {
  const total = clusters.reduce((sum, { requestsPerS }) => sum + requestsPerS, 0);
  return clusters.map(({ requestsPerS }) => ({
    weight: total > 0 ? requestsPerS / total : 1 / clusters.length,
    connections: 1,
    newShare: clients.newShare,
  }));
}

/** Of an address alone: ports do not matter. */
const sourceHash = (source: number): number => hashOf(source, 0xa77);

function hostColumns(clusters: readonly ClusterSpec[], count: number): HostColumns {
  const all = clusters.flatMap(({ hosts }, cluster) => hosts.map((host) => ({ ...host, cluster })));
  const constant = (value: number): Float64Array => new Float64Array(count).fill(value);
  return {
    cluster: Int32Array.from(all, ({ cluster }) => cluster),
    zone: Int32Array.from(all, ({ zone }) => zone),
    serviceMs: Float64Array.from(all, ({ serviceMs }) => serviceMs),
    spread: Float64Array.from(all, ({ spread }) => spread),
    slots: Int32Array.from(all, ({ slots }) => slots),
    queueMs: Float64Array.from(all, ({ queueMs }) => queueMs),
    failShare: constant(0),
    failMs: constant(2),
    slow: constant(1),
    reach: new Uint8Array(count),
    probes: new Uint8Array(count),
    capacity: constant(1),
    warmAt: constant(Number.NEGATIVE_INFINITY),
    coldFactor: constant(1),
    leftAt: constant(Number.NEGATIVE_INFINITY),
  };
}

function balancerColumns(spec: FleetSpec): BalancerColumns {
  const count = spec.balancers.length;
  return {
    present: Uint8Array.from(spec.balancers, ({ present }) => (present ? 1 : 0)),
    unheard: new Uint8Array(count),
    acceptsPerS: Float64Array.from(spec.balancers, ({ acceptsPerS }) => acceptsPerS),
    cpuFactor: new Float64Array(count).fill(1),
    addedMs: new Float64Array(count),
    failShare: new Float64Array(count),
    config: new Int32Array(count),
    updatesRefused: new Uint8Array(count),
    configRejected: new Float64Array(count),
    connections: new Float64Array(count),
    missing: new Float64Array(count),
    reconnecting: new Float64Array(count),
  };
}
