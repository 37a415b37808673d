import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Attributes } from '../binding.ts';
import { grpcClass, grpcStatus } from './grpc-status.ts';
import { type CanonicalSeries, type Pairs, type Profile, responseClass, textOf } from './profile.ts';
import { counter, type Entry, histogram, milliseconds, type Table, toSeries, value } from './table.ts';

const requests = counter(value('lb.requests'));
const opened = counter(value('lb.connections.opened'));

/**
 * By reporter, since both proxies between two services count the same request: the caller's tells the cluster, the
 * callee's (or the waypoint before it) tells what its clients see.
 */
const TABLE: Table = new Map<string, Entry>([
  ['source requests_total', requests],
  ['destination requests_total', requests],
  ['source request_duration_milliseconds', histogram(milliseconds('http.client.request.duration'))],
  ['destination request_duration_milliseconds', histogram(milliseconds('http.server.request.duration'))],
  ['source tcp_connections_opened_total', opened],
  ['destination tcp_connections_opened_total', opened],
]);

/** `istio_requests_total`, with Envoy's prefix of custom stats where it comes through Envoy's own sink. */
const NAME = /^(?:.*[._])?istio_(\w+)$/;

const CONTROL_PLANE = /^istiod[.-]|^istiod$/;

/** Envoy's response flags as the error types of the vocabulary. */
const ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ['UH', 'no_healthy_upstream'],
  ['UF', 'connect_failure'],
  ['UO', 'circuit_open'],
  ['UT', 'timeout'],
  ['UC', 'upstream_reset'],
  ['UR', 'upstream_reset'],
  ['DC', 'downstream_reset'],
  ['NR', 'no_route'],
  ['RL', 'rate_limited'],
  ['OM', 'overload'],
]);

/** Istio's standard metrics, scraped by a Collector or pushed by the proxies. */
export const istio: Profile = {
  name: 'istio',
  flavor: 'istio',
  translate(description, { isIgnoredCluster }): readonly CanonicalSeries[] | null {
    const metric = NAME.exec(description.name)?.[1];
    if (metric === undefined) return null;
    const { attributes } = description;
    const written = textOf(attributes, 'reporter');
    const reporter = written === 'waypoint' ? 'destination' : written;
    const entry = TABLE.get(`${reporter} ${metric}`) ?? TABLE.get(`${reporter} ${metric}_total`);
    if (entry === undefined) return null;
    const cluster = clusterOf(attributes);
    if (cluster !== undefined && (CONTROL_PLANE.test(cluster) || isIgnoredCluster(cluster))) return [];
    return toSeries(description, entry, [
      [ATTRIBUTE.flavor, 'istio'],
      [ATTRIBUTE.side, reporter === 'source' ? 'upstream' : 'downstream'],
      [ATTRIBUTE.cluster, cluster],
      ...(metric.startsWith('request') ? responseOf(attributes) : []),
    ]);
  },
};

const clusterOf = (attributes: Attributes): string | undefined => {
  const service = textOf(attributes, 'destination_service');
  return service === undefined || service === 'unknown' ? textOf(attributes, 'destination_service_name') : service;
};

function responseOf(attributes: Attributes): Pairs {
  const code = textOf(attributes, 'response_code');
  const status =
    textOf(attributes, 'request_protocol') === 'grpc'
      ? grpcStatus(textOf(attributes, 'grpc_response_status'))
      : undefined;
  const [flag] = (textOf(attributes, 'response_flags') ?? '').split(',');
  const errorType = ERROR_TYPES.get(flag ?? '');
  return [
    [ATTRIBUTE.statusCode, code],
    [ATTRIBUTE.grpcStatus, status],
    [ATTRIBUTE.responseClass, status === undefined ? responseClass(code) : grpcClass(status)],
    [ATTRIBUTE.errorType, errorType],
    // A flag says that the proxy answered in place of a host.
    [ATTRIBUTE.responseSource, errorType === undefined ? 'upstream' : 'proxy'],
  ];
}
