/** Quantile of the standard normal for a two-sided 98 % interval. */
export const Z_98 = 2.3263478740408408;

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
