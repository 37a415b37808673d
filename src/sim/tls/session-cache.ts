/**
 * Session ids instead of tickets: the balancer remembers its clients, so a client resumes only where it was last, while
 * the entry is still there. Least recently stored entries go first.
 */
export class SessionCache {
  readonly #places: number;
  readonly #lifetimeMs: number;
  readonly #storedAt = new Map<number, number>();

  constructor(places: number, lifetimeMs: number) {
    this.#places = places;
    this.#lifetimeMs = lifetimeMs;
  }

  get size(): number {
    return this.#storedAt.size;
  }

  /** Whether the client can resume here. */
  knows(now: number, client: number): boolean {
    const at = this.#storedAt.get(client);
    return at !== undefined && now - at < this.#lifetimeMs;
  }

  /** The client finished a handshake here. */
  store(now: number, client: number): void {
    this.#storedAt.delete(client);
    this.#storedAt.set(client, now);
    if (this.#storedAt.size <= this.#places) return;
    const oldest = this.#storedAt.keys().next();
    if (oldest.done !== true) this.#storedAt.delete(oldest.value);
  }
}
