import { ATTRIBUTE } from '../../model/conventions.ts';
import {
  averageMilliseconds,
  averageSeconds,
  counter,
  current,
  type Entry,
  ejection,
  handshake,
  handshakeFailed,
  hosts,
  level,
  REPEATED,
  retry,
  type Table,
  total,
  value,
} from './table.ts';

const requests = counter(value('lb.requests'));
const bytes = counter(value('lb.bytes.sent'));
const hostRequests = counter(value('lb.upstream.host.requests'));
const failedChecks = counter(value('lb.upstream.health_checks.failed'));
/** A session is a connection, or one stream of HTTP/2. */
const sessions = current(value('lb.connections.active', [], { fidelity: 'proxy_signal' }));
const queued = current(value('lb.pool_queue.length'));
/** Attempts to connect again, to the same server or another one. Requests that are sent again are not told. */
const reconnects = counter(retry('attempt', 'proxy_signal'));
const aborted = (side: string): Entry =>
  counter(
    value(
      'lb.stream.resets',
      [
        [ATTRIBUTE.side, side],
        [ATTRIBUTE.ioDirection, 'receive'],
      ],
      { fidelity: 'proxy_signal' },
    ),
  );

/** Averages over the last 1024 connections. HAProxy sends no histogram. */
const averages: readonly (readonly [receiver: string, scraped: string, metric: string])[] = [
  ['haproxy.sessions.average', 'total_time_average_seconds', 'http.server.request.duration'],
  ['haproxy.connections.average_time', 'connect_time_average_seconds', 'lb.stage.connect.duration'],
  // Despite its name the wait for a server, not for the accept.
  ['haproxy.requests.average_time', 'queue_time_average_seconds', 'lb.stage.pool_queue.duration'],
  ['haproxy.responses.average_time', 'response_time_average_seconds', 'lb.stage.backend.duration'],
];

const averageEntries: readonly (readonly [string, Entry])[] = averages.flatMap(([receiver, scraped, metric]) => [
  [`backend ${receiver}`, level(averageMilliseconds(metric))],
  [`server ${receiver}`, REPEATED],
  [`backend ${scraped}`, level(averageSeconds(metric))],
  [`server ${scraped}`, REPEATED],
]);

/** Handshakes, resumed ones included; gauges in some versions. */
const tlsEntries = (key: string): readonly (readonly [string, Entry])[] => [
  [`${key} ssl_sess`, total(handshake('false'))],
  [`${key} ssl_reused_sess`, total(handshake('false', -1), handshake('true'))],
  [`${key} ssl_failed_handshake`, total(handshakeFailed('tls_failure'))],
];

/**
 * By level, name and, where one metric has a series per state, state. Each signal is taken from one level, since all
 * levels count the same request: clients from frontends, clusters from backends, hosts from servers.
 */
export const HAPROXY_ROWS: Table = new Map<string, Entry>([
  ['frontend haproxy.requests.total', requests],
  ['backend haproxy.requests.total', requests],
  ['server haproxy.requests.total', hostRequests],
  ['frontend haproxy.sessions.count', sessions],
  ['backend haproxy.sessions.count', sessions],
  ['server haproxy.sessions.count', REPEATED],
  ['backend haproxy.bytes.output', bytes],
  ['frontend haproxy.bytes.output', REPEATED],
  ['server haproxy.bytes.output', REPEATED],
  // Declared a counter.
  ['backend haproxy.requests.queued', queued],
  ['server haproxy.requests.queued', REPEATED],
  ['backend haproxy.connections.retries', reconnects],
  ['server haproxy.connections.retries', REPEATED],
  ['backend haproxy.requests.redispatched', reconnects],
  ['server haproxy.requests.redispatched', REPEATED],
  ['backend haproxy.active', current(hosts('healthy'))],
  ['server haproxy.active', REPEATED],
  ['server haproxy.failed_checks', failedChecks],
  ['backend haproxy.clients.canceled', aborted('downstream')],
  ['server haproxy.clients.canceled', REPEATED],

  ['frontend http_responses_total', requests],
  ['backend http_responses_total', requests],
  ['server http_responses_total', hostRequests],
  ['listener http_responses_total', REPEATED],
  ['frontend http_requests_total', REPEATED],
  ['backend http_requests_total', REPEATED],
  ['frontend current_sessions', sessions],
  ['backend current_sessions', sessions],
  ['server current_sessions', REPEATED],
  ['listener current_sessions', REPEATED],
  ['backend bytes_out_total', bytes],
  ['frontend bytes_out_total', REPEATED],
  ['server bytes_out_total', REPEATED],
  ['listener bytes_out_total', REPEATED],
  ['backend current_queue', queued],
  ['server current_queue', REPEATED],
  ['backend retry_warnings_total', reconnects],
  ['server retry_warnings_total', REPEATED],
  ['backend redispatch_warnings_total', reconnects],
  ['server redispatch_warnings_total', REPEATED],
  ['backend agg_server_status UP', level(hosts('healthy'))],
  ['backend agg_server_status DOWN', level(hosts('unhealthy'))],
  ['backend agg_server_status DRAIN', level(hosts('draining'))],
  ['backend agg_server_status NOLB', level(hosts('draining'))],
  ['backend agg_server_status MAINT', level(hosts('excluded'))],
  ['backend active_servers', REPEATED],
  ['server status', REPEATED],
  ['server check_failures_total', failedChecks],
  ['server check_up_down_total', counter(ejection('health_check'))],
  ['backend client_aborts_total', aborted('downstream')],
  ['server client_aborts_total', REPEATED],
  ['backend server_aborts_total', aborted('upstream')],
  ['server server_aborts_total', REPEATED],
  ...tlsEntries('frontend'),
  ...tlsEntries('backend'),
  ...['ssl_sess', 'ssl_reused_sess', 'ssl_failed_handshake'].flatMap((name): [string, Entry][] => [
    [`listener ${name}`, REPEATED],
    [`server ${name}`, REPEATED],
  ]),
  ...averageEntries,
]);
