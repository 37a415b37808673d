import { ATTRIBUTE } from '../../model/conventions.ts';
import type { Attributes, SeriesDescription } from '../binding.ts';
import { type EnvoyName, parseEnvoyName } from './envoy-name.ts';
import { ENVOY_ROWS, type Row } from './envoy-rows.ts';
import {
  type CanonicalSeries,
  canonicalAttributes,
  isCounter,
  isHistogram,
  isLevel,
  type Profile,
  type ProfileOptions,
  textOf,
} from './profile.ts';

/** Clusters of an Envoy that serve the Envoy itself. */
export const CONTROL_PLANE_CLUSTERS: readonly string[] = [
  'slo_ingest',
  'slowburn.*',
  'xds.*',
  'sds.*',
  'otlp.*',
  'opentelemetry_collector',
  'prometheus_stats',
  'admin',
];

/** Listeners and connection managers that serve operators and health checks, no clients. */
const OPERATOR_LISTENERS = /^(admin|stats|prometheus|health(_?checks?|z)?)$/;

const SECONDS_PER_MS = 1e-3;

/** Envoy's OpenTelemetry stats sink, any flags and prefix, and the same stats through a Prometheus scrape. */
export const envoy: Profile = {
  name: 'envoy',
  flavor: 'envoy',
  translate(description, { isIgnoredCluster }): readonly CanonicalSeries[] | null {
    if (!isEnvoys(description)) return null;
    const name = parseEnvoyName(description.name);
    if (name === null) return null;
    if (name.isRepeated || isOwn(description, name, isIgnoredCluster)) return [];
    const rows = ENVOY_ROWS.get(name.stat) ?? [];
    const digit = classDigit(description, name);
    // Without its class a response says neither good nor bad.
    if (name.stat.endsWith('_rq_xx') && digit === undefined) return null;
    if (!rows.every((row) => fits(description, row))) return null;
    return rows.map((row) => toCanonical(description, name, row, digit));
  },
};

/**
 * Its SDK name, its tags, its names' prefix; or the empty scope that only it has, which the names then must confirm.
 */
function isEnvoys({ name, resource, scope, attributes }: SeriesDescription): boolean {
  if (textOf(resource, 'telemetry.sdk.name') === 'envoy' || name.startsWith('envoy_')) return true;
  return scope.name === '' || [...attributes.keys()].some((key) => key.startsWith('envoy.'));
}

/** A tag under the names that it has on the several ways here: default, through Prometheus, Istio. */
const tagOf = (attributes: Attributes, tag: string): string | undefined =>
  textOf(attributes, `envoy.${tag}`) ?? textOf(attributes, `envoy_${tag}`) ?? textOf(attributes, tag);

/** The tag with what extraction left of a dotted name; `default` tags alone and names alone come out as they are. */
function joined(tag: string | undefined, middle: string): string | undefined {
  if (middle === '') return tag;
  return tag === undefined ? middle : `${tag}.${middle}`;
}

const clusterOf = ({ attributes }: SeriesDescription, name: EnvoyName): string | undefined =>
  name.family === 'cluster' ? joined(tagOf(attributes, 'cluster_name'), name.middle) : undefined;

function listenerOf({ attributes }: SeriesDescription, name: EnvoyName): string | undefined {
  if (name.family !== 'http' && name.family !== 'listener') return undefined;
  const tag = name.family === 'http' ? 'http_conn_manager_prefix' : 'listener_address';
  return joined(tagOf(attributes, tag), name.middle);
}

function isOwn(
  description: SeriesDescription,
  name: EnvoyName,
  isIgnoredCluster: ProfileOptions['isIgnoredCluster'],
): boolean {
  const cluster = clusterOf(description, name);
  if (cluster !== undefined) return isIgnoredCluster(cluster);
  return OPERATOR_LISTENERS.test(listenerOf(description, name) ?? '');
}

function classDigit({ attributes }: SeriesDescription, name: EnvoyName): string | undefined {
  const written = name.classDigit ?? tagOf(attributes, 'response_code_class')?.charAt(0);
  return written !== undefined && /^[1-5]$/.test(written) ? written : undefined;
}

/** Levels for what is a level, counters and histograms for the rest: the type decides, not the name. */
function fits(description: SeriesDescription, { metric, takes }: Row): boolean {
  if (takes === 'buckets') return isHistogram(description);
  return LEVELS.has(metric) ? isLevel(description) : isCounter(description);
}

const LEVELS: ReadonlySet<string> = new Set([
  'lb.upstream.hosts',
  'lb.upstream.host.healthy',
  'lb.upstream.ejections.active',
  'lb.upstream.circuit.open',
  'lb.upstream.streams.active',
  'lb.connections.active',
  'lb.upstream.hash.entries.max',
  'lb.tls.certificate.not_after',
]);

function toCanonical(
  description: SeriesDescription,
  name: EnvoyName,
  row: Row,
  digit: string | undefined,
): CanonicalSeries {
  const { attributes } = description;
  const priority = /circuit_breakers\.(\w+)\./.exec(name.stat)?.[1];
  return {
    metric: row.metric,
    attributes: canonicalAttributes(description, [
      [ATTRIBUTE.flavor, 'envoy'],
      [ATTRIBUTE.side, name.family === 'cluster' ? 'upstream' : 'downstream'],
      [ATTRIBUTE.cluster, clusterOf(description, name)],
      [ATTRIBUTE.listener, listenerOf(description, name)],
      [ATTRIBUTE.zone, tagOf(attributes, 'to_zone')],
      [ATTRIBUTE.host, tagOf(attributes, 'endpoint_address')],
      ['lb.tls.certificate.name', tagOf(attributes, 'tls_certificate')],
      ['lb.priority', priority],
      [ATTRIBUTE.responseClass, digit === undefined ? undefined : `${digit}xx`],
      ...row.attributes,
    ]),
    takes: row.takes,
    weight: row.weight,
    // Envoy sends no unit; its duration histograms are in milliseconds.
    toSeconds: row.takes === 'buckets' ? SECONDS_PER_MS : 1,
    fidelity: row.fidelity,
  };
}
