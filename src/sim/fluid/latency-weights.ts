import { logSigma } from '../draws.ts';
import { BOUNDS_S, BUCKETS } from '../histogram-columns.ts';

/** Keys of the memo: the logarithm of the mean in steps of 1/100, the variation in steps of 1/20. */
const MEAN_STEPS = 100;
const CV_STEPS = 20;
const CV_KEYS = 1000;
const CV_MIN = 0.05;

const known = new Map<number, Float64Array>();

/** Shares of the histogram's buckets of a lognormal with this mean (s) and coefficient of variation. */
export function latencyWeights(meanS: number, cv: number): Float64Array {
  const meanKey = Math.round(Math.log(Math.max(1e-7, meanS)) * MEAN_STEPS);
  const cvKey = Math.min(CV_KEYS - 1, Math.round(Math.max(CV_MIN, cv) * CV_STEPS));
  const key = meanKey * CV_KEYS + cvKey;
  const found = known.get(key);
  if (found !== undefined) return found;
  const sigma = logSigma(cvKey / CV_STEPS);
  const middle = meanKey / MEAN_STEPS - (sigma * sigma) / 2;
  const weights = new Float64Array(BUCKETS);
  let below = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const bound = BOUNDS_S[bucket];
    const upTo = bound === undefined ? 1 : normalCdf((Math.log(bound) - middle) / sigma);
    weights[bucket] = upTo - below;
    below = upTo;
  }
  known.set(key, weights);
  return weights;
}

/** Share of a lognormal above a limit. */
export function shareAbove(limitS: number, meanS: number, cv: number): number {
  if (meanS <= 0) return 0;
  const sigma = logSigma(Math.max(CV_MIN, cv));
  return 1 - normalCdf((Math.log(limitS / meanS) + (sigma * sigma) / 2) / sigma);
}

/** Standard normal distribution function (Abramowitz and Stegun 26.2.17; error below 8e-8). */
export function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    0.3989422804014327 *
    Math.exp((-x * x) / 2) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x >= 0 ? 1 - tail : tail;
}
