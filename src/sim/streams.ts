import { add, at } from './columns.ts';
import type { FleetSpec } from './fleet-spec.ts';

/** No connection has a place left. */
export const NO_CONNECTION = -1;

/**
 * Connections of each balancer to each host that carry many requests at a time, as streams. A request goes over the one
 * with the fewest: all carry as many, also one that stands still. Nothing moves on that one until it is replaced.
 */
export class Streams {
  /** Connections in the columns of each balancer and host; some clusters use fewer. */
  readonly width: number;
  /** (balancer, host, connection): streams in flight, those of them that stand still, how many there may be. */
  readonly active: Float64Array;
  readonly stalled: Float64Array;
  readonly limit: Float64Array;
  readonly #isStalled: Uint8Array;

  constructor({ balancers, clusters }: FleetSpec) {
    this.width = clusters.reduce((most, { streams }) => Math.max(most, streams?.connections ?? 0), 0);
    const hosts = clusters.flatMap((cluster) => cluster.hosts.map(() => cluster.streams));
    const count = balancers.length * hosts.length * this.width;
    this.active = new Float64Array(count);
    this.stalled = new Float64Array(count);
    this.limit = new Float64Array(count);
    this.#isStalled = new Uint8Array(count);
    for (let index = 0; index < count; index += 1) {
      const streams = hosts[Math.floor(index / this.width) % hosts.length] ?? null;
      const isUsed = streams !== null && index % this.width < streams.connections;
      this.limit[index] = isUsed ? streams.perConnection : 0;
    }
  }

  /** `place` = balancer x hosts + host. */
  indexOf(place: number, connection: number): number {
    return place * this.width + connection;
  }

  /** Whether some connection stands still. */
  get areStalled(): boolean {
    return this.#isStalled.includes(1);
  }

  isStalled(index: number): boolean {
    return at(this.#isStalled, index) === 1;
  }

  /** The first `connections` stand still from now on; the others are, or are replaced by, ones that move. */
  stall(place: number, connections: number): void {
    for (let connection = 0; connection < this.width; connection += 1) {
      const index = this.indexOf(place, connection);
      this.#isStalled[index] = connection < connections ? 1 : 0;
      this.stalled[index] = connection < connections ? at(this.active, index) : 0;
    }
  }

  /** One more stream, on the connection with the fewest of those with a place left. */
  open(place: number): number {
    let chosen = NO_CONNECTION;
    for (let connection = 0; connection < this.width; connection += 1) {
      const index = this.indexOf(place, connection);
      if (at(this.active, index) >= at(this.limit, index)) continue;
      if (chosen === NO_CONNECTION || at(this.active, index) < at(this.active, this.indexOf(place, chosen))) {
        chosen = connection;
      }
    }
    if (chosen !== NO_CONNECTION) this.#move(this.indexOf(place, chosen), 1);
    return chosen;
  }

  close(index: number): void {
    this.#move(index, -1);
  }

  /** Sets how many there are, of a fluid. */
  set(index: number, count: number): void {
    this.#move(index, count - at(this.active, index));
  }

  #move(index: number, by: number): void {
    add(this.active, index, by);
    this.stalled[index] = this.isStalled(index) ? at(this.active, index) : 0;
  }
}
