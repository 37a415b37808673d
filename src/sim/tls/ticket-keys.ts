/** A session ticket key, by number. */
export type TicketKey = number;

/**
 * The keys with which the fleet encrypts session tickets: one issues, some are accepted. Rotation with overlap keeps
 * accepting the key before, so nobody notices; without, every ticket in the world is void at once.
 */
export class TicketKeys {
  #current: TicketKey = 0;
  #accepted = new Set<TicketKey>([0]);
  #last: TicketKey = 0;

  /** Key of the tickets handed out now. */
  get current(): TicketKey {
    return this.#current;
  }

  /** Number of keys ever made; keys are 0 to made - 1. */
  get made(): number {
    return this.#last + 1;
  }

  accepts(key: TicketKey): boolean {
    return this.#accepted.has(key);
  }

  /** A new key issues from now on. Returns it. */
  rotate(overlap: boolean): TicketKey {
    const before = this.#current;
    this.#last += 1;
    this.#current = this.#last;
    this.#accepted = new Set(overlap ? [before, this.#current] : [this.#current]);
    return this.#current;
  }

  /** An old key issues again, alone: the way back out of a rotation without overlap. */
  restore(key: TicketKey): void {
    this.#current = key;
    this.#accepted = new Set([key]);
  }
}
