import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Attributes } from '../binding.ts';
import { grpcClass, grpcStatus } from './grpc-status.ts';
import { type CanonicalSeries, type Pairs, type Profile, textOf } from './profile.ts';
import {
  counter,
  countOf,
  type Entry,
  explicitHistogram,
  histogram,
  level,
  REPEATED,
  seconds,
  sumOf,
  type Table,
  toSeries,
  value,
} from './table.ts';

const handshakes = counter(value('lb.tls.handshakes'));
const retriesByCall = (): Entry => explicitHistogram(sumOf('lb.retries', [[ATTRIBUTE.retryOutcome, 'attempt']]));

/**
 * A client that balances itself is the balancer: its attempts are requests to the cluster, whose calls repeat them.
 * An attempt includes picking a connection and the whole response. Retries are histograms of how many a call took.
 */
const TABLE: Table = new Map<string, Entry>([
  [
    'grpc.client.attempt.duration',
    histogram(
      countOf('lb.requests'),
      seconds('http.client.request.duration'),
      seconds('lb.stage.backend.duration', 'whole_response'),
    ),
  ],
  ['grpc.client.attempt.started', REPEATED],
  ['grpc.client.call.duration', REPEATED],
  ['grpc.server.call.duration', histogram(countOf('lb.requests'), seconds('http.server.request.duration'))],
  ['grpc.server.call.started', REPEATED],
  ['grpc.client.call.retries', retriesByCall()],
  ['grpc.client.call.transparent_retries', retriesByCall()],
  ['grpc.client.tls.handshakes', handshakes],
  ['grpc.server.tls.handshakes', handshakes],
  ['grpc.subchannel.open_connections', level(value('lb.connections.active'))],
  ['grpc.subchannel.connection_attempts_succeeded', counter(value('lb.connections.opened'))],
  [
    'grpc.subchannel.connection_attempts_failed',
    counter(value('lb.connections.rejected', [[ATTRIBUTE.errorType, 'connect_failure']])),
  ],
  [
    'grpc.lb.outlier_detection.ejections_enforced',
    counter(value('lb.upstream.ejections', [[ATTRIBUTE.ejectionEnforced, 'true']])),
  ],
  [
    'grpc.lb.outlier_detection.ejections_unenforced',
    counter(value('lb.upstream.ejections', [[ATTRIBUTE.ejectionEnforced, 'false']])),
  ],
]);

/** gRPC's own metrics (proposals A66 and later) of clients that balance themselves, and of servers. */
export const grpc: Profile = {
  name: 'grpc',
  flavor: 'grpc',
  translate(description, { isIgnoredCluster }): readonly CanonicalSeries[] | null {
    const { name, attributes } = description;
    const entry = TABLE.get(name);
    if (entry === undefined) return null;
    const cluster = textOf(attributes, 'grpc.lb.backend_service') ?? targetOf(attributes);
    if (cluster !== undefined && isIgnoredCluster(cluster)) return [];
    if (textOf(attributes, 'grpc.method')?.startsWith('grpc.health.') === true) return [];
    if (isUnenforcedByChance(attributes)) return [];
    const isServer = name.startsWith('grpc.server.');
    return toSeries(description, entry, [
      [ATTRIBUTE.flavor, 'grpc'],
      [ATTRIBUTE.side, isServer ? 'downstream' : 'upstream'],
      [ATTRIBUTE.cluster, isServer ? undefined : cluster],
      [ATTRIBUTE.zone, zoneOf(textOf(attributes, 'grpc.lb.locality'))],
      [ATTRIBUTE.route, textOf(attributes, 'grpc.method')],
      ...callOf(attributes),
      ...handshakeOf(attributes),
      ...ejectionOf(attributes),
    ]);
  },
};

/** `cart:443` of `dns:///cart:443`: the scheme only says how the name is resolved. */
const targetOf = (attributes: Attributes): string | undefined =>
  textOf(attributes, 'grpc.target')?.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*\//, '');

function callOf(attributes: Attributes): Pairs {
  const written = textOf(attributes, 'grpc.status');
  if (written === undefined) return [];
  const status = grpcStatus(written);
  return [
    [ATTRIBUTE.grpcStatus, status],
    [ATTRIBUTE.responseClass, status === undefined ? 'none' : grpcClass(status)],
  ];
}

function handshakeOf(attributes: Attributes): Pairs {
  const result = textOf(attributes, 'grpc.tls.handshake.result');
  if (result === undefined) return [];
  const errorType = result === 'SUCCESS' ? undefined : result === 'HANDSHAKE_TIMEOUT' ? 'timeout' : 'tls_failure';
  const kind = errorType === undefined ? textOf(attributes, 'grpc.tls.handshake.resumed') : undefined;
  const resumed = kind === 'FULL_HANDSHAKE' ? 'false' : kind === 'RESUMED_HANDSHAKE' ? 'true' : undefined;
  return [
    [ATTRIBUTE.errorType, errorType],
    [ATTRIBUTE.tlsResumed, resumed],
  ];
}

/** Refused because too many hosts are out already. */
const CAP_REACHED = 'max_ejection_overflow';

const unenforcedReason = (attributes: Attributes): string | undefined =>
  textOf(attributes, 'grpc.lb.outlier_detection.unenforced_reason');

/** A share of ejections is left undone on purpose (its enforcement percentage); only the cap is a refusal. */
const isUnenforcedByChance = (attributes: Attributes): boolean =>
  (unenforcedReason(attributes) ?? CAP_REACHED) !== CAP_REACHED;

function ejectionOf(attributes: Attributes): Pairs {
  const isRefused = unenforcedReason(attributes) !== undefined;
  return [
    [
      ATTRIBUTE.ejectionReason,
      isRefused ? 'overflow' : textOf(attributes, 'grpc.lb.outlier_detection.detection_method'),
    ],
  ];
}

/** Of `{region="r1", zone="z1", sub_zone="s"}`. */
const zoneOf = (locality: string | undefined): string | undefined =>
  /(?:^|[{,\s])zone="([^"]+)"/.exec(locality ?? '')?.[1];
