import type { EpochMs, Ms } from '../base/units.ts';
import type { Labels } from '../model/labels.ts';
import type { StageFidelities } from '../model/stages.ts';
import type { BracketState } from './brackets.ts';
import type { HistogramSeries } from './histogram-cells.ts';
import type { Rollout } from './rollout-book.ts';

/**
 * What detectors read. Counted per 10 s step like SLO events, kept shorter (10 s for 7 h, 5 min for 8 d).
 * Labels are of `cluster`, `zone`, `host`, `balancer`, `reason`; only those known.
 */
export type FeatureName =
  /**
   * Upstream requests: total per cluster, and per host where reported ({cluster, zone?} and {cluster, host, zone?}). Of
   * all balancers together: what several of them send to one host is added up.
   */
  | 'cluster.requests'
  | 'cluster.errors'
  | 'host.requests'
  | 'host.errors'
  /** Enforced ejections {cluster, balancer, reason, host?}. */
  | 'cluster.ejections'
  /** Ejections refused because of the cap {cluster, balancer}. */
  | 'cluster.ejections.refused'
  /** Handshakes with clients: successful {balancer, listener?, resumed, keyType?}, failed {balancer, listener?}. */
  | 'tls.handshakes'
  | 'tls.handshakes.failed'
  /** What clients ask of the balancers of one zone {zone?, region?}; handshakes also {resumed?, keyType?}. */
  | 'zone.handshakes'
  | 'zone.connections'
  | 'zone.requests'
  /** TCP segments that the machines of one zone sent again {zone?, region?}. */
  | 'zone.retransmits'
  /** What clients ask of one balancer {balancer}: requests, those answered 5xx, connections opened {listener?}. */
  | 'balancer.requests'
  | 'balancer.errors'
  | 'balancer.connections'
  /** CPU {balancer}: samples of its utilisation and their sum in thousandths; or seconds of the machine {state}. */
  | 'balancer.cpu.samples'
  | 'balancer.cpu.permille'
  | 'balancer.cpu.time'
  /** Requests copied to a shadow {cluster?, outcome}; cluster = where the copies go. */
  | 'mirror.requests'
  /** Bytes of answers {cluster}, or {listener} where the cluster is not told. */
  | 'service.bytes'
  /** Readings of connections that clients hold open, added up, and how many readings {balancer, listener?}. */
  | 'connections.open'
  | 'connections.open.readings'
  /** Connections that a full accept queue turned away {balancer}. */
  | 'accept_queue.overflows'
  /** Requests to hosts that were cut {cluster}, and {cluster, host} where the host is told. */
  | 'cluster.resets'
  | 'host.resets'
  /** Requests of a host whose time is known, and their time in microseconds {cluster, host}. */
  | 'host.timed'
  | 'host.duration'
  /** Hosts that were healthy once, and since when: it counts nothing {cluster, host}. */
  | 'host.seen'
  /** Retries, and those that a budget kept back {cluster, layer?}. */
  | 'cluster.retries'
  | 'cluster.retries.overflow'
  /** Requests that a balancer rejected itself: limits, open circuits, rate limits {cluster?, reason?}. */
  | 'cluster.rejections'
  /** Requests that bounded load sent past the host of their key {cluster}. */
  | 'cluster.hash.overflows'
  /** Changes between healthy and not, as one balancer sees them {cluster, host, balancer}. */
  | 'host.health.changes'
  /**
   * Readings of how many hosts are healthy, and of how many should be (all but those taken out on purpose), added up
   * over all balancers and pushes {cluster}: their quotient is the healthy share over any time.
   */
  | 'cluster.hosts.healthy'
  | 'cluster.hosts.due'
  /** How many readings those are: the other by this is the size of the pool. */
  | 'cluster.hosts.readings'
  /** Requests routed in panic, and those that found no healthy host {cluster}. */
  | 'cluster.panic.requests'
  | 'cluster.no_healthy.requests'
  /** Readings of hosts' utilization in thousandths, added up, and how many readings {cluster, zone}. */
  | 'zone.utilization'
  | 'zone.utilization.readings'
  /** Client connections and streams that were reset {balancer}; flows that an L4 node did not know {balancer}. */
  | 'balancer.resets'
  | 'l4.misses'
  /** Requests that found no place on any connection to a host {balancer, cluster, host?}. */
  | 'streams.rejected'
  /** Updates of the configuration that a balancer refused {balancer, kind?}. */
  | 'config.rejected'
  /** Handshakes {balancer, resumed}. */
  | 'tls.handshakes';

export interface FeatureSeries {
  readonly labels: Labels;
  readonly firstDataAt: EpochMs | null;
  /** Events over (from, to] in whole steps. */
  range(from: EpochMs, to: EpochMs): number;
}

