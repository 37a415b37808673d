/** Points of one resource closer together than this belong to one flush of its sender, however it was split. */
const FLUSH_MS = 1000;

/**
 * A resource as one sender names it. The times of its points decide what a new series of it covers: "the resource's
 * previous point" is the newest one of an earlier flush, as of before the request in hand, so that neither the order
 * of points nor the splitting of a flush over requests changes it.
 */
export class ResourceState {
  readonly key: string;
  /** First and newest point of the newest flush, newest point of the one before; -Infinity = none. */
  flushFrom = Number.NEGATIVE_INFINITY;
  newest = Number.NEGATIVE_INFINITY;
  prior = Number.NEGATIVE_INFINITY;
  #request = -1;
  #oldestHeard = Number.POSITIVE_INFINITY;
  #newestHeard = Number.NEGATIVE_INFINITY;

  constructor(key: string) {
    this.key = key;
  }

  /** Begins a request; what is observed in it shows only once it is finished. */
  begin(request: number): void {
    if (this.#request === request) return;
    this.#request = request;
    this.#oldestHeard = Number.POSITIVE_INFINITY;
    this.#newestHeard = Number.NEGATIVE_INFINITY;
  }

  /** An accepted point, by the sender's clock. */
  observe(at: number): void {
    if (at < this.#oldestHeard) this.#oldestHeard = at;
    if (at > this.#newestHeard) this.#newestHeard = at;
  }

  /** Ends the request: what was observed in it is what later ones look back to. */
  finish(): void {
    const [oldest, newest] = [this.#oldestHeard, this.#newestHeard];
    if (newest === Number.NEGATIVE_INFINITY) return;
    if (oldest - this.flushFrom >= FLUSH_MS) {
      this.prior = newest - oldest >= FLUSH_MS ? oldest : this.newest;
      this.flushFrom = oldest;
      this.newest = newest;
    } else if (this.flushFrom - newest >= FLUSH_MS) {
      this.prior = Math.max(this.prior, newest);
    } else {
      this.newest = Math.max(this.newest, newest);
      if (oldest >= this.flushFrom) return;
      if (this.flushFrom - oldest < FLUSH_MS) this.flushFrom = oldest;
      else this.prior = Math.max(this.prior, oldest);
    }
  }

  /** The resource's point before one at `at`, as of before this request; -Infinity when there was none. */
  previous(at: number): number {
    if (at - this.flushFrom >= FLUSH_MS && this.newest < at) return this.newest;
    return this.prior < at ? this.prior : Number.NEGATIVE_INFINITY;
  }
}
