import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Attributes, SeriesDescription } from '../binding.ts';
import {
  type CanonicalSeries,
  canonicalAttributes,
  type Fidelity,
  isHistogram,
  type Pairs,
  type Profile,
  responseClass,
  secondsPerUnit,
  textOf,
} from './profile.ts';

/** Scopes of balancers, whose client requests are the backend stage; everyone else's are just requests. */
const BALANCER_SCOPES: ReadonlyMap<string, string> = new Map([['github.com/traefik/traefik', 'traefik']]);

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
const countsItself = ({ resource, attributes, scope }: SeriesDescription): boolean =>
  !BALANCER_SCOPES.has(scope.name) &&
  (resource.has(ATTRIBUTE.flavor) || [...attributes.keys()].some((name) => name.startsWith('lb.')));

function serverRequest(description: SeriesDescription): readonly CanonicalSeries[] {
  const pairs = pairsOf(description, [[ATTRIBUTE.side, 'downstream']]);
  const own = duration(description, description.name, pairs, 'exact');
  return countsItself(description) ? [own] : [own, requests(description, pairs)];
}

function clientRequest(description: SeriesDescription): readonly CanonicalSeries[] {
  const { attributes, scope } = description;
  const pairs = pairsOf(description, [
    [ATTRIBUTE.side, 'upstream'],
    [ATTRIBUTE.host, textOf(attributes, ATTRIBUTE.host) ?? hostOf(attributes)],
    [
      ATTRIBUTE.cluster,
      textOf(attributes, ATTRIBUTE.cluster) ??
        textOf(attributes, 'service.peer.name') ??
        textOf(attributes, 'server.address'),
    ],
  ]);
  const series = [duration(description, description.name, pairs, 'exact')];
  if (!countsItself(description)) series.push(requests(description, pairs));
  if (BALANCER_SCOPES.has(scope.name)) {
    // Includes waiting for a connection, dialling and TLS; ends with the response headers.
    series.push(duration(description, 'lb.stage.backend.duration', pairs, 'includes_tls'));
  }
  return series;
}

/** `address:port`; some senders write the port into the address already. */
function hostOf(attributes: Attributes): string | undefined {
  const address = textOf(attributes, 'server.address');
  const port = textOf(attributes, 'server.port');
  return address === undefined || port === undefined || address.endsWith(`:${port}`) ? address : `${address}:${port}`;
}

/**
 * The point's attributes without `server.*`, which on the server's side is what the client wrote into its Host header.
 */
function pairsOf(
  { attributes, scope }: SeriesDescription,
  own: Pairs,
): readonly (readonly [string, string | undefined])[] {
  const kept = [...attributes].filter(([name]) => !name.startsWith('server.'));
  const written = textOf(attributes, ATTRIBUTE.responseClass);
  return [
    [ATTRIBUTE.flavor, BALANCER_SCOPES.get(scope.name)],
    ...kept.map(([name, { text }]) => [name, text] as const),
    [ATTRIBUTE.responseClass, written ?? responseClass(textOf(attributes, ATTRIBUTE.statusCode))],
    ...own,
  ];
}

const duration = (
  description: SeriesDescription,
  metric: string,
  pairs: Pairs,
  fidelity: Fidelity,
): CanonicalSeries => ({
  metric,
  attributes: canonicalAttributes(description, pairs),
  takes: 'buckets',
  weight: 1,
  toSeconds: secondsPerUnit(description.unit),
  fidelity,
});

const requests = (description: SeriesDescription, pairs: Pairs): CanonicalSeries => ({
  metric: 'lb.requests',
  attributes: canonicalAttributes(description, pairs),
  takes: 'count',
  weight: 1,
  toSeconds: 1,
  fidelity: 'exact',
});
