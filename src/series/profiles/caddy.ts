import { ATTRIBUTE } from '../../model/conventions.ts';
import { isOperatorName } from './operator-names.ts';
import { type CanonicalSeries, type Profile, responseClass, textOf } from './profile.ts';
import { countOf, histogram, hosts, level, REPEATED, seconds, type Table, toSeries, value } from './table.ts';

/** The handler that a site with a host name is; what lies in it is not measured. */
const SITE_HANDLER = 'subroute';

const TABLE: Table = new Map([
  // Requests alone carry no status.
  ['caddy_http_request_duration_seconds', histogram(seconds('http.server.request.duration'), countOf('lb.requests'))],
  ['caddy_http_requests_total', REPEATED],
  [
    'caddy_reverse_proxy_upstreams_healthy',
    level(hosts('healthy'), value('lb.upstream.hosts', [[ATTRIBUTE.hostState, 'unhealthy']], { takes: 'complement' })),
  ],
  ['caddy_config_last_reload_success_timestamp_seconds', level(value('lb.config.last_reload.time'))],
]);

/**
 * Caddy's metrics, pushed by itself (2.11) or scraped. It measures each route of a server by its first handler, and one
 * request may pass several: those of sites are taken, others are listed as ignored, since adding them up counts a
 * request twice.
 */
export const caddy: Profile = {
  name: 'caddy',
  flavor: 'caddy',
  translate(description): readonly CanonicalSeries[] | null {
    const { name, attributes } = description;
    const entry = TABLE.get(name);
    if (entry === undefined) return null;
    const server = textOf(attributes, 'server');
    if (isOperatorName(server)) return [];
    const handler = textOf(attributes, 'handler');
    if (handler !== undefined && handler !== SITE_HANDLER) return null;
    const code = textOf(attributes, 'code');
    const isUpstream = name.startsWith('caddy_reverse_proxy_');
    const isRequest = name.startsWith('caddy_http_');
    return toSeries(description, entry, [
      [ATTRIBUTE.flavor, 'caddy'],
      [ATTRIBUTE.side, isUpstream ? 'upstream' : isRequest ? 'downstream' : undefined],
      [ATTRIBUTE.listener, server],
      [ATTRIBUTE.host, textOf(attributes, 'upstream')],
      ['http.request.method', textOf(attributes, 'method')],
      [ATTRIBUTE.statusCode, code],
      [ATTRIBUTE.responseClass, isRequest ? responseClass(code) : undefined],
    ]);
  },
};
