import { logBinomialTail } from './binomial.ts';

/** Events of one kind among all of a sample. */
export interface Sample {
  readonly hits: number;
  readonly events: number;
}

export const shareOf = ({ hits, events }: Sample): number => (events > 0 ? hits / events : 0);

/**
 * ln of the chance that `a` has as many hits as it has, or more, if both samples came from one source: of all hits each
 * falls into `a` with the chance of its share of the events. Exact, so that a handful of hits is judged as such.
 */
export function logChanceNotHigher(a: Sample, b: Sample): number {
  if (a.events <= 0 || b.events <= 0) return 0;
  return logBinomialTail(Math.round(a.hits), Math.round(a.hits + b.hits), a.events / (a.events + b.events));
}

/** So many trials that a binomial count with a small mean is as good as a Poisson one. */
const MANY = 1e9;

/** ln of the chance that a Poisson count with this mean is `hits` or more. */
export const logPoissonTail = (hits: number, mean: number): number =>
  logBinomialTail(Math.round(hits), MANY, Math.min(0.5, mean / MANY));

/** The rate of a fault that a sample without a single one would have shown with 95 % (rule of three). */
export const rarestSeen = (events: number): number => (events > 0 ? Math.min(1, 3 / events) : 1);
