import { ATTRIBUTE, canonicalMetric } from '../../model/conventions.ts';
import type { SeriesDescription } from '../binding.ts';
import {
  type CanonicalSeries,
  canonicalAttributes,
  isCounter,
  isHistogram,
  isLevel,
  ownPairs,
  type Profile,
  responseClass,
  secondsPerUnit,
  textOf,
} from './profile.ts';

/**
 * A balancer, or a configuration of one, that emits `lb.*` itself: taken as it stands, where the type is what the name
 * promises.
 */
export const canonical: Profile = {
  name: 'canonical',
  flavor: null,
  translate(description): readonly CanonicalSeries[] | null {
    if (!description.name.startsWith('lb.')) return null;
    const metric = canonicalMetric(description.name);
    if (metric === undefined) return null;
    const fits = { counter: isCounter, histogram: isHistogram, gauge: isLevel }[metric.type];
    if (!fits(description)) return null;
    const takesBuckets = metric.type === 'histogram';
    return [
      {
        metric: metric.name,
        attributes: canonicalAttributes(description, [
          ...ownPairs(description.attributes),
          [ATTRIBUTE.responseClass, classOf(description)],
        ]),
        takes: takesBuckets ? 'buckets' : 'value',
        weight: 1,
        toSeconds: takesBuckets ? secondsPerUnit(description.unit) : 1,
        fidelity: 'exact',
      },
    ];
  },
};

/** `5` (Envoy's tag under our name) and a plain status mean `5xx`; undefined where neither is sent. */
function classOf({ attributes }: SeriesDescription): string | undefined {
  const written = textOf(attributes, ATTRIBUTE.responseClass);
  if (written !== undefined) return /^[1-5]$/.test(written) ? `${written}xx` : undefined;
  const status = textOf(attributes, ATTRIBUTE.statusCode);
  return status === undefined ? undefined : responseClass(status);
}
