import type { Place } from '../model/alert.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import type { Labels } from '../model/labels.ts';
import type { Slo } from './slo.ts';

const PLACES: readonly (readonly [string, keyof Place])[] = [
  [ATTRIBUTE.cluster, 'cluster'],
  [ATTRIBUTE.zone, 'zone'],
  [ATTRIBUTE.host, 'host'],
  [ATTRIBUTE.listener, 'listener'],
  [ATTRIBUTE.region, 'region'],
  [ATTRIBUTE.configVersion, 'configVersion'],
];

/** What the labels of one group of an SLO say of where it is. */
export function placeOfGroup(slo: Slo, labels: Labels): Place {
  const found = PLACES.flatMap(([label, part]) => {
    const value = labels.get(label);
    return value === undefined || value === '' ? [] : [[part, value] as const];
  });
  return { service: slo.service, ...Object.fromEntries(found) };
}