export type GaugeName =
  /** Hosts {cluster, balancer, state}. */
  | 'cluster.hosts'
  /** Most places of one host, of clusters that hash {cluster, balancer}. */
  | 'cluster.hash.entries'
  /** Ejected right now {cluster, balancer}. */
  | 'cluster.ejections.active'
  /** Connections that an accept queue can hold {balancer, listener?}. */
  | 'accept_queue.limit'
  /** Streams that fit at a time {balancer, cluster, host?, connection?}. */
  | 'streams.limit'
  /** Turn of a balancer in rollouts {balancer}. */
  | 'config.stage'
  /** 1 or 0 {cluster, host, balancer}. */
  | 'host.healthy'
  /** Capacity of a host, on any one scale {cluster, host, zone?, balancer}. */
  | 'host.capacity';

/** Histograms by balancer {balancer}; those of stages and whole requests go by metric, {cluster?}. */
export const BALANCER_HISTOGRAM = {
  added: 'balancer.added',
  acceptQueue: 'balancer.accept_queue',
  endpoints: 'balancer.endpoints',
  /** {balancer, cluster, host?, connection}. */
  streams: 'balancer.streams',
} as const;

/** In front of a stage: its histogram by balancer {balancer}, of the last three hours. */
export const BALANCER_STAGE_PREFIX = 'balancer.stage.';

export type PeakName =
  /** Connections waiting in an accept queue {balancer, listener?}. */
  | 'accept_queue.length'
  /** Open client connections {balancer, listener?}. */
  | 'connections.active'
  /** L4 nodes in front of a balancer {balancer}. */
  | 'l4.nodes'
  /** Streams in flight, and those of them that do not move {balancer, cluster, host?, connection?}. */
  | 'streams.active'
  | 'streams.stalled';

/** The largest value of a level in each step of the last quarter of an hour. */
export interface PeakSeries {
  readonly labels: Labels;
  /** Steps of (from, to] that a value was sent in, by their ends. */
  peaks(from: EpochMs, to: EpochMs): readonly { readonly at: EpochMs; readonly value: number }[];
}

/** What a bound level sets where more than its last value is kept. */
export interface LevelTarget {
  set(at: EpochMs, balancer: string, value: number): void;
}

/** A balancer ran one config version without a break. */
export interface ConfigRun {
  readonly balancer: string;
  /** Part of the configuration (`cds`, `file`); `""` where it is not told. */
  readonly kind: string;
  readonly version: string;
  readonly since: EpochMs;
  readonly lastAt: EpochMs;
  /** It runs it now, as far as it is heard. */
  readonly current: boolean;
  /** The balancer is not heard. */
  readonly stale: boolean;
}

/** A certificate that a balancer serves. */
export interface CertificateReading {
  readonly name: string;
  readonly balancer: string;
  /** The balancer is not heard. */
  readonly stale: boolean;
  readonly notAfter: EpochMs;
  readonly firstSeenAt: EpochMs;
  /** When it last was replaced by one that ends later; null = never seen. */
  readonly renewedAt: EpochMs | null;
  /** From that moment to the new end, which is close to its lifetime; null = unknown. */
  readonly lifetimeMs: number | null;
  /** Last success that the automation's own counter told; null = it has no counter, 0 = none yet. */
  readonly renewalCountedAt: EpochMs | null;
}

export interface GaugeReading {
  readonly labels: Labels;
  readonly value: number;
  readonly at: EpochMs;
}

export interface BalancerState {
  readonly id: string;
  /** Its zone, region, flavor and version as far as its resource says. */
  readonly zone: string | null;
  readonly region: string | null;
  readonly flavor: string;
  /** What its resource calls the service that it is part of, as far as it does. */
  readonly service?: string;
  readonly version: string | null;
  readonly firstSeenAt: EpochMs;
  readonly newestPointAt: EpochMs;
  /** Median of the last 5 push gaps; 60 s until 3 are known. */
  readonly interval: Ms;
  readonly stale: boolean;
  /** SLO ids and clusters that it has fed. */
  readonly slos: readonly string[];
  readonly clusters: readonly string[];
  readonly seriesCount: number;
  /** How faithfully it reports each stage. */
  readonly stages: StageFidelities;
  readonly metricsUnderstood: readonly string[];
  readonly metricsIgnored: readonly string[];
  /** Thresholds of SLOs that lie between two bounds of its histograms. */
  readonly brackets: readonly BracketState[];
}

export interface FeatureView {
  features(name: FeatureName): Iterable<FeatureSeries>;
  /** Readings of balancers that are not stale. */
  gauges(name: GaugeName, now: EpochMs): Iterable<GaugeReading>;
  /** Of a stage, of whole requests, or one of `BALANCER_HISTOGRAM`. */
  histograms(name: string): readonly HistogramSeries[];
  peaks(name: PeakName): Iterable<PeakSeries>;
  /** Oldest first per balancer and kind. */
  configs(now: EpochMs): readonly ConfigRun[];
  /** Config rollouts of the last 36 days, oldest first. */
  rollouts(): readonly Rollout[];
  certificates(now: EpochMs): readonly CertificateReading[];
  balancers(now: EpochMs): readonly BalancerState[];
  /** Newest point time over all balancers that are not stale (of any where all are), on a step edge. */
  watermark(now: EpochMs): EpochMs | null;
}
