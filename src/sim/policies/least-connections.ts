import { LoadHeap } from './load-heap.ts';
import { InFlight, NO_HOST, type Policy, type PolicyHost } from './policy.ts';

/** What decides between equal loads. */
export type LoadTies = 'insertion' | 'weight';

/**
 * The host with the lowest load ratio, requests in flight / weight: capacity 4 with 2 in flight (0.5) comes before
 * capacity 1 with 1 (1.0). Ties by insertion order (least connections) or to the higher weight (weighted least
 * connections: 4:2:1 and seven requests back to back give 4, 2, 1).
 *
 * Blind to answers: a host that fails in 2 ms where its peers take 40 ms always looks idle and draws the traffic.
 */
export class LeastConnections implements Policy {
  readonly #ties: LoadTies;
  readonly #inFlight = new InFlight();
  #order: readonly PolicyHost[] = [];
  #slotOf = new Map<number, number>();
  #heap = new LoadHeap(0);

  constructor(ties: LoadTies = 'insertion') {
    this.#ties = ties;
  }

  /** Entries of the heap and how many it may hold; for tests of the bound on stale ones. */
  get heap(): { readonly entries: number; readonly capacity: number; readonly rebuilds: number } {
    return this.#heap;
  }

  pick(): number {
    return this.#order[this.#heap.least()]?.host ?? NO_HOST;
  }

  started(host: number): void {
    this.#inFlight.started(host);
    this.#changed(host);
  }

  finished(host: number): void {
    if (this.#inFlight.finished(host)) this.#changed(host);
  }

  hostsChanged(hosts: readonly PolicyHost[]): void {
    // A stable sort: equal weights keep their insertion order.
    this.#order = this.#ties === 'weight' ? [...hosts].sort((a, b) => b.weight - a.weight) : [...hosts];
    this.#slotOf = new Map(this.#order.map(({ host }, slot) => [host, slot]));
    this.#heap = new LoadHeap(this.#order.length);
    for (const { host } of this.#order) if (this.#inFlight.of(host) > 0) this.#changed(host);
  }

  #changed(host: number): void {
    const slot = this.#slotOf.get(host);
    if (slot === undefined) return;
    this.#heap.update(slot, this.#inFlight.of(host) / (this.#order[slot]?.weight ?? 1));
  }
}
