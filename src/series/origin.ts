import type { SeriesDescription } from './binding.ts';

/** Where a canonical series comes from. `source` tells the series of one balancer apart; only gauges ask. */
export interface Origin {
  readonly balancer: string;
  readonly source: () => string;
  /** Type of the received series. */
  readonly kind: SeriesDescription['kind'];
}
