import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { DetectionEngine } from '../../src/detect/engine.ts';
import { createDetectionEngine } from '../../src/detect/registry.ts';
import type { Alert } from '../../src/model/alert.ts';
import { createBinder } from '../../src/series/bind.ts';
import type { SeriesBinding } from '../../src/series/binding.ts';
import { gaugeOf, histogramOf, type Shape, seriesOf } from '../series/describe.ts';
import { shippedDetectors } from './shipped-detectors.ts';

export const STEP_MS = 10_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** A day's edge. */
export const START = 20_000 * DAY_MS;

/** Seconds; about the buckets that a balancer sends. */
const BOUNDS = Float64Array.from([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10,
]);

/** Durations as a mixture: so many per second, with this p99 (s). */
export interface Durations {
  readonly perSecond: number;
  readonly p99: number;
}

/** One connection to a host that carries many requests at a time. */
export interface StreamLoad {
  readonly active?: number;
  readonly limit?: number;
  readonly stalled?: number;
  readonly durations?: readonly Durations[];
}

/** One service: a listener and a cluster of the same name. */
export interface ServiceLoad {
  readonly full?: number;
  readonly failed?: number;
  readonly connections?: number;
  readonly requests?: number;
  readonly errors?: number;
  readonly added?: Durations | undefined;
  readonly queue?: { readonly length: number; readonly limit: number } | undefined;
}

/** What one balancer does at a moment. Rates per second, durations in seconds; what is left out is not told. */
export interface Load {
  readonly full?: number;
  readonly resumed?: number;
  readonly failed?: number;
  readonly keyType?: string;
  readonly connections?: number;
  readonly requests?: number;
  readonly errors?: number;
  readonly cpu?: number;
  readonly added?: Durations;
  /** Whole requests and stages by canonical metric; each may mix several kinds. */
  readonly durations?: Readonly<Record<string, readonly Durations[]>>;
  readonly overflows?: number;
  readonly queue?: { readonly length: number; readonly limit: number };
  /** Connections open; reset per second; flows per second that L4 nodes did not know; how many nodes there are. */
  readonly open?: number;
  readonly resets?: number;
  readonly misses?: number;
  readonly nodes?: number;
  /** Connections to one host of cluster `checkout`; what is left out is not told. */
  readonly streams?: readonly StreamLoad[];
  /** Requests per second that found no place on them. */
  readonly streamsRejected?: number;
  readonly services?: Readonly<Record<string, ServiceLoad>>;
  readonly config?: string;
  readonly configKind?: string;
  /** Updates refused per second; the turn in rollouts; changes of hosts and how long they took to arrive. */
  readonly refused?: number;
  readonly stage?: number;
  readonly propagation?: Durations;
  /** Ends in seconds since the epoch, by name. */
  readonly certificates?: Readonly<Record<string, number>>;
}

export interface Balancer {
  readonly id: string;
  readonly zone: string;
  readonly region?: string;
}

const TO_HOST = { 'lb.upstream.cluster': 'checkout', 'lb.upstream.host.name': 'app-0' };

export const fleetOf = (count: number, zones = ['a', 'b', 'c']): readonly Balancer[] =>
  Array.from({ length: count }, (_, index) => ({ id: `edge-${index}`, zone: zones[index % zones.length] ?? 'a' }));

export interface FleetOptions {
  readonly balancers?: readonly Balancer[];
  readonly seed?: number;
  readonly detectors?: readonly string[];
  /** Own push interval; 10 s unless said. */
  readonly everyMs?: number;
}

export interface Said {
  readonly at: number;
  readonly kind: string;
  readonly alert: Alert;
}

/**
 * Balancers whose canonical series pass the real binder into real cells, step by step, and the detectors over them.
 * Counts are Poisson.
 */
export class EdgeFleet {
  aggregate: Aggregate = createAggregate();
  engine: DetectionEngine;
  now: EpochMs = epochMs(START);
  readonly balancers: readonly Balancer[];
  readonly said: Said[] = [];
  readonly #prng: Prng;
  readonly #everyMs: number;
  readonly #detectors: readonly string[] | undefined;
  readonly #stored = new Map<string, string>();
  #binder = createBinder({ slos: [], aggregate: this.aggregate });
  #bindings = new Map<string, SeriesBinding>();

  constructor({ balancers = fleetOf(6), seed = 1, detectors, everyMs = STEP_MS }: FleetOptions = {}) {
    this.balancers = balancers;
    this.#prng = createPrng(seed);
    this.#detectors = detectors;
    this.#everyMs = everyMs;
    this.engine = createDetectionEngine(shippedDetectors(...(detectors ?? [])));
  }

