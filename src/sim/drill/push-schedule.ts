import { createPrng } from '../../base/prng.ts';
import type { FleetSpec } from '../fleet-spec.ts';

/** Balancers push at so many moments of an interval at most. */
const MOMENTS = 10;

/** Balancers that push at one virtual time, by index. */
export interface Push {
  readonly atMs: number;
  readonly balancers: readonly number[];
}

/** When each balancer pushes: once per interval, at a moment of its own, as in a fleet that was not started at once. */
export class PushSchedule {
  readonly #pushMs: number;
  /** In the order of their moments. */
  readonly #groups: readonly { readonly offsetMs: number; readonly balancers: readonly number[] }[];

  /** The same fleet gives the same moments. */
  constructor({ seed, balancers }: FleetSpec, pushMs: number) {
    this.#pushMs = pushMs;
    const prng = createPrng(seed);
    const drawn = balancers.map(() => (prng.below(MOMENTS) * pushMs) / MOMENTS);
    const offsets = [...new Set(drawn)].sort((a, b) => a - b);
    this.#groups = offsets.map((offsetMs) => ({
      offsetMs,
      balancers: drawn.flatMap((offset, balancer) => (offset === offsetMs ? [balancer] : [])),
    }));
  }

  /** Pushes in (fromMs, toMs], oldest first; never one at 0. */
  *between(fromMs: number, toMs: number): Generator<Push> {
    for (let start = Math.floor(fromMs / this.#pushMs) * this.#pushMs; start <= toMs; start += this.#pushMs) {
      for (const { offsetMs, balancers } of this.#groups) {
        const atMs = start + offsetMs;
        if (atMs > fromMs && atMs <= toMs) yield { atMs, balancers };
      }
    }
  }
}
