import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Attributes } from '../binding.ts';
import { type CanonicalSeries, type Pairs, type Profile, responseClass, textOf } from './profile.ts';
import { counter, histogram, level, REPEATED, seconds, type Table, toSeries, value } from './table.ts';

const PREFIX = 'nginx_ingress_controller_';

const DOWNSTREAM = [[ATTRIBUTE.side, 'downstream']] as const;
const UPSTREAM = [[ATTRIBUTE.side, 'upstream']] as const;

/**
 * The controller counts a request once, with its service: it is the client's request and one to the service's cluster.
 * Its upstream durations leave out requests that were retried.
 */
const TABLE: Table = new Map([
  ['requests', counter(value('lb.requests', DOWNSTREAM), value('lb.requests', UPSTREAM))],
  ['request_duration_seconds', histogram(seconds('http.server.request.duration'))],
  ['connect_duration_seconds', histogram(seconds('lb.stage.connect.duration', 'includes_tls'))],
  // From the start of the connect on.
  ['header_duration_seconds', histogram(seconds('lb.stage.backend.duration', 'includes_tls'))],
  ['response_duration_seconds', REPEATED],
  ['ssl_expire_time_seconds', level(value('lb.tls.certificate.not_after'))],
  ['config_last_reload_successful_timestamp_seconds', level(value('lb.config.last_reload.time'))],
]);

/** The Kubernetes ingress-nginx controller, scraped by a Collector. */
export const ingressNginx: Profile = {
  name: 'ingress_nginx',
  flavor: 'ingress_nginx',
  translate(description): readonly CanonicalSeries[] | null {
    const { name, attributes } = description;
    if (!name.startsWith(PREFIX)) return null;
    const metric = name.slice(PREFIX.length);
    const entry = TABLE.get(metric) ?? TABLE.get(metric.replace(/_total$/, ''));
    return entry === undefined ? null : toSeries(description, entry, pairsOf(metric, attributes));
  },
};

/** `namespace/service` is the cluster. Path and host are the client's words and are left out. */
function pairsOf(metric: string, attributes: Attributes): Pairs {
  const status = textOf(attributes, 'status');
  return [
    [ATTRIBUTE.flavor, 'ingress_nginx'],
    [ATTRIBUTE.side, sideOf(metric)],
    [ATTRIBUTE.cluster, clusterOf(attributes)],
    [ATTRIBUTE.route, textOf(attributes, 'ingress')],
    // Elsewhere `host` is what the client wrote.
    [ATTRIBUTE.certificate, metric.startsWith('ssl_') ? textOf(attributes, 'host') : undefined],
    [ATTRIBUTE.responseClass, status === undefined || /^[1-5]xx$/.test(status) ? status : responseClass(status)],
  ];
}

function sideOf(metric: string): string | undefined {
  if (metric === 'request_duration_seconds') return 'downstream';
  return metric.endsWith('_duration_seconds') ? 'upstream' : undefined;
}

/** Requests that no rule matched have no service. */
function clusterOf(attributes: Attributes): string | undefined {
  const namespace = textOf(attributes, 'namespace');
  const service = textOf(attributes, 'service');
  if (service === undefined || service === '') return undefined;
  return namespace === undefined || namespace === '' ? service : `${namespace}/${service}`;
}
