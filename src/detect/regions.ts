import type { BalancerState } from '../aggregate/features.ts';
import type { Place } from '../model/alert.ts';
import { type Labels, labelsOf } from '../model/labels.ts';

/** Balancers of one region, of which one alert tells. Where no region is told the whole fleet is one. */
export interface Region {
  readonly name: string | null;
  readonly identity: Labels;
  readonly balancers: readonly BalancerState[];
}

/** Regions in the order of their names. */
export function regionsOf(balancers: readonly BalancerState[]): readonly Region[] {
  const byName = new Map<string, BalancerState[]>();
  for (const balancer of balancers) {
    const list = byName.get(balancer.region ?? '');
    if (list === undefined) byName.set(balancer.region ?? '', [balancer]);
    else list.push(balancer);
  }
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, members]) => ({
      name: name === '' ? null : name,
      identity: regionIdentity(name),
      balancers: members,
    }));
}

const regionIdentity = (name: string): Labels => labelsOf([name === '' ? ['scope', 'fleet'] : ['region', name]]);

/** The narrowest place that holds all of the balancers. */
export function placeOf(balancers: readonly BalancerState[]): Place {
  const [first] = balancers;
  if (first === undefined) return {};
  const isShared = (part: 'zone' | 'region'): boolean => balancers.every((one) => one[part] === first[part]);
  return {
    ...(first.region !== null && isShared('region') && { region: first.region }),
    ...(first.zone !== null && isShared('zone') && { zone: first.zone }),
    ...(balancers.length === 1 && { balancer: first.id }),
  };
}

/** `balancer edge-1`, `3 balancers of zone a`, `5 balancers of region north`, `12 balancers`. */
export function balancersText(balancers: readonly BalancerState[]): string {
  const { balancer, zone, region } = placeOf(balancers);
  if (balancer !== undefined) return `balancer ${balancer}`;
  const where = zone === undefined ? (region === undefined ? '' : ` of region ${region}`) : ` of zone ${zone}`;
  return `${balancers.length} balancers${where}`;
}

/** The first few names, and how many more there are. */
export function namesText(names: readonly string[], shown = 5): string {
  const more = names.length - shown;
  return more > 0 ? `${names.slice(0, shown).join(', ')} and ${more} more` : names.join(', ');
}
