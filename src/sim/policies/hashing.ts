import { mix32 } from './hash.ts';
import type { HashTable } from './hash-ring.ts';
import { InFlight, NO_HOST, type Policy, type PolicyHost } from './policy.ts';

/** With bounded load no host holds more than this multiple of the mean in flight, weighted. */
export const LOAD_BOUND = 1.25;

/**
 * A key goes to the host that owns its place in the table. With a bound, a host that holds its share already passes
 * the request on to the next owner (Mirrokni, Thorup, Zadimoghaddam 2016): the others can never all be full, since the
 * bounds add up to more than what is in flight.
 */
export class Hashing implements Policy {
  /** Picks that the bound moved away from the key's own host. */
  overflowed = 0;
  readonly #tableOf: (hosts: readonly PolicyHost[]) => HashTable;
  readonly #bound: number | null;
  readonly #inFlight = new InFlight();
  #table: HashTable;
  #weights = new Map<number, number>();
  #totalWeight = 0;
  #unkeyed = 0;

  /** `bound` null: a hot key's host takes all of it. */
  constructor(tableOf: (hosts: readonly PolicyHost[]) => HashTable, bound: number | null = null) {
    this.#tableOf = tableOf;
    this.#bound = bound;
    this.#table = tableOf([]);
  }

  pick(_now: number, key?: number): number {
    if (this.#table.slots === 0) return NO_HOST;
    const slot = this.#table.locate(key ?? this.#nextUnkeyed());
    const own = this.#table.hostAt(slot);
    if (this.#bound === null || this.#hasRoom(own, this.#bound)) return own;
    this.overflowed += 1;
    for (let step = 1; step < this.#table.slots; step += 1) {
      const host = this.#table.hostAt(slot + step);
      if (this.#hasRoom(host, this.#bound)) return host;
    }
    return own;
  }

  started(host: number): void {
    this.#inFlight.started(host);
  }

  finished(host: number): void {
    this.#inFlight.finished(host);
  }

  hostsChanged(hosts: readonly PolicyHost[]): void {
    this.#table = this.#tableOf(hosts);
    this.#weights = new Map(hosts.map(({ host, weight }) => [host, weight]));
    this.#totalWeight = hosts.reduce((sum, { weight }) => sum + weight, 0);
  }

  #hasRoom(host: number, bound: number): boolean {
    const share = (this.#weights.get(host) ?? 0) / this.#totalWeight;
    return this.#inFlight.of(host) + 1 <= Math.ceil(bound * share * (this.#inFlight.total + 1));
  }

  /** Requests without a key are spread over the table. */
  #nextUnkeyed(): number {
    this.#unkeyed = (this.#unkeyed + 1) >>> 0;
    return mix32(this.#unkeyed);
  }
}
