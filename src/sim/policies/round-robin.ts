import { NO_HOST, type Policy, type PolicyHost } from './policy.ts';

/**
 * Hosts in turn. The list is an immutable snapshot that is replaced whole, and the turn is one atomic counter, so that
 * workers of one balancer may share both without a lock: over any k picks in all, counts differ by at most one.
 */
export class RoundRobin implements Policy {
  readonly #turn: Uint32Array;
  #snapshot: Int32Array = new Int32Array(0);

  /** `turn`: a counter of one element to share between workers (on a SharedArrayBuffer); else a private one. */
  constructor(turn: Uint32Array = new Uint32Array(1)) {
    this.#turn = turn;
  }

  pick(): number {
    const hosts = this.#snapshot;
    if (hosts.length === 0) return NO_HOST;
    return hosts[(Atomics.add(this.#turn, 0, 1) >>> 0) % hosts.length] ?? NO_HOST;
  }

  /** Turns do not depend on what is in flight. */
  started(): void {}

  finished(): void {}

  hostsChanged(hosts: readonly PolicyHost[]): void {
    this.#snapshot = Int32Array.from(hosts, ({ host }) => host);
  }
}
