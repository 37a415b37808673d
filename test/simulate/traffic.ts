import type { Prng } from '../../src/base/prng.ts';
import type { KeyValue, MetricPayload, MetricsPayload } from '../../src/otlp/metrics-payload.ts';

/**
 * Raw events of a fleet and the requests that tell of them. A value is a whole number `u` that stands for 2^(u/32) s,
 * so that every bucket is found in whole numbers.
 */

/** How a balancer writes start times. `flush`: the flush before, as some versions of Envoy do. */
export const STARTS = ['process', 'none', 'microseconds', 'flush'] as const;
export type Starts = (typeof STARTS)[number];
export type SeriesKind = 'sum' | 'histogram' | 'exponential';

/** One series of one resource, as its receiver can know it. */
export interface Stream {
  readonly key: string;
  readonly kind: SeriesKind;
  readonly isDelta: boolean;
  readonly cluster: string;
  readonly zone: string;
  readonly isBad: boolean;
}

/** What happened to one stream in one life of its process: by push, the events since the push before. */
export interface StreamLife {
  readonly stream: Stream;
  /** Sums: the amount. Histograms: the values. */
  readonly amounts: number[];
  readonly values: number[][];
  /** Bounds of explicit histograms: 2^b s for each. */
  readonly bounds: readonly number[];
  bornAt: number;
}

/** One data point on its way. `push` counts from 0 in its life. */
export interface SentPoint {
  readonly life: StreamLife;
  readonly resource: string;
  readonly push: number;
  readonly at: number;
  readonly from: number;
  readonly starts: Starts;
  /** As written; null = none. */
  readonly start: number | null;
}

export interface SentRequest {
  readonly payload: MetricsPayload;
  readonly points: readonly SentPoint[];
  arrivesAt: number;
}

const CLUSTERS = ['checkout', 'search', 'media', 'login', 'cart', 'feed'];
const ZONES = ['a', 'b', 'c'];
const CLASSES = ['2xx', '4xx', '5xx'];
const EXPLICIT = [-9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4];
/** Bounds after an upgrade. */
const UPGRADED = [-10, -8, -6, -4, -3, -2, -1, 0, 2, 4];
const EXPONENTIAL_BUCKETS_MAX = 40;
const FINEST_SCALE = 5;

const texts = (values: Readonly<Record<string, string>>): KeyValue[] =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
const nanos = (at: number): bigint => BigInt(Math.round(at * 1000)) * 1000n;

export interface BalancerOptions {
  readonly name: string;
  readonly starts: Starts;
  readonly isDelta: boolean;
  readonly kinds: readonly SeriesKind[];
  /** How far its clock runs ahead. */
  readonly aheadMs: number;
  /** Milliseconds, or seconds, as unit of its histograms. */
  readonly unit: 'ms' | 's';
  readonly asDouble: boolean;
}

/** One balancer: its processes, their counters, and what they send. */
export class SimulatedBalancer {
  readonly options: BalancerOptions;
  readonly #prng: Prng;
  #resource: string;
  #generation = 0;
  #lives: StreamLife[] = [];
  #startedAt: number;
  #flushedAt: number;
  #push = 0;
  #bounds: readonly number[] = EXPLICIT;
  #known = 8;

  constructor(options: BalancerOptions, prng: Prng, startedAt: number) {
    this.options = options;
    this.#prng = prng;
    this.#resource = `${options.name}/0`;
    this.#startedAt = this.#flushedAt = startedAt;
  }

  /** Pushes of the resource that were made; the first ones decide what history it has. */
  pushes = 0;

