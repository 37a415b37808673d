import { ATTRIBUTE } from '../../model/conventions.ts';
import type { SeriesDescription } from '../binding.ts';
import {
  type CanonicalSeries,
  canonicalAttributes,
  isHistogram,
  type Pairs,
  type Profile,
  responseClass,
  secondsPerUnit,
  serverOf,
  textOf,
} from './profile.ts';

/** Routes that only health checks ask for. */
const HEALTH_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

/** OpenTelemetry's HTTP conventions: what a server answered is downstream, what a client asked is upstream. */
export const semconv: Profile = {
  name: 'semconv',
  flavor: null,
  translate(description): readonly CanonicalSeries[] | null {
    const { name, attributes } = description;
    const isServer = name === 'http.server.request.duration';
    if (!isHistogram(description) || (!isServer && name !== 'http.client.request.duration')) return null;
    if (isServer && HEALTH_ROUTES.has(textOf(attributes, 'http.route') ?? '')) return [];
    return isServer ? serverRequest(description) : clientRequest(description);
  },
};

/**
 * Whoever speaks `lb.*` counts its requests itself, as `lb.requests`; counting its durations too would count every
 * request twice. Everyone else's requests are the counts of the durations.
 */
const countsItself = ({ resource, attributes }: SeriesDescription): boolean =>
  resource.has(ATTRIBUTE.flavor) || [...attributes.keys()].some((name) => name.startsWith('lb.'));

function serverRequest(description: SeriesDescription): readonly CanonicalSeries[] {
  const pairs = pairsOf(description, [[ATTRIBUTE.side, 'downstream']]);
  const own = duration(description, pairs);
  return countsItself(description) ? [own] : [own, requests(description, pairs)];
}

function clientRequest(description: SeriesDescription): readonly CanonicalSeries[] {
  const { attributes } = description;
  const pairs = pairsOf(description, [
    [ATTRIBUTE.side, 'upstream'],
    [ATTRIBUTE.host, textOf(attributes, ATTRIBUTE.host) ?? serverOf(attributes)],
    [
      ATTRIBUTE.cluster,
      textOf(attributes, ATTRIBUTE.cluster) ??
        textOf(attributes, 'service.peer.name') ??
        textOf(attributes, 'server.address'),
    ],
  ]);
  const series = [duration(description, pairs)];
  if (!countsItself(description)) series.push(requests(description, pairs));
  return series;
}

/**
 * The point's attributes without `server.*`, which on the server's side is what the client wrote into its Host header.
 */
function pairsOf({ attributes }: SeriesDescription, own: Pairs): readonly (readonly [string, string | undefined])[] {
  const kept = [...attributes].filter(([name]) => !name.startsWith('server.'));
  const written = textOf(attributes, ATTRIBUTE.responseClass);
  return [
    ...kept.map(([name, { text }]) => [name, text] as const),
    [ATTRIBUTE.responseClass, written ?? responseClass(textOf(attributes, ATTRIBUTE.statusCode))],
    ...own,
  ];
}

const duration = (description: SeriesDescription, pairs: Pairs): CanonicalSeries => ({
  metric: description.name,
  attributes: canonicalAttributes(description, pairs),
  takes: 'buckets',
  weight: 1,
  toSeconds: secondsPerUnit(description.unit),
  fidelity: 'exact',
});

const requests = (description: SeriesDescription, pairs: Pairs): CanonicalSeries => ({
  metric: 'lb.requests',
  attributes: canonicalAttributes(description, pairs),
  takes: 'count',
  weight: 1,
  toSeconds: 1,
  fidelity: 'exact',
});
