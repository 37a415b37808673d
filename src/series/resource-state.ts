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
  /** Oldest point of all. */
  first = Number.POSITIVE_INFINITY;
  /** Its cumulative points give the flush before as their start, not when their process began (some Envoys). */
  startsAtFlush = false;
  #heardStart: 'flush' | 'process' | null = null;
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
    this.#heardStart = null;
    this.#oldestHeard = Number.POSITIVE_INFINITY;
    this.#newestHeard = Number.NEGATIVE_INFINITY;
  }

  /** An accepted point, by the sender's clock. */
  observe(at: number): void {
    if (at < this.#oldestHeard) this.#oldestHeard = at;
    if (at > this.#newestHeard) this.#newestHeard = at;
  }

  /** What a point's start has been found to be. */
  observeStart(start: 'flush' | 'process'): void {
    if (this.#heardStart !== 'flush') this.#heardStart = start;
  }

  /** Ends the request: what was observed in it is what later ones look back to. */
  finish(): void {
    const [oldest, newest] = [this.#oldestHeard, this.#newestHeard];
    if (newest === Number.NEGATIVE_INFINITY) return;
    if (this.#heardStart !== null) this.startsAtFlush = this.#heardStart === 'flush';
    if (oldest < this.first) this.first = oldest;
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

  /**
   * The resource's point before one at `at`, as of before this request; -Infinity when there was none. Of what lies
   * behind the last two flushes only the oldest point is known: there it is one flush earlier.
   */
  previous(at: number): number {
    if (at - this.flushFrom >= FLUSH_MS && this.newest < at) return this.newest;
    if (this.prior < at) return this.prior;
    return this.first < at ? Math.max(this.first, at - (this.flushFrom - this.prior)) : Number.NEGATIVE_INFINITY;
  }
}
