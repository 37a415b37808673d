import type { Labels } from '../model/labels.ts';

/** Series or readings by the balancer that they are of. */
export function byBalancer<T extends { readonly labels: Labels }>(all: Iterable<T>): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const one of all) {
    const balancer = one.labels.get('balancer');
    if (balancer === undefined) continue;
    const list = found.get(balancer);
    if (list === undefined) found.set(balancer, [one]);
    else list.push(one);
  }
  return found;
}
