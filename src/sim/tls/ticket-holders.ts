import type { TicketKeys } from './ticket-keys.ts';

/**
 * The clients that have been here before, as a population: how many hold a ticket of which key. A returning client is
 * any of them; after its handshake it holds a ticket of the key that issues now. So the share that can resume after a
 * rotation comes back as fast as the population reconnects, and not sooner.
 */
export class TicketHolders {
  readonly #keys: TicketKeys;
  readonly #population: number;
  /** Clients by key; the index is the key. */
  readonly #held: number[];

  constructor(keys: TicketKeys, population: number) {
    this.#keys = keys;
    this.#population = population;
    this.#held = [population];
  }

  /** Share of returning clients whose ticket is accepted now. */
  get resumableShare(): number {
    let accepted = 0;
    for (let key = 0; key < this.#held.length; key += 1) {
      if (this.#keys.accepts(key)) accepted += this.#held[key] ?? 0;
    }
    return accepted / this.#population;
  }

  /** `handshakes` returning clients finished a handshake and hold a fresh ticket; whoever they are, by their shares. */
  returned(handshakes: number): void {
    const current = this.#keys.current;
    while (this.#held.length <= current) this.#held.push(0);
    const left = Math.exp(-handshakes / this.#population);
    let moved = 0;
    for (let key = 0; key < this.#held.length; key += 1) {
      if (key === current) continue;
      const before = this.#held[key] ?? 0;
      this.#held[key] = before * left;
      moved += before - before * left;
    }
    this.#held[current] = (this.#held[current] ?? 0) + moved;
  }
}