  /** Pushes for so long; `loadOf` null = that balancer is silent. Ticks every step unless told to stay quiet. */
  run(forMs: number, loadOf: (balancer: Balancer, now: number) => Load | null, ticks = true): void {
    const until = this.now + forMs;
    while (this.now < until) {
      this.now = epochMs(this.now + this.#everyMs);
      for (const balancer of this.balancers) {
        const load = loadOf(balancer, this.now);
        if (load !== null) this.#push(balancer, load);
      }
      if (ticks) this.tick();
    }
  }

  tick(): void {
    const { changes, stored, removed } = this.engine.evaluate(this.aggregate, this.now);
    for (const { key, value } of stored) this.#stored.set(key, value);
    for (const key of removed) this.#stored.delete(key);
    for (const { kind, alert } of changes) if (kind !== 'updated') this.said.push({ at: this.now, kind, alert });
  }

  /** As after a crash: cells from their snapshot, alerts from their records, bindings anew. */
  restart(): void {
    const state = structuredClone(this.aggregate.snapshot());
    this.aggregate = createAggregate();
    this.aggregate.restore(state);
    this.#binder = createBinder({ slos: [], aggregate: this.aggregate });
    this.#bindings = new Map();
    this.engine = createDetectionEngine(shippedDetectors(...(this.#detectors ?? [])));
    this.engine.restore([...this.#stored].map(([key, value]) => ({ key, value })));
  }

  /** As after a start with an empty data directory but with the stored alerts. */
  forget(): void {
    this.aggregate = createAggregate();
    this.engine = createDetectionEngine(shippedDetectors(...(this.#detectors ?? [])));
    this.engine.restore([...this.#stored].map(([key, value]) => ({ key, value })));
  }

  /** `fired HandshakeStorm ticket @120`: seconds since `from`. */
  lines(from: number): readonly string[] {
    return this.said.map(({ at, kind, alert }) => `${kind} ${alert.name} ${alert.severity} @${(at - from) / 1000}`);
  }

  /** Names with their severities, in the order in which they fired or changed. */
  fired(): readonly string[] {
    return this.said.filter(({ kind }) => kind !== 'resolved').map(({ alert }) => `${alert.name} ${alert.severity}`);
  }

  /** What an alert last said of itself. */
  newest(name: string): Alert | undefined {
    return this.said.findLast(({ alert }) => alert.name === name)?.alert;
  }

  evidence(name: string, of: string): unknown {
    return this.newest(name)?.evidence.find((one) => one.name === of)?.value;
  }

  #push(balancer: Balancer, load: Load): void {
    const { id } = balancer;
    const resource = new Map<string, { text: string }>([['cloud.availability_zone', { text: balancer.zone }]]);
    if (balancer.region !== undefined) resource.set('cloud.region', { text: balancer.region });
    this.aggregate.heard(id, resource, this.now, this.now);
    const down = { 'lb.side': 'downstream' };
    const keys = load.keyType === undefined ? {} : { 'lb.tls.key.type': load.keyType };
    this.#count(balancer, 'lb.tls.handshakes', { ...down, ...keys, 'tls.resumed': false }, load.full);
    this.#count(balancer, 'lb.tls.handshakes', { ...down, 'tls.resumed': true }, load.resumed);
    this.#count(balancer, 'lb.tls.handshakes', { ...down, 'error.type': 'timeout' }, load.failed);
    this.#count(balancer, 'lb.connections.opened', down, load.connections);
    this.#set(balancer, 'lb.connections.active', down, load.open);
    this.#count(balancer, 'lb.stream.resets', down, load.resets);
    this.#count(balancer, 'lb.l4.flow_table.misses', {}, load.misses);
    this.#set(balancer, 'lb.l4.nodes', {}, load.nodes);
    this.#count(balancer, 'lb.requests', { ...down, 'lb.response.class': '2xx' }, load.requests);
    this.#count(balancer, 'lb.requests', { ...down, 'lb.response.class': '5xx' }, load.errors);
    this.#count(balancer, 'lb.accept_queue.overflows', {}, load.overflows);
    this.#set(balancer, 'lb.cpu.utilization', {}, load.cpu);
    this.#set(balancer, 'lb.accept_queue.length', {}, load.queue?.length);
    this.#set(balancer, 'lb.accept_queue.limit', {}, load.queue?.limit);
    const kind = load.configKind === undefined ? {} : { 'lb.config.kind': load.configKind };
    if (load.config !== undefined) {
      this.#set(balancer, 'lb.config.info', { 'lb.config.version': load.config, ...kind }, 1);
    }
    this.#count(balancer, 'lb.config.rejected', kind, load.refused);
    this.#set(balancer, 'lb.config.stage', {}, load.stage);
    if (load.propagation !== undefined) {
      this.#observe(balancer, 'lb.endpoints.propagation.duration', [load.propagation]);
    }
    this.#count(balancer, 'lb.upstream.streams.rejected', TO_HOST, load.streamsRejected);
    load.streams?.forEach(({ active, limit, stalled, durations }, connection) => {
      const over = { ...TO_HOST, 'lb.upstream.connection': String(connection) };
      this.#set(balancer, 'lb.upstream.streams.active', over, active);
      this.#set(balancer, 'lb.upstream.streams.limit', over, limit);
      this.#set(balancer, 'lb.upstream.streams.stalled', over, stalled);
      if (durations !== undefined) this.#observe(balancer, 'lb.upstream.stream.duration', durations, over);
    });
    for (const [name, service] of Object.entries(load.services ?? {})) this.#pushService(balancer, name, service);
    for (const [name, end] of Object.entries(load.certificates ?? {})) {
      this.#set(balancer, 'lb.tls.certificate.not_after', { 'lb.tls.certificate.name': name }, end);
    }
    if (load.added !== undefined) this.#observe(balancer, 'lb.added.duration', [load.added]);
    for (const [metric, parts] of Object.entries(load.durations ?? {})) this.#observe(balancer, metric, parts);
  }

  #pushService(balancer: Balancer, name: string, load: ServiceLoad): void {
    const clients = { 'lb.side': 'downstream', 'lb.listener': name };
    const hosts = { 'lb.side': 'upstream', 'lb.upstream.cluster': name };
    this.#count(balancer, 'lb.tls.handshakes', { ...clients, 'tls.resumed': false }, load.full);
    this.#count(balancer, 'lb.tls.handshakes', { ...clients, 'error.type': 'timeout' }, load.failed);
    this.#count(balancer, 'lb.connections.opened', clients, load.connections);
    this.#count(balancer, 'lb.requests', { ...hosts, 'lb.response.class': '2xx' }, load.requests);
    this.#count(balancer, 'lb.requests', { ...hosts, 'lb.response.class': '5xx' }, load.errors);
    this.#set(balancer, 'lb.accept_queue.length', { 'lb.listener': name }, load.queue?.length);
    this.#set(balancer, 'lb.accept_queue.limit', { 'lb.listener': name }, load.queue?.limit);
    const cluster = { 'lb.upstream.cluster': name };
    if (load.added !== undefined) this.#observe(balancer, 'lb.added.duration', [load.added], cluster);
  }

  #count(balancer: Balancer, name: string, attributes: Record<string, string | boolean>, perSecond?: number): void {
    if (perSecond === undefined) return;
    const amount = this.#prng.poisson((perSecond * this.#everyMs) / 1000);
    const from = epochMs(this.now - this.#everyMs);
    const binding = this.#bind(balancer, name, JSON.stringify(attributes), (shape) =>
      seriesOf(name, attributes, shape),
    );
    for (const { cell, weight } of binding.counters) cell.add(from, this.now, weight * amount);
  }

  #set(balancer: Balancer, name: string, attributes: Record<string, string>, value: number | undefined): void {
    if (value === undefined) return;
    const binding = this.#bind(balancer, name, JSON.stringify(attributes), (shape) => gaugeOf(name, attributes, shape));
    for (const { cell, weight } of binding.gauges) cell.set(this.now, balancer.id, weight * value);
  }

  #observe(
    balancer: Balancer,
    name: string,
    parts: readonly Durations[],
    attributes: Record<string, string> = name === 'lb.stage.backend.duration'
      ? { 'lb.upstream.cluster': 'checkout' }
      : {},
  ): void {
    const counts = new Float64Array(BOUNDS.length + 1);
    let sum = 0;
    for (const { perSecond, p99 } of parts) {
      const above = (seconds: number): number => 0.01 ** (seconds / p99);
      for (let index = 0; index < counts.length; index += 1) {
        const [low, high] = [
          index === 0 ? 0 : (BOUNDS[index - 1] as number),
          BOUNDS[index] ?? Number.POSITIVE_INFINITY,
        ];
        const share = above(low) - (high === Number.POSITIVE_INFINITY ? 0 : above(high));
        const amount = this.#prng.poisson((perSecond * share * this.#everyMs) / 1000);
        counts[index] = (counts[index] as number) + amount;
        sum += amount * (Number.isFinite(high) ? (low + high) / 2 : low);
      }
    }
    const shape = { unit: 's' };
    const binding = this.#bind(balancer, name, JSON.stringify(attributes), (own) =>
      histogramOf(name, attributes, { ...own, ...shape }),
    );
    const from = epochMs(this.now - this.#everyMs);
    for (const { cell } of binding.histograms) cell.add(from, this.now, BOUNDS, counts, sum);
  }

  #bind(balancer: Balancer, name: string, own: string, describe: (shape: Shape) => ReturnType<typeof seriesOf>) {
    const key = `${balancer.id} ${name} ${own}`;
    let binding = this.#bindings.get(key);
    if (binding === undefined) {
      const region = balancer.region === undefined ? {} : { 'cloud.region': balancer.region };
      const resource = { 'cloud.availability_zone': balancer.zone, 'lb.flavor': 'custom', ...region };
      binding = this.#binder.bind(describe({ balancer: balancer.id, resource }));
      this.#bindings.set(key, binding);
    }
    return binding;
  }
}
