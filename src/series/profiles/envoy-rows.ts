import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Fidelity, Takes } from './profile.ts';

/** One canonical series that a stat feeds. */
export interface Row {
  readonly metric: string;
  readonly takes: Takes;
  readonly weight: number;
  readonly attributes: readonly (readonly [string, string])[];
  readonly fidelity: Fidelity;
}

type Pair = readonly [string, string];

const count = (metric: string, attributes: readonly Pair[] = [], weight = 1): Row => ({
  metric,
  takes: 'value',
  weight,
  attributes,
  fidelity: 'exact',
});
const level = count;
const milliseconds = (metric: string, fidelity: Fidelity): Row => ({
  metric,
  takes: 'buckets',
  weight: 1,
  attributes: [],
  fidelity,
});

const hosts = (state: string, weight = 1): Row => level('lb.upstream.hosts', [[ATTRIBUTE.hostState, state]], weight);
const handshake = (resumed: string, weight = 1): Row =>
  count('lb.tls.handshakes', [[ATTRIBUTE.tlsResumed, resumed]], weight);
const handshakeFailed = (errorType: string): Row => count('lb.tls.handshakes', [[ATTRIBUTE.errorType, errorType]]);
const rejection = (reason: string): Row => count('lb.rejections', [['lb.rejection.reason', reason]]);
const retry = (outcome: string): Row => count('lb.retries', [['lb.retry.outcome', outcome]]);
const reset = (direction: string): Row => count('lb.stream.resets', [['network.io.direction', direction]]);
const ejection = (reason: string | null, enforced: boolean, weight = 1): Row =>
  count(
    'lb.upstream.ejections',
    [
      [ATTRIBUTE.ejectionEnforced, String(enforced)],
      ...(reason === null ? [] : [[ATTRIBUTE.ejectionReason, reason] as const]),
    ],
    weight,
  );
const refused = (kind: string): Row => count('lb.config.rejected', [[ATTRIBUTE.configKind, kind]]);
const circuit = (resource: string): Row => level('lb.upstream.circuit.open', [['lb.circuit.resource', resource]]);

/**
 * Envoy counts every enforced ejection once in `_total` and once under its reason. The total goes to the series without
 * a reason, and each reason moves its share from there to its own series, so that the sum over all is exactly the
 * total.
 */
const byReason = (reason: string): readonly [string, readonly Row[]] => [
  `cluster.outlier_detection.ejections_enforced_${reason}`,
  [ejection(reason, true), ejection(null, true, -1)],
];

/**
 * TLS of listeners (clients) and of clusters (hosts). `handshake` includes resumed ones; `connection_error` no verify
 * failures.
 */
const tlsRows = (family: 'listener' | 'cluster'): readonly (readonly [string, readonly Row[]])[] => [
  [`${family}.ssl.handshake`, [handshake('false')]],
  [`${family}.ssl.session_reused`, [handshake('false', -1), handshake('true')]],
  [`${family}.ssl.connection_error`, [handshakeFailed('tls_failure')]],
  [`${family}.ssl.fail_verify_error`, [handshakeFailed('tls_failure')]],
  [`${family}.ssl.fail_verify_no_cert`, [handshakeFailed('tls_failure')]],
  [`${family}.ssl.fail_verify_san`, [handshakeFailed('tls_failure')]],
  [`${family}.ssl.fail_verify_cert_hash`, [handshakeFailed('tls_failure')]],
  [`${family}.ssl.certificate.expiration_unix_time_seconds`, [level('lb.tls.certificate.not_after')]],
];

const breakers = (priority: string): readonly (readonly [string, readonly Row[]])[] => [
  [`cluster.circuit_breakers.${priority}.cx_open`, [circuit('connections')]],
  [`cluster.circuit_breakers.${priority}.cx_pool_open`, [circuit('pools')]],
  [`cluster.circuit_breakers.${priority}.rq_open`, [circuit('requests')]],
  [`cluster.circuit_breakers.${priority}.rq_pending_open`, [circuit('pending')]],
  [`cluster.circuit_breakers.${priority}.rq_retry_open`, [circuit('retries')]],
];

/**
 * Envoy's stats by family and name, tags taken out. One family per canonical signal: one response moves a dozen
 * counters.
 */
