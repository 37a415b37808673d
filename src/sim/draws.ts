import type { Prng } from '../base/prng.ts';

/** A gap of a Poisson process with this mean. */
export const drawExponential = (prng: Prng, mean: number): number => -Math.log(1 - prng.next()) * mean;

/** Sigma of the logarithm of a lognormal with coefficient of variation `cv`. */
export const logSigma = (cv: number): number => Math.sqrt(Math.log(1 + cv * cv));

/** A lognormal value with this mean and coefficient of variation. */
export function drawLognormal(prng: Prng, mean: number, cv: number): number {
  if (cv <= 0) return mean;
  const sigma = logSigma(cv);
  const normal = Math.sqrt(-2 * Math.log(1 - prng.next())) * Math.cos(2 * Math.PI * prng.next());
  return mean * Math.exp(sigma * normal - (sigma * sigma) / 2);
}

/** `count` trials of probability `share`: exact below 32, else Poisson of the rarer side, cut to the count. */
export function drawBinomial(prng: Prng, count: number, share: number): number {
  if (count <= 0 || share <= 0) return 0;
  if (share >= 1) return count;
  if (share > 0.5) return count - drawBinomial(prng, count, 1 - share);
  if (count > 32) {
    // A normal of the true variance where it is good, Poisson where the mean is small.
    const mean = count * share;
    if (mean < 20) return Math.min(count, prng.poisson(mean));
    const normal = Math.sqrt(-2 * Math.log(1 - prng.next())) * Math.cos(2 * Math.PI * prng.next());
    return Math.min(count, Math.max(0, Math.round(mean + Math.sqrt(mean * (1 - share)) * normal)));
  }
  let hits = 0;
  for (let trial = 0; trial < count; trial += 1) if (prng.next() < share) hits += 1;
  return hits;
}
