import { ATTRIBUTE } from '../../model/conventions.ts';
import type { SeriesDescription } from '../binding.ts';
import { HAPROXY_ROWS } from './haproxy-rows.ts';
import { isOperatorName } from './operator-names.ts';
import { type CanonicalSeries, type Pairs, type Profile, textOf } from './profile.ts';
import { toSeries } from './table.ts';

/** What a row of HAProxy's statistics stands for. */
type Level = 'frontend' | 'backend' | 'server' | 'listener';

/** Where a value comes from, on either way here. */
interface Place {
  readonly key: string;
  readonly level: Level;
  readonly proxy: string | undefined;
  readonly server: string | undefined;
}

/** HAProxy through the Collector's haproxyreceiver, or its own Prometheus exporter scraped by a Collector. */
export const haproxy: Profile = {
  name: 'haproxy',
  flavor: 'haproxy',
  translate(description, { isIgnoredCluster }): readonly CanonicalSeries[] | null {
    const place = placeOf(description);
    if (place === null) return null;
    const state = textOf(description.attributes, 'state');
    const rowKey = `${place.level} ${place.key}`;
    const entry = HAPROXY_ROWS.get(rowKey) ?? HAPROXY_ROWS.get(`${rowKey} ${state}`);
    if (entry === undefined) return null;
    if (isOperatorName(place.proxy) || isIgnoredCluster(place.proxy ?? '')) return [];
    return toSeries(description, entry, pairsOf(description, place));
  },
};

function placeOf(description: SeriesDescription): Place | null {
  const { name, resource, attributes } = description;
  if (name.startsWith('haproxy.')) {
    const service = textOf(resource, 'haproxy.service_name');
    if (service === undefined) return null;
    const level = service === 'FRONTEND' ? 'frontend' : service === 'BACKEND' ? 'backend' : 'server';
    const server = level === 'server' ? service : undefined;
    return { key: name, level, proxy: textOf(resource, 'haproxy.proxy_name'), server };
  }
  const scraped = /^haproxy_(frontend|backend|server|listener)_(\w+)$/.exec(name);
  if (scraped === null) return null;
  return {
    key: scraped[2] as string,
    level: scraped[1] as Level,
    proxy: textOf(attributes, 'proxy'),
    server: textOf(attributes, 'server'),
  };
}

function pairsOf({ attributes }: SeriesDescription, { level, proxy, server }: Place): Pairs {
  const isFrontend = level === 'frontend';
  const written = textOf(attributes, 'status_code') ?? textOf(attributes, 'code');
  return [
    [ATTRIBUTE.flavor, 'haproxy'],
    [ATTRIBUTE.side, isFrontend ? 'downstream' : 'upstream'],
    [isFrontend ? ATTRIBUTE.listener : ATTRIBUTE.cluster, proxy],
    [ATTRIBUTE.host, server],
    [ATTRIBUTE.responseClass, written === undefined ? undefined : /^[1-5]xx$/.test(written) ? written : 'none'],
  ];
}
