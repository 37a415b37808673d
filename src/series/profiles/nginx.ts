import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Attributes, SeriesDescription } from '../binding.ts';
import { NGINX_ROWS } from './nginx-rows.ts';
import { isOperatorName } from './operator-names.ts';
import { type CanonicalSeries, type Pairs, type Profile, textOf } from './profile.ts';
import { toSeries } from './table.ts';

/** Metrics that have one series per value of an attribute, each of which means something else. */
const TELLING_ATTRIBUTE: ReadonlyMap<string, string> = new Map([
  ['nginx.connections_current', 'state'],
  ['nginx.http.connections', 'nginx.connections.outcome'],
  ['nginx.http.connection.count', 'nginx.connections.outcome'],
  ['nginx.http.response.status', 'nginx.zone.type'],
  ['nginx.http.upstream.peer.count', 'nginx.peer.state'],
  ['nginx.ssl.handshakes', 'nginx.ssl.status'],
]);

/**
 * NGINX through the Collector's nginxreceiver, NGINX Agent 3 (open source from the access log, Plus from its API), and
 * the handshakes of NGINX Plus's Prometheus exporter.
 */
export const nginx: Profile = {
  name: 'nginx',
  flavor: null,
  translate(description, { isIgnoredCluster }): readonly CanonicalSeries[] | null {
    const { name, attributes } = description;
    if (!name.startsWith('nginx.') && !name.startsWith('nginxplus_')) return null;
    const telling = TELLING_ATTRIBUTE.get(name);
    const entry = NGINX_ROWS.get(
      telling === undefined ? name : `${name} ${textOf(attributes, telling) ?? ''}`.trimEnd(),
    );
    if (entry === undefined) return null;
    if (isOperatorName(textOf(attributes, 'nginx.zone.name'))) return [];
    if (isIgnoredCluster(textOf(attributes, 'nginx.upstream.name') ?? '')) return [];
    // A reason splits up the failures that the series without one counts already.
    if (attributes.has('nginx.ssl.handshake.reason')) return [];
    return toSeries(description, entry, pairsOf(description));
  },
};

function pairsOf({ name, scope, attributes }: SeriesDescription): Pairs {
  const isUpstream = name.includes('.upstream.');
  const range = textOf(attributes, 'nginx.status_range');
  const isPlus = name.startsWith('nginxplus_') || scope.name.includes('nginxplusreceiver');
  return [
    [ATTRIBUTE.flavor, isPlus ? 'nginx_plus' : 'nginx'],
    [ATTRIBUTE.side, isUpstream ? 'upstream' : 'downstream'],
    [ATTRIBUTE.cluster, isUpstream ? textOf(attributes, 'nginx.upstream.name') : undefined],
    [ATTRIBUTE.listener, isUpstream ? undefined : textOf(attributes, 'nginx.zone.name')],
    [ATTRIBUTE.host, peerOf(attributes)],
    [ATTRIBUTE.responseClass, range === undefined ? undefined : /^[1-5]xx$/.test(range) ? range : 'none'],
  ];
}

const peerOf = (attributes: Attributes): string | undefined =>
  textOf(attributes, 'nginx.peer.address') ?? textOf(attributes, 'nginx.peer.name');
