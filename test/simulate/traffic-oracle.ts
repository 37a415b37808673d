import { explicitOf, type SentPoint, type SentRequest, type StreamLife, sumOf, valuesOf } from './traffic.ts';

/** A latency threshold, and edges that all senders have as bounds: 2^edge s. */
export const THRESHOLD_EDGE = -2;
export const EDGES = [-8, -6, -4, -3, -2, -1, 0, 2, 4] as const;
/** A first value counts when its process began this long before, at most. */
const FRESH_MS = 600_000;

interface Last {
  readonly point: SentPoint;
  /** The fraction of an event that a delta stream has not told yet. */
  readonly carry: number;
}

/**
 * What a fleet's requests add up to, from the events themselves and by the rules in words: a stream counts what
 * happened since its last point that came in time; a new process counts all it has done; what is late or sent again
 * counts nothing; without start times a new process shows only in a value that fell.
 */
export class TrafficOracle {
  /** By what is counted, and where. */
  readonly totals = new Map<string, number>();
  readonly outcomes = { points: 0, accepted: 0, duplicate: 0, out_of_order: 0 };
  readonly #last = new Map<string, Last>();
  /** Oldest push of each resource that counted. */
  readonly #heard = new Map<string, number>();

  deliver({ points }: SentRequest): void {
    for (const point of points) this.#take(point);
    for (const { resource, at } of points) {
      this.#heard.set(resource, Math.min(at, this.#heard.get(resource) ?? Number.POSITIVE_INFINITY));
    }
  }

  #take(point: SentPoint): void {
    const { life, at } = point;
    const last = this.#last.get(life.stream.key);
    this.outcomes.points += 1;
    if (last !== undefined && at <= last.point.at) {
      if (at === last.point.at) this.outcomes.duplicate += 1;
      else this.outcomes.out_of_order += 1;
      return;
    }
    this.outcomes.accepted += 1;
    const carry = life.stream.kind === 'sum' ? this.#addSum(point, last) : this.#addValues(point, last);
    this.#last.set(life.stream.key, { point, carry });
  }

  #addSum(point: SentPoint, last: Last | undefined): number {
    const { stream } = point.life;
    const now = sumOf(point);
    let counted = 0;
    let carry = 0;
    if (stream.isDelta) {
      const due = (last?.carry ?? 0) + now;
      counted = Math.floor(due);
      carry = due - counted;
    } else if (last === undefined) counted = this.#countsFirst(point) ? Math.floor(now) : 0;
    else if (isOther(point, last.point, now < sumOf(last.point))) counted = Math.floor(now);
    else counted = Math.floor(now) - Math.floor(sumOf(last.point));
    this.#add(`requests ${stream.cluster} ${stream.zone}`, counted);
    if (stream.isBad) this.#add(`errors ${stream.cluster} ${stream.zone}`, counted);
    return carry;
  }

  #addValues(point: SentPoint, last: Last | undefined): number {
    const { life } = point;
    const now = valuesOf(point);
    const { cluster } = life.stream;
    if (life.stream.isDelta) this.#observe(cluster, now, 1);
    else if (last === undefined) {
      if (this.#countsFirst(point)) this.#observe(cluster, now, 1);
    } else if (last.point.life === life) this.#observe(cluster, valuesOf(point, last.point.push + 1), 1);
    else if (life.bounds !== last.point.life.bounds && point.starts === 'none') return 0;
    else if (isOther(point, last.point, bucketsFell(life, now, last.point))) this.#observe(cluster, now, 1);
    else {
      this.#observe(cluster, now, 1);
      this.#observe(cluster, valuesOf(last.point), -1);
    }
    return 0;
  }

  #countsFirst({ resource, at, start }: SentPoint): boolean {
    return (this.#heard.get(resource) ?? at) < at || (start !== null && at - start <= FRESH_MS);
  }

  #observe(cluster: string, values: readonly number[], sign: number): void {
    this.#add(`durations ${cluster}`, sign * values.length);
    for (const edge of EDGES) {
      this.#add(`durations ${cluster} ${edge}`, sign * values.filter((value) => value <= 32 * edge).length);
    }
  }

  #add(name: string, amount: number): void {
    this.totals.set(name, (this.totals.get(name) ?? 0) + amount);
  }
}

/** Whether a receiver can tell that another process sent the point before. */
function isOther(point: SentPoint, last: SentPoint, fell: boolean): boolean {
  if (point.life === last.life) return false;
  const hasOtherBounds = point.life.stream.kind !== 'sum' && point.life.bounds !== last.life.bounds;
  return fell || hasOtherBounds || point.starts === 'process' || point.starts === 'microseconds';
}

function bucketsFell(life: StreamLife, now: readonly number[], last: SentPoint): boolean {
  const before = explicitOf(valuesOf(last), last.life.bounds);
  return explicitOf(now, life.bounds).some((count, bucket) => count < (before[bucket] as number));
}
