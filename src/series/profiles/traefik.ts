import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Attributes } from '../binding.ts';
import { grpcClass, grpcStatus } from './grpc-status.ts';
import { isOperatorName } from './operator-names.ts';
import { type CanonicalSeries, type Pairs, type Profile, responseClass, serverOf, textOf } from './profile.ts';
import {
  counter,
  countOf,
  histogram,
  hosts,
  level,
  REPEATED,
  retry,
  seconds,
  type Table,
  toSeries,
  value,
} from './table.ts';

const SCOPE = 'github.com/traefik/traefik';

/**
 * One family per canonical signal. Clients: what entry points count, since the conventions' server durations know no
 * entry point and carry the Host header. Clusters: what services count, since the conventions' client durations know
 * no service; those tell hosts. Names that end in `_seconds` are seconds, whatever unit is declared (`ms` before
 * 3.3.4).
 */
const TABLE: Table = new Map([
  ['traefik_entrypoint_requests_total', counter(value('lb.requests'))],
  ['traefik_entrypoint_request_duration_seconds', histogram(seconds('http.server.request.duration'))],
  ['traefik_service_requests_total', counter(value('lb.requests'))],
  // The service's handler: retries, and the body until the client has taken it.
  [
    'traefik_service_request_duration_seconds',
    histogram(seconds('lb.stage.backend.duration', 'includes_queue_and_retries')),
  ],
  ['traefik_service_retries_total', counter(retry('attempt'))],
  // 1 or 0 per server, for services with a health check.
  [
    'traefik_service_server_up',
    level(hosts('healthy'), value('lb.upstream.hosts', [[ATTRIBUTE.hostState, 'unhealthy']], { takes: 'complement' })),
  ],
  ['traefik_service_responses_bytes_total', counter(value('lb.bytes.sent'))],
  ['traefik_entrypoint_responses_bytes_total', REPEATED],
  ['traefik_router_responses_bytes_total', REPEATED],
  ['traefik_open_connections', level(value('lb.connections.active'))],
  ['traefik_tls_certs_not_after', level(value('lb.tls.certificate.not_after'))],
  ['traefik_config_reloads_total', counter(value('lb.config.reloads'))],
  // Declares milliseconds and holds seconds since the epoch.
  ['traefik_config_last_reload_success', level(value('lb.config.last_reload.time'))],
  ['http.server.request.duration', REPEATED],
  [
    'http.client.request.duration',
    histogram(seconds('http.client.request.duration'), countOf('lb.upstream.host.requests')),
  ],
  ['traefik_router_requests_total', REPEATED],
  ['traefik_router_request_duration_seconds', REPEATED],
]);

/** Suffixes that a Collector appends on the way through Prometheus. */
const APPENDED = /_(ratio|milliseconds|seconds)$/;

/** Traefik 3's own OTLP metrics, and the same names through a Prometheus scrape. */
export const traefik: Profile = {
  name: 'traefik',
  flavor: 'traefik',
  translate(description, { isIgnoredCluster }): readonly CanonicalSeries[] | null {
    const { name, scope, attributes } = description;
    if (scope.name !== SCOPE && !name.startsWith('traefik_')) return null;
    const entry = TABLE.get(name) ?? TABLE.get(name.replace(APPENDED, ''));
    if (entry === undefined) return null;
    const service = textOf(attributes, 'service');
    if (service !== undefined && (service.endsWith('@internal') || isIgnoredCluster(service))) return [];
    if (isOwnEntryPoint(textOf(attributes, 'entrypoint'))) return [];
    return toSeries(description, entry, pairsOf(name, attributes));
  },
};

/** `traefik` is where the dashboard, the API and the ping are. */
const isOwnEntryPoint = (name: string | undefined): boolean => name === 'traefik' || isOperatorName(name);

const UPSTREAM = /^(traefik_service_|http\.client\.)/;

function pairsOf(name: string, attributes: Attributes): Pairs {
  const isUpstream = UPSTREAM.test(name);
  const hasSide = isUpstream || name.startsWith('traefik_entrypoint_') || name.startsWith('traefik_open_');
  return [
    [ATTRIBUTE.flavor, 'traefik'],
    [ATTRIBUTE.side, hasSide ? (isUpstream ? 'upstream' : 'downstream') : undefined],
    [ATTRIBUTE.cluster, textOf(attributes, 'service')],
    [ATTRIBUTE.listener, textOf(attributes, 'entrypoint')],
    [ATTRIBUTE.host, textOf(attributes, 'url') ?? serverOf(attributes)],
    [ATTRIBUTE.certificate, textOf(attributes, 'cn')],
    ['http.request.method', textOf(attributes, 'method') ?? textOf(attributes, 'http.request.method')],
    ['error.type', textOf(attributes, 'error.type')],
    ...responseOf(name, attributes),
  ];
}

/** What was answered. For gRPC `code` is the gRPC status, 0 to 16; without one it is HTTP's. */
function responseOf(name: string, attributes: Attributes): Pairs {
  const code = textOf(attributes, 'code') ?? textOf(attributes, ATTRIBUTE.statusCode);
  if (code === undefined) return name.includes('request') ? [[ATTRIBUTE.responseClass, 'none']] : [];
  const isGrpc = textOf(attributes, 'protocol')?.startsWith('grpc') === true;
  const status = isGrpc ? grpcStatus(code) : undefined;
  if (status === undefined) {
    return [
      [ATTRIBUTE.statusCode, code],
      [ATTRIBUTE.responseClass, responseClass(code)],
    ];
  }
  return [
    [ATTRIBUTE.grpcStatus, status],
    [ATTRIBUTE.responseClass, grpcClass(status)],
  ];
}