  /** A new process, perhaps under a new resource or with other bounds. What was not sent dies. */
  restart(at: number): void {
    this.#startedAt = this.#flushedAt = at;
    this.#lives = [];
    this.#push = 0;
    if (this.#prng.below(3) === 0) this.#bounds = this.#bounds === EXPLICIT ? UPGRADED : EXPLICIT;
    if (this.#prng.below(4) > 0) return;
    this.#generation += 1;
    this.#resource = `${this.options.name}/${this.#generation}`;
    this.pushes = 0;
  }

  /** What happened since the last push, as points in one to three requests. */
  push(at: number): SentRequest[] {
    if (this.#prng.below(20) === 0) this.#known = Math.min(this.#known + 1, CLUSTERS.length * CLASSES.length);
    for (let index = this.#lives.length; index < this.#streams; index += 1) this.#lives.push(this.#lifeOf(index));
    const points = this.#lives.map((life) => this.#pointOf(life, at));
    const requests = this.#prng.below(10) === 0 ? this.#split(points) : [points];
    this.#flushedAt = at;
    this.#push += 1;
    this.pushes += 1;
    return requests.map((part) => ({ payload: this.#payload(part), points: part, arrivesAt: at }));
  }

  get #streams(): number {
    const { kinds } = this.options;
    return this.#known * (kinds.includes('sum') ? 1 : 0) + (kinds.length - (kinds.includes('sum') ? 1 : 0)) * 6;
  }

  #lifeOf(index: number): StreamLife {
    const { name, isDelta, kinds } = this.options;
    const histograms = kinds.filter((kind) => kind !== 'sum');
    const isHistogram = index < histograms.length * 6;
    const kind: SeriesKind = isHistogram ? (histograms[Math.floor(index / 6)] as SeriesKind) : 'sum';
    const place = isHistogram ? index % 6 : index - histograms.length * 6;
    const cluster = CLUSTERS[place % CLUSTERS.length] as string;
    const zone = ZONES[(place + name.length) % ZONES.length] as string;
    const className = CLASSES[isHistogram ? 0 : Math.floor(place / CLUSTERS.length)] as string;
    const key = `${this.#resource} ${kind} ${cluster} ${className}`;
    const stream = { key, kind, isDelta, cluster, zone, isBad: className === '5xx' };
    const none = { amounts: Array<number>(this.#push).fill(0), values: Array<number[]>(this.#push).fill([]) };
    return { stream, ...none, bounds: this.#bounds, bornAt: this.#push };
  }

  #pointOf(life: StreamLife, at: number): SentPoint {
    const prng = this.#prng;
    if (life.stream.kind === 'sum') {
      // Fractions of events are sent as quarters.
      const quarters = this.options.asDouble ? prng.below(4) / 4 : 0;
      life.amounts.push(prng.below(8) === 0 ? 0 : prng.poisson(20) + quarters);
    } else {
      const calm = prng.below(200) === 0 ? 250 : 60;
      life.values.push(Array.from({ length: prng.poisson(6) }, () => prng.below(2 * calm) - calm - 40));
    }
    const { starts } = this.options;
    const start = starts === 'none' ? null : starts === 'flush' ? this.#flushedAt : this.#startedAt;
    return { life, resource: this.#resource, push: this.#push, at, from: this.#flushedAt, starts, start };
  }

  #split(points: readonly SentPoint[]): SentPoint[][] {
    const parts: SentPoint[][] = [[], [], []];
    for (const point of points) (parts[this.#prng.below(3)] as SentPoint[]).push(point);
    return parts.filter((part) => part.length > 0);
  }

  #payload(points: readonly SentPoint[]): MetricsPayload {
    const metrics = points.map((point) => this.#metric(point));
    for (let index = metrics.length - 1; index > 0 && this.#prng.below(3) === 0; index -= 1) {
      const other = this.#prng.below(index + 1);
      [metrics[index], metrics[other]] = [metrics[other] as MetricPayload, metrics[index] as MetricPayload];
    }
    const attributes = texts({ 'service.instance.id': this.options.name, 'process.pid': this.#resource });
    return { resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ scope: { name: 'edge' }, metrics }] }] };
  }

  #metric(point: SentPoint): MetricPayload {
    const { stream } = point.life;
    const aggregationTemporality = stream.isDelta ? 1 : 2;
    const times = { ...this.#times(point), attributes: attributesOf(stream) };
    if (stream.kind === 'sum') {
      const total = sumOf(point);
      const value = this.options.asDouble ? { asDouble: total } : { asInt: total };
      return {
        name: 'lb.requests',
        sum: { aggregationTemporality, isMonotonic: true, dataPoints: [{ ...times, ...value }] },
      };
    }
    const { unit } = this.options;
    const values = valuesOf(point);
    const perUnit = unit === 'ms' ? 1000 : 1;
    const sum = values.reduce((total, value) => total + perUnit * 2 ** (value / 32), 0);
    const body = { ...times, count: values.length, sum };
    const name = 'lb.stage.backend.duration';
    if (stream.kind === 'exponential') {
      const dataPoints = [{ ...body, ...exponentialOf(values) }];
      return { name, unit: 's', exponentialHistogram: { aggregationTemporality, dataPoints } };
    }
    const bucketCounts = explicitOf(values, point.life.bounds);
    const explicitBounds = point.life.bounds.map((bound) => perUnit * 2 ** bound);
    return {
      name,
      unit,
      histogram: { aggregationTemporality, dataPoints: [{ ...body, bucketCounts, explicitBounds }] },
    };
  }

  #times({ at, from }: SentPoint): { timeUnixNano: bigint; startTimeUnixNano?: bigint } {
    const { aheadMs, isDelta, starts } = this.options;
    const timeUnixNano = nanos(at + aheadMs);
    if (isDelta)
      return starts === 'none' ? { timeUnixNano } : { timeUnixNano, startTimeUnixNano: nanos(from + aheadMs) };
    switch (starts) {
      case 'process':
        return { timeUnixNano, startTimeUnixNano: nanos(this.#startedAt + aheadMs) };
      case 'none':
        return { timeUnixNano };
      case 'microseconds':
        return { timeUnixNano, startTimeUnixNano: nanos(this.#startedAt + aheadMs) / 1000n };
      case 'flush':
        return { timeUnixNano: timeUnixNano + 123_457n, startTimeUnixNano: nanos(from + aheadMs) + 123_457n };
    }
  }
}

const attributesOf = ({ cluster, zone, isBad, kind, key }: Stream): KeyValue[] =>
  texts({
    'lb.side': 'upstream',
    'lb.upstream.cluster': cluster,
    'lb.upstream.zone': zone,
    ...(kind === 'sum' && { 'lb.response.class': isBad ? '5xx' : (key.split(' ')[3] as string) }),
  });

/** What a point carries: of a delta stream the events of its push, else all of its life. */
const firstPush = ({ life, push }: SentPoint): number => (life.stream.isDelta ? push : life.bornAt);

export function sumOf(point: SentPoint, from = firstPush(point)): number {
  let total = 0;
  for (let push = from; push <= point.push; push += 1) total += point.life.amounts[push] as number;
  return total;
}

export function valuesOf(point: SentPoint, from = firstPush(point)): number[] {
  return point.life.values.slice(from, point.push + 1).flat();
}

/** Counts per bucket: bound `b` takes every value up to and including 2^b s. */
export function explicitOf(values: readonly number[], bounds: readonly number[]): number[] {
  const counts = Array<number>(bounds.length + 1).fill(0);
  for (const value of values) {
    const bucket = bounds.findIndex((bound) => value <= 32 * bound);
    const place = bucket === -1 ? bounds.length : bucket;
    counts[place] = (counts[place] as number) + 1;
  }
  return counts;
}

/** Buckets at the finest scale that needs no more of them than the sender has. */
function exponentialOf(values: readonly number[]) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0) return { scale: FINEST_SCALE };
  const indexAt = (value: number, scale: number): number => Math.ceil(value / 2 ** (FINEST_SCALE - scale)) - 1;
  let scale = FINEST_SCALE;
  while (indexAt(most, scale) - indexAt(least, scale) >= EXPONENTIAL_BUCKETS_MAX) scale -= 1;
  const offset = indexAt(least, scale);
  const bucketCounts = Array<number>(indexAt(most, scale) - offset + 1).fill(0);
  for (const value of values) {
    const bucket = indexAt(value, scale) - offset;
    bucketCounts[bucket] = (bucketCounts[bucket] as number) + 1;
  }
  return { scale, positive: { offset, bucketCounts } };
}