export const ENVOY_ROWS: ReadonlyMap<string, readonly Row[]> = new Map([
  ['http.downstream_rq_xx', [count('lb.requests')]],
  ['http.downstream_rq_time', [milliseconds('http.server.request.duration', 'exact')]],
  ['http.downstream_rq_rx_reset', [reset('receive')]],
  ['http.downstream_rq_tx_reset', [reset('transmit')]],
  ['http.downstream_rq_overload_close', [rejection('admission')]],
  ['http.admission_control.rq_rejected', [rejection('admission')]],
  ['cluster.upstream_rq_xx', [count('lb.requests')]],
  ['cluster.upstream_rq_time', [milliseconds('lb.stage.backend.duration', 'includes_queue_and_retries')]],
  ['cluster.upstream_cx_connect_ms', [milliseconds('lb.stage.connect.duration', 'includes_tls')]],
  ['cluster.upstream_rq_retry', [retry('attempt')]],
  ['cluster.upstream_rq_retry_success', [retry('success')]],
  ['cluster.upstream_rq_retry_overflow', [retry('overflow')]],
  ['cluster.upstream_rq_retry_limit_exceeded', [retry('limit_exceeded')]],
  ['cluster.upstream_rq_pending_overflow', [rejection('circuit_open')]],
  ['cluster.ratelimit.over_limit', [rejection('rate_limited')]],
  ['http_local_rate_limit.enforced', [rejection('rate_limited')]],
  ['cluster.upstream_rq_rx_reset', [reset('receive')]],
  ['cluster.upstream_rq_tx_reset', [reset('transmit')]],
  ['cluster.upstream_cx_rx_bytes_total', [count('lb.bytes.sent')]],
  ['cluster.upstream_cx_total', [count('lb.connections.opened')]],
  ['cluster.upstream_cx_active', [level('lb.connections.active')]],
  ['cluster.http2.streams_active', [level('lb.upstream.streams.active')]],
  ['cluster.upstream_cx_none_healthy', [count('lb.upstream.no_healthy.requests')]],
  ['cluster.lb_healthy_panic', [count('lb.upstream.panic.requests')]],
  ['cluster.ring_hash_lb.max_hashes_per_host', [level('lb.upstream.hash.entries.max')]],
  ['cluster.maglev_lb.max_entries_per_host', [level('lb.upstream.hash.entries.max')]],
  ['cluster.membership_healthy', [hosts('healthy'), hosts('unhealthy', -1)]],
  ['cluster.membership_degraded', [hosts('degraded'), hosts('unhealthy', -1)]],
  ['cluster.membership_excluded', [hosts('excluded'), hosts('unhealthy', -1)]],
  ['cluster.membership_total', [hosts('unhealthy')]],
  ['cluster.outlier_detection.ejections_active', [level('lb.upstream.ejections.active')]],
  ['cluster.outlier_detection.ejections_enforced_total', [ejection(null, true)]],
  ['cluster.outlier_detection.ejections_overflow', [ejection('overflow', false)]],
  byReason('consecutive_5xx'),
  byReason('consecutive_gateway_failure'),
  byReason('consecutive_local_origin_failure'),
  byReason('success_rate'),
  byReason('local_origin_success_rate'),
  byReason('failure_percentage'),
  byReason('failure_percentage_local_origin'),
  ['cluster.endpoint.rq_success', [count('lb.upstream.host.requests')]],
  ['cluster.endpoint.rq_error', [count('lb.upstream.host.requests', [[ATTRIBUTE.responseClass, '5xx']])]],
  ['cluster.endpoint.healthy', [level('lb.upstream.host.healthy')]],
  ['listener.downstream_cx_total', [count('lb.connections.opened')]],
  ['listener.downstream_cx_active', [level('lb.connections.active')]],
  ['listener.downstream_cx_overflow', [count('lb.connections.rejected', [[ATTRIBUTE.errorType, 'overflow']])]],
  ['listener.downstream_cx_overload_reject', [count('lb.connections.rejected', [[ATTRIBUTE.errorType, 'overload']])]],
  ['listener.downstream_cx_transport_socket_connect_timeout', [handshakeFailed('timeout')]],
  ['cluster_manager.cds.update_rejected', [refused('cds')]],
  ['listener_manager.lds.update_rejected', [refused('lds')]],
  ['cluster.update_rejected', [refused('eds')]],
  ['http.rds.update_rejected', [refused('rds')]],
  ...tlsRows('listener'),
  ...tlsRows('cluster'),
  ...breakers('default'),
  ...breakers('high'),
]);

/**
 * Stats that repeat what a row above counts: per attempt, per code, per destination zone or virtual host, by locality,
 * and the deprecated and merely detected ejections. `cluster.retry.*` are the attempts that `upstream_rq_retry` counts.
 */
export const REPEATED_STATS: readonly RegExp[] = [
  /^cluster\.(upstream_rq(_total|_completed|_\d{3})?|upstream_cx_http[123]_total)$/,
  /^cluster\.(retry|external|internal|canary)\.upstream_rq/,
  /^cluster\.zone(\.[^.]+\.[^.]+)?\.upstream_rq/,
  /^cluster\.endpoint\.(rq_total|rq_timeout|cx_total|cx_connect_fail|rq_active|cx_active)$/,
  /^cluster\.outlier_detection\.ejections_(total|consecutive_5xx|success_rate|detected_\w+)$/,
  /^http\.downstream_(rq_(total|completed|http[123]_total)|cx_\w+)$/,
  /^listener\.(worker_\w+|http\.([^.]+\.)?\w+)$/,
];
