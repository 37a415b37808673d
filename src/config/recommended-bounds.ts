import type { Slo } from '../slo/slo.ts';
import { WHERE_BOUNDS_ARE_SET } from './bound-settings.ts';

/** Bounds in seconds that all setup pages of docs/balancers set where a balancer lets them be set. */
export const RECOMMENDED_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1, 5, 10,
];

/** What a latency SLO asks of the histograms that feed it, whatever bounds they have; null for any other SLO. */
export function boundNote({ indicator }: Slo): string | null {
  if (indicator.kind !== 'latency') return null;
  const { threshold } = indicator;
  const bound = `${threshold} s`;
  const exact = `exact where the histogram has a bound at ${bound}; else the bracket around it counts as bad`;
  if (RECOMMENDED_BOUNDS.includes(threshold)) {
    return `${exact}. The setup pages set this bound (${WHERE_BOUNDS_ARE_SET}); exponential histograms have brackets of their own`;
  }
  const below = RECOMMENDED_BOUNDS.filter((other) => other < threshold).at(-1);
  const above = RECOMMENDED_BOUNDS.find((other) => other > threshold);
  const beside = [below, above].filter((other) => other !== undefined).map((other) => `${other} s`);
  return `${exact}. Not every setup page sets this bound, only ${beside.join(' and ')}: add it (${WHERE_BOUNDS_ARE_SET})`;
}
