import { HistogramColumns } from './histogram-columns.ts';

/** Classes of answers, in the order of the columns. `none`: the client got no answer. */
export const RESPONSE_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
export const CLASSES: number = RESPONSE_CLASSES.length;
export const CLASS = { ok: 0, redirect: 1, clientError: 2, serverError: 3, none: 4 } as const;

/** Kinds of handshakes, in the order of the columns. */
export const HANDSHAKE_KINDS = ['full', 'resumed', 'failed'] as const;
export const HANDSHAKE = { full: 0, resumed: 1, failed: 2 } as const;

/** Reasons of ejections, in the order of the columns; `refused` was not enforced because of the cap. */
export const EJECTION_KINDS = ['consecutive_5xx', 'success_rate', 'refused'] as const;

/** Outcomes of retries, in the order of the columns. */
export const RETRY_OUTCOMES = ['attempt', 'success', 'overflow'] as const;

/**
 * What balancers have counted since the start: cumulative, in columns, by balancer first. Indices:
 * (balancer, cluster) = balancer x clusters + cluster; (balancer, host) = balancer x hosts + host, hosts counted over
 * the whole fleet; then class, kind or outcome last. Whole numbers, except seconds.
 */
export class Measures {
  /** (balancer, cluster, class): what clients got. */
  readonly requests: Float64Array;
  /** (balancer, host, class): attempts against hosts. */
  readonly attempts: Float64Array;
  /** (balancer, cluster): whole request as the balancer sees it. */
  readonly requestDuration: HistogramColumns;
  /** (balancer, cluster): what the balancer itself added. */
  readonly addedDuration: HistogramColumns;
  /** (balancer). */
  readonly acceptQueue: HistogramColumns;
  /** (balancer). */
  readonly tls: HistogramColumns;
  /** (balancer, host). */
  readonly connect: HistogramColumns;
  /** (balancer, host): request sent until first byte. */
  readonly backend: HistogramColumns;
  /** (balancer, cluster). */
  readonly write: HistogramColumns;
  /** (balancer, cluster): hosts changed until the balancer uses the change. */
  readonly propagation: HistogramColumns;
  /** (balancer, kind). */
  readonly handshakes: Float64Array;
  /** (balancer, cluster, kind), where each service has its own listener; and connections that were opened there. */
  readonly serviceHandshakes: Float64Array;
  readonly serviceConnections: Float64Array;
  /** (balancer). */
  readonly connectionsOpened: Float64Array;
  readonly acceptOverflows: Float64Array;
  readonly resets: Float64Array;
  readonly l4Misses: Float64Array;
  /** (balancer, cluster): seconds for which clients held connections open, where each service has its own listener. */
  readonly connectionS: Float64Array;
  /** (balancer): seconds of CPU used. */
  readonly cpuS: Float64Array;
  /** (balancer, host, kind). */
  readonly ejections: Float64Array;
  /** (balancer, host): failed probes. */
  readonly probesFailed: Float64Array;
  /** (balancer, cluster, outcome). */
  readonly retries: Float64Array;
  /** (balancer, cluster). */
  readonly noHealthy: Float64Array;
  readonly panicRequests: Float64Array;
  /** (balancer, cluster): copies that a shadow got, and those that were dropped. */
  readonly copiesSent: Float64Array;
  readonly copiesDropped: Float64Array;
  /** (balancer, cluster): requests beyond the limit of those in flight. */
  readonly rejections: Float64Array;
  /** (balancer, cluster): bytes of answers, where they are told. */
  readonly bytesSent: Float64Array;
  /** (balancer, cluster): requests that clients say they send again. */
  readonly clientRetries: Float64Array;
  /** (balancer, cluster): requests that bounded load sent past the host of their key. */
  readonly hashOverflows: Float64Array;
  /** (balancer, host): requests that were cut because their host left; counted in `resets` too. */
  readonly hostResets: Float64Array;
  /** (balancer, host, connection): streams until their answer or their time-out. */
  readonly streamDuration: HistogramColumns;
  /** (balancer, host): requests that found no place on a connection. */
  readonly streamsRejected: Float64Array;
  /** (host): seconds that its slots were busy. */
  readonly hostBusyS: Float64Array;
  /** (balancer): most that ever waited to be accepted since the emitter last set it to 0. */
  readonly acceptQueueMax: Float64Array;

  constructor(balancers: number, clusters: number, hosts: number, connections: number) {
    const [perCluster, perHost] = [balancers * clusters, balancers * hosts];
    this.requests = new Float64Array(perCluster * CLASSES);
    this.attempts = new Float64Array(perHost * CLASSES);
    this.requestDuration = new HistogramColumns(perCluster);
    this.addedDuration = new HistogramColumns(perCluster);
    this.acceptQueue = new HistogramColumns(balancers);
    this.tls = new HistogramColumns(balancers);
    this.connect = new HistogramColumns(perHost);
    this.backend = new HistogramColumns(perHost);
    this.write = new HistogramColumns(perCluster);
    this.propagation = new HistogramColumns(perCluster);
    this.handshakes = new Float64Array(balancers * HANDSHAKE_KINDS.length);
    this.serviceHandshakes = new Float64Array(perCluster * HANDSHAKE_KINDS.length);
    this.serviceConnections = new Float64Array(perCluster);
    this.connectionS = new Float64Array(perCluster);
    this.connectionsOpened = new Float64Array(balancers);
    this.acceptOverflows = new Float64Array(balancers);
    this.resets = new Float64Array(balancers);
    this.l4Misses = new Float64Array(balancers);
    this.cpuS = new Float64Array(balancers);
    this.ejections = new Float64Array(perHost * EJECTION_KINDS.length);
    this.probesFailed = new Float64Array(perHost);
    this.retries = new Float64Array(perCluster * RETRY_OUTCOMES.length);
    this.noHealthy = new Float64Array(perCluster);
    this.panicRequests = new Float64Array(perCluster);
    this.copiesSent = new Float64Array(perCluster);
    this.copiesDropped = new Float64Array(perCluster);
    this.rejections = new Float64Array(perCluster);
    this.bytesSent = new Float64Array(perCluster);
    this.clientRetries = new Float64Array(perCluster);
    this.hashOverflows = new Float64Array(perCluster);
    this.hostResets = new Float64Array(perHost);
    this.streamDuration = new HistogramColumns(perHost * connections);
    this.streamsRejected = new Float64Array(perHost);
    this.hostBusyS = new Float64Array(hosts);
    this.acceptQueueMax = new Float64Array(balancers);
  }
}
