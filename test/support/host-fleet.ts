import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { DetectionEngine } from '../../src/detect/engine.ts';
import { createDetectionEngine } from '../../src/detect/registry.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { shippedDetectors } from './shipped-detectors.ts';

export const STEP = 10_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const ORIGIN = 1_800_000_000_000;

/** What one host does in one step of 10 s. */
export interface HostStep {
  /** Requests due, on average. */
  readonly requests: number;
  /** Share of them that fails. */
  readonly errors?: number;
  /** Mean time of a request in seconds; left out where balancers do not tell it. */
  readonly time?: number;
  readonly isHealthy?: boolean;
  /** It has not joined: nobody tells of it. */
  readonly isAbsent?: boolean;
  /** Requests cut; and whether the host has been taken out of the pool. */
  readonly resets?: number;
  readonly hasLeft?: boolean;
}

export interface FleetOptions {
  readonly clusters?: readonly string[];
  /** Hosts of each cluster, and the zone of each. */
  readonly hosts: number;
  readonly zoneOf?: (index: number) => string;
  readonly balancers?: readonly string[];
  readonly seed?: number;
}

type HostPlan = (host: { readonly cluster: string; readonly index: number; readonly at: number }) => HostStep;

/**
 * Balancers, clusters and hosts on the real cells, fed a step at a time with Poisson counts, and the engine with shipped
 * thresholds. Seconds are counted from the start of the scene.
 */
export class HostFleet {
  readonly aggregate: Aggregate = createAggregate();
  readonly options: Required<FleetOptions>;
  readonly said: string[] = [];
  engine: DetectionEngine;
  now: EpochMs = epochMs(ORIGIN);
  readonly #names: readonly string[];
  readonly #prng: Prng;

  constructor(options: FleetOptions, ...detectors: readonly string[]) {
    this.options = { clusters: ['checkout'], zoneOf: () => 'a', balancers: ['edge-1'], seed: 1, ...options };
    this.#names = detectors;
    this.#prng = createPrng(this.options.seed);
    this.engine = createDetectionEngine(shippedDetectors(...detectors));
    for (const balancer of this.options.balancers) {
      for (const cluster of this.options.clusters) this.aggregate.balancer(balancer).clusters.add(cluster);
    }
  }

  get seconds(): number {
    return (this.now - ORIGIN) / 1000;
  }

  /** Runs for so many seconds. What the engine says is kept as `kind Name severity place @seconds`. */
  run(seconds: number, plan: HostPlan, extra: (fleet: HostFleet) => void = () => undefined): readonly string[] {
    const began = this.said.length;
    const until = this.now + seconds * 1000;
    while (this.now < until) {
      this.now = epochMs(this.now + STEP);
      this.#feed(plan);
      extra(this);
      this.tick();
    }
    return this.said.slice(began);
  }

  /** Time passes without any data. */
  silence(seconds: number): readonly string[] {
    const began = this.said.length;
    for (const until = this.now + seconds * 1000; this.now < until; ) {
      this.now = epochMs(this.now + STEP);
      this.tick();
    }
    return this.said.slice(began);
  }

  /** A new engine with what the old one had stored. */
  restart(): void {
    const next = createDetectionEngine(shippedDetectors(...this.#names));
    next.restore([...this.#records].map(([key, value]) => ({ key, value })));
    this.engine = next;
  }

  readonly #records = new Map<string, string>();
  readonly alerts: { readonly name: string; readonly summary: string; readonly evidence: readonly string[] }[] = [];

  tick(): void {
    const { changes, stored, removed } = this.engine.evaluate(this.aggregate, this.now);
    for (const { key, value } of stored) this.#records.set(key, value);
    for (const key of removed) this.#records.delete(key);
    for (const { kind, alert } of changes) {
      if (kind === 'fired') {
        const { name, summary, evidence } = alert;
        this.alerts.push({ name, summary, evidence: evidence.map(({ text }) => text) });
      }
      if (kind === 'updated') continue;
      const place = alert.place.host ?? alert.place.zone ?? alert.place.cluster ?? 'fleet';
      this.said.push(`${kind} ${alert.name} ${alert.severity} ${place} @${this.seconds}`);
    }
  }

  /** Adds to a feature in the step that ends now. */
  count(name: Parameters<Aggregate['feature']>[0], labels: Readonly<Record<string, string>>, amount: number): void {
    this.aggregate.feature(name, labelsOf(Object.entries(labels))).add(epochMs(this.now - STEP), this.now, amount);
  }

  gauge(name: Parameters<Aggregate['gauge']>[0], labels: Readonly<Record<string, string>>, value: number): void {
    for (const balancer of this.options.balancers) {
      const cell = this.aggregate.gauge(name, labelsOf(Object.entries(labels)), JSON.stringify(labels));
      cell.set(this.now, balancer, value);
    }
  }

  hostName = (index: number): string => `10.0.${index >> 8}.${index & 255}:8080`;

  #feed(plan: HostPlan): void {
    const { clusters, hosts, zoneOf, balancers } = this.options;
    for (const balancer of balancers) this.aggregate.heard(balancer, new Map(), this.now, this.now);
    for (const cluster of clusters) {
      let healthy = 0;
      let left = 0;
      for (let index = 0; index < hosts; index += 1) {
        const step = plan({ cluster, index, at: this.seconds });
        if (step.isAbsent === true) continue;
        if (step.hasLeft === true) left += 1;
        else if (step.isHealthy !== false) healthy += 1;
        this.#feedHost(cluster, this.hostName(index), zoneOf(index), step);
      }
      this.gauge('cluster.hosts', { cluster, state: 'healthy' }, healthy);
      this.gauge('cluster.hosts', { cluster, state: 'unhealthy' }, hosts - healthy - left);
      this.count('cluster.hosts.readings', { cluster }, balancers.length);
      this.count('cluster.hosts.healthy', { cluster }, healthy * balancers.length);
      this.count('cluster.hosts.due', { cluster }, (hosts - left) * balancers.length);
    }
  }

  #feedHost(cluster: string, host: string, zone: string, step: HostStep): void {
    const { requests, errors = 0, time, resets = 0 } = step;
    if (resets > 0) {
      this.count('host.resets', { cluster, host }, resets);
      this.count('cluster.resets', { cluster }, resets);
    }
    const failed = this.#prng.poisson(requests * errors);
    const count = failed + this.#prng.poisson(requests * (1 - errors));
    this.count('host.requests', { cluster, host, zone }, count);
    this.count('cluster.requests', { cluster, zone }, count);
    if (failed > 0) this.count('host.errors', { cluster, host, zone }, failed);
    if (failed > 0) this.count('cluster.errors', { cluster, zone }, failed);
    if (time === undefined) return;
    this.count('host.timed', { cluster, host }, count);
    this.count('host.duration', { cluster, host }, Math.round(count * time * 1e6));
  }
}
