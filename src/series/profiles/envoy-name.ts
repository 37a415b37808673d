import { ENVOY_ROWS, REPEATED_STATS } from './envoy-rows.ts';

/** A stat's name taken apart. */
export interface EnvoyName {
  /** Family and stat with all tags taken out: `cluster.upstream_rq_xx`. */
  readonly stat: string;
  readonly family: 'cluster' | 'http' | 'listener' | 'http_local_rate_limit' | 'cluster_manager' | 'listener_manager';
  /**
   * What stood between family and stat: the cluster, listener or prefix, or the part of it that tag extraction left
   * behind.
   */
  readonly middle: string;
  /** `5` where the class stood in the name (`upstream_rq_5xx`). */
  readonly classDigit: string | null;
  /** Known, and told elsewhere already. */
  readonly isRepeated: boolean;
}

const FAMILIES: ReadonlySet<string> = new Set([
  'cluster',
  'http',
  'listener',
  'http_local_rate_limit',
  'cluster_manager',
  'listener_manager',
]);
const STAT_TOKENS_MAX = 3;
const SUBFAMILIES: ReadonlySet<string> = new Set([
  'retry',
  'external',
  'internal',
  'canary',
  'zone',
  'endpoint',
  'http',
]);

/**
 * Takes `[prefix.]cluster.<cluster>.upstream_rq_5xx` apart, or what tag extraction leaves of it. The stat is matched by
 * its last tokens: a cluster's name may hold dots, of which extraction takes only the first token. Null for anything
 * that no family of Envoy's explains.
 */
export function parseEnvoyName(name: string): EnvoyName | null {
  const tokens = name.split('.');
  const at = tokens.findIndex((token) => FAMILIES.has(token));
  if (at === -1) return parseUnderscored(name);
  const family = tokens[at] as EnvoyName['family'];
  const rest = tokens.slice(at + 1);
  const classed = /^((?:up|down)stream_rq)_([1-5])xx$/.exec(rest.at(-1) ?? '');
  if (classed !== null) rest[rest.length - 1] = `${classed[1]}_xx`;
  const classDigit = classed?.[2] ?? null;
  for (let length = Math.min(STAT_TOKENS_MAX, rest.length); length > 0; length -= 1) {
    const stat = `${family}.${rest.slice(-length).join('.')}`;
    const before = rest.slice(0, -length);
    if (ENVOY_ROWS.has(stat)) {
      const isRepeated = SUBFAMILIES.has(before.at(-1) ?? '') || before.at(-3) === 'zone';
      return { stat, family, middle: before.join('.'), classDigit, isRepeated };
    }
    if (isRepeatedStat(stat)) return { stat, family, middle: before.join('.'), classDigit, isRepeated: true };
  }
  return null;
}

const isRepeatedStat = (stat: string): boolean => REPEATED_STATS.some((pattern) => pattern.test(stat));

/**
 * What collectors make of the names on the way through Prometheus: `envoy_cluster_upstream_rq_xx`, perhaps with a
 * suffix.
 */
const UNDERSCORED: ReadonlyMap<string, string> = new Map(
  [...ENVOY_ROWS.keys()].map((stat) => [`envoy_${stat.replaceAll('.', '_')}`, stat]),
);

function parseUnderscored(name: string): EnvoyName | null {
  const stat = UNDERSCORED.get(name) ?? UNDERSCORED.get(name.replace(/(_total|_milliseconds|_ratio)$/, ''));
  if (stat === undefined) return null;
  const family = stat.slice(0, stat.indexOf('.')) as EnvoyName['family'];
  return { stat, family, middle: '', classDigit: null, isRepeated: false };
}
