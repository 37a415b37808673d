/** Quantile of the standard normal for a two-sided 98 % interval. */
export const Z_98 = 2.3263478740408408;

const known = new Map<number, number>([[0.98, Z_98]]);
const Z_MAX = 8;

/** Quantile of the standard normal for a two-sided interval of this confidence, more than 0 and less than 1. */
export function zOf(confidence: number): number {
  const found = known.get(confidence);
  if (found !== undefined) return found;
  let [low, high] = [0, Z_MAX];
  for (let round = 0; round < 60; round += 1) {
    const middle = (low + high) / 2;
    if (shareWithin(middle) < confidence) low = middle;
    else high = middle;
  }
  known.set(confidence, high);
  return high;
}

/** Share of a standard normal within z of 0: 2 phi(z) (z + z^3 / 3 + z^5 / (3 x 5) + ...). */
function shareWithin(z: number): number {
  let sum = 0;
  let term = z;
  for (let odd = 3; term > sum * 1e-17; odd += 2) {
    sum += term;
    term *= (z * z) / odd;
  }
  return (2 * sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

/**
 * Wilson score interval of a proportion (E. B. Wilson, 1927): `bad` of `total`, total > 0 and possibly fractional.
 * 1 of 10 at 98 %: [0.0139, 0.47].
 */
export function wilsonBounds(bad: number, total: number, z = Z_98): { readonly low: number; readonly high: number } {
  const ratio = bad / total;
  const z2 = z * z;
  const middle = ratio + z2 / (2 * total);
  const half = z * Math.sqrt((ratio * (1 - ratio)) / total + z2 / (4 * total * total));
  const scale = 1 + z2 / total;
  return { low: Math.max(0, (middle - half) / scale), high: Math.min(1, (middle + half) / scale) };
}
