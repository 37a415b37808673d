import type { Reads, SeriesDescription } from '../binding.ts';
import { caddy } from './caddy.ts';
import { canonical } from './canonical.ts';
import { CONTROL_PLANE_CLUSTERS, envoy } from './envoy.ts';
import { grpc } from './grpc.ts';
import { haproxy } from './haproxy.ts';
import { ingressNginx } from './ingress-nginx.ts';
import { istio } from './istio.ts';
import { kernel } from './kernel.ts';
import { nginx } from './nginx.ts';
import type { CanonicalSeries, Profile, ProfileOptions } from './profile.ts';
import { semconv } from './semconv.ts';
import { traefik } from './traefik.ts';

/** The closed list, asked in this order; the first that knows a metric translates it. */
const PROFILES: readonly Profile[] = [
  canonical,
  traefik,
  haproxy,
  ingressNginx,
  caddy,
  nginx,
  istio,
  grpc,
  kernel,
  semconv,
  envoy,
];

/** Options that leave out clusters with names matched by any of the patterns, which are anchored at both ends. */
export function ignoringClusters(patterns: readonly string[]): ProfileOptions {
  const compiled = patterns.map((pattern) => new RegExp(`^(?:${pattern})$`, 's'));
  return { isIgnoredCluster: (cluster) => compiled.some((pattern) => pattern.test(cluster)) };
}

export const DEFAULT_PROFILE_OPTIONS: ProfileOptions = ignoringClusters(CONTROL_PLANE_CLUSTERS);

export interface Translation {
  /** A profile knew the metric, even if it leaves it out on purpose. */
  readonly understood: boolean;
  /** What the balancer is, where the metric's vocabulary tells. */
  readonly flavor: string | null;
  readonly series: readonly CanonicalSeries[];
  /** What the values are, where their declared type lies. */
  readonly reads?: Reads | undefined;
}

const UNKNOWN: Translation = { understood: false, flavor: null, series: [] };

/** What a received series means in the canonical vocabulary. */
export function translate(
  description: SeriesDescription,
  options: ProfileOptions = DEFAULT_PROFILE_OPTIONS,
): Translation {
  for (const profile of PROFILES) {
    const series = profile.translate(description, options);
    if (series === null) continue;
    const flavor = profile.flavor ?? series[0]?.attributes.get('lb.flavor') ?? null;
    return { understood: true, flavor, series, reads: series[0]?.reads };
  }
  return UNKNOWN;
}
