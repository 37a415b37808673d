/** A host as a policy sees it. `host` is its index in the fleet's table and stays the same for its whole life. */
export interface PolicyHost {
  readonly host: number;
  /** Capacity relative to the others; > 0. */
  readonly weight: number;
  /** Virtual time at which it joined, ms; slow start counts from here. */
  readonly joinedAt: number;
}

/** Returned by `pick` when no host may be picked. */
export const NO_HOST = -1;

/**
 * How one balancer chooses a host of one cluster. A policy knows only what a balancer knows: the hosts that it may use
 * and the requests that it has sent and not had answered. Probes are never told to a policy.
 */
export interface Policy {
  /** Index of a host, or NO_HOST. `now` is virtual time in ms; `key` a 32-bit hash, for policies that hash. */
  pick(now: number, key?: number): number;
  /** A request was sent to the host. */
  started(host: number): void;
  /** A request sent to the host has ended. More ends than starts are ignored: counts never fall below zero. */
  finished(host: number): void;
  /** The hosts that may be picked from now on. Requests in flight stay counted, also of hosts that left. */
  hostsChanged(hosts: readonly PolicyHost[]): void;
}

/** Requests in flight by host index. Grows with the largest index seen. */
export class InFlight {
  #counts = new Int32Array(16);
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(host: number): number {
    return this.#counts[host] ?? 0;
  }

  started(host: number): void {
    this.reserve(host);
    this.#counts[host] = this.of(host) + 1;
    this.#total += 1;
  }

  /** False when nothing was in flight to the host; the count stays zero. */
  finished(host: number): boolean {
    if (this.of(host) === 0) return false;
    this.#counts[host] = this.of(host) - 1;
    this.#total -= 1;
    return true;
  }

  reserve(host: number): void {
    if (host < this.#counts.length) return;
    const grown = new Int32Array(Math.max(host + 1, this.#counts.length * 2));
    grown.set(this.#counts);
    this.#counts = grown;
  }
}
