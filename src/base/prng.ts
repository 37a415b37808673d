/** A seeded generator: the same seed gives the same sequence on every machine and version. */
export interface Prng {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform whole number in [0, below). */
  below(limit: number): number;
  /** A Poisson count with the given mean (Knuth below 30, normal approximation above). */
  poisson(mean: number): number;
}

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state, period 2^32. */
export function createPrng(seed: number): Prng {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const poisson = (mean: number): number => {
    if (mean <= 0) return 0;
    if (mean > 30) {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
    }
    const limit = Math.exp(-mean);
    let count = 0;
    let product = next();
    while (product > limit) {
      count += 1;
      product *= next();
    }
    return count;
  };
  return { next, below, poisson };
}
