import type { Prng } from '../base/prng.ts';
import { add, at } from './columns.ts';

/** At most this many connections stand for all of them. */
const SAMPLE_MAX = 4096;

/**
 * Client connections that stay at the host they were first given, and requests with them: what balancing connections
 * means when they live long. A connection moves when its age ends (GOAWAY, then the client opens another) or when its
 * host cannot be used any more. After a scale-out the new hosts get only what moves.
 */
export class PinnedConnections {
  /** Connections at each host. */
  readonly counts: Int32Array;
  /** How many there are in all (of the sample). */
  readonly size: number;
  readonly #host: Int32Array;
  readonly #maxAgeMs: number;
  readonly #prng: Prng;

  constructor(connections: number, maxAgeMs: number, hosts: number, prng: Prng) {
    this.size = Math.min(SAMPLE_MAX, connections);
    this.#host = new Int32Array(this.size).fill(-1);
    this.counts = new Int32Array(hosts);
    this.#maxAgeMs = maxAgeMs;
    this.#prng = prng;
  }

  /** `elapsedMs` went by: connections whose age ended or whose host is gone choose anew. How many moved. */
  pass(elapsedMs: number, usable: readonly number[]): number {
    const isUsable = new Set(usable);
    const ended = 1 - Math.exp(-elapsedMs / this.#maxAgeMs);
    let moved = 0;
    for (let connection = 0; connection < this.size; connection += 1) {
      const host = this.#host[connection] ?? -1;
      if (host >= 0 && isUsable.has(host) && this.#prng.next() >= ended) continue;
      const next = this.#choose(usable);
      if (host >= 0) add(this.counts, host, -1);
      if (next >= 0) add(this.counts, next, 1);
      this.#host[connection] = next;
      moved += 1;
    }
    return moved;
  }

  /** Of two hosts at random the one with fewer connections. */
  #choose(usable: readonly number[]): number {
    const first = usable[this.#prng.below(usable.length)] ?? -1;
    const second = usable[this.#prng.below(usable.length)] ?? -1;
    return at(this.counts, second) < at(this.counts, first) ? second : first;
  }

  /** The host of a connection drawn at random; -1 when it has none. */
  draw(): number {
    return this.#host[this.#prng.below(this.size)] ?? -1;
  }

  share(host: number): number {
    return at(this.counts, host) / this.size;
  }
}
