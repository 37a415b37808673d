import {
  averageMilliseconds,
  counter,
  type Entry,
  ejection,
  growth,
  handshake,
  handshakeFailed,
  hosts,
  level,
  REPEATED,
  rejection,
  type Table,
  turnedAway,
  value,
} from './table.ts';

const active = level(value('lb.connections.active'));
const fullHandshakes = counter(handshake('false'));
const resumedHandshakes = counter(handshake('false', -1), handshake('true'));
const failedHandshakes = counter(handshakeFailed('tls_failure'));

/**
 * By name and, where one metric has several meanings, the value of its telling attribute. Requests are taken from
 * responses by class: a request without its class says neither good nor bad, so `nginx.requests` of the Collector's
 * receiver is not here and listed as ignored.
 */
export const NGINX_ROWS: Table = new Map<string, Entry>([
  // The Collector's receiver: what was accepted and not handled was dropped.
  ['nginx.connections_accepted', counter(value('lb.connections.opened'), turnedAway('overflow'))],
  ['nginx.connections_handled', counter(turnedAway('overflow', -1))],
  ['nginx.connections_current active', active],
  ['nginx.connections_current reading', REPEATED],
  ['nginx.connections_current writing', REPEATED],
  ['nginx.connections_current waiting', REPEATED],

  // NGINX Agent with the open-source NGINX: gauges that hold what came since the last collection.
  ['nginx.http.response.count', growth(value('lb.requests'))],
  ['nginx.http.request.count', REPEATED],

  // NGINX Agent with NGINX Plus. Server zones tell clients; their locations count the same requests.
  ['nginx.http.response.status SERVER', counter(value('lb.requests'))],
  ['nginx.http.response.status LOCATION', REPEATED],
  ['nginx.http.requests', REPEATED],
  ['nginx.http.responses', REPEATED],
  ['nginx.http.connections ACCEPTED', counter(value('lb.connections.opened'))],
  ['nginx.http.connections DROPPED', counter(turnedAway('overflow'))],
  ['nginx.http.connection.count ACTIVE', active],
  ['nginx.http.connection.count IDLE', REPEATED],
  ['nginx.http.upstream.peer.responses', counter(value('lb.requests'))],
  ['nginx.http.upstream.peer.requests', REPEATED],
  // Moving averages. Until the header, as the stage's name says; until the last byte.
  ['nginx.http.upstream.peer.header.time', level(averageMilliseconds('lb.stage.backend.duration'))],
  ['nginx.http.upstream.peer.response.time', REPEATED],
  ['nginx.stream.upstream.peer.connection.time', level(averageMilliseconds('lb.stage.connect.duration'))],
  ['nginx.http.upstream.peer.count UP', level(hosts('healthy'))],
  ['nginx.http.upstream.peer.count DOWN', level(hosts('excluded'))],
  ['nginx.http.upstream.peer.count DRAINING', level(hosts('draining'))],
  ['nginx.http.upstream.peer.count UNAVAILABLE', level(hosts('unhealthy'))],
  ['nginx.http.upstream.peer.count UNHEALTHY', level(hosts('unhealthy'))],
  ['nginx.http.upstream.peer.count CHECKING', level(hosts('unhealthy'))],
  // Taken out of rotation for failing requests of clients.
  ['nginx.http.upstream.peer.unavailables', counter(ejection(null))],
  ['nginx.http.upstream.queue.overflows', counter(rejection('overflow'))],
  ['nginx.http.upstream.queue.usage', level(value('lb.pool_queue.length'))],
  ['nginx.config.reloads', counter(value('lb.config.reloads'))],
  // Successful ones, resumed ones among them; those; and the failed ones.
  ['nginx.ssl.handshakes', fullHandshakes],
  ['nginx.ssl.handshakes REUSE', resumedHandshakes],
  ['nginx.ssl.handshakes FAILED', failedHandshakes],

  // NGINX Plus's Prometheus exporter.
  ['nginxplus_ssl_handshakes', fullHandshakes],
  ['nginxplus_ssl_session_reuses', resumedHandshakes],
  ['nginxplus_ssl_handshakes_failed', failedHandshakes],
]);
