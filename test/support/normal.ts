import type { Prng } from '../../src/base/prng.ts';

/** A standard normal draw, close enough: a large Poisson count. */
export const normal = (prng: Prng): number => (prng.poisson(10_000) - 10_000) / 100;
