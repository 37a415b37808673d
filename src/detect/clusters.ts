import type { BalancerState, FeatureName, FeatureSeries, FeatureView } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';

/** All series of one feature that belong to one cluster, read as one. */
export interface ClusterCounter {
  readonly firstDataAt: EpochMs | null;
  range(from: EpochMs, to: EpochMs): number;
}

const NONE: ClusterCounter = { firstDataAt: null, range: () => 0 };

/** Sums a feature over zones, balancers and hosts, by cluster, in the order of the names. */
export function byCluster(view: FeatureView, name: FeatureName): ReadonlyMap<string, ClusterCounter> {
  const members = new Map<string, FeatureSeries[]>();
  for (const series of view.features(name)) {
    const cluster = series.labels.get('cluster');
    if (cluster === undefined) continue;
    const list = members.get(cluster);
    if (list === undefined) members.set(cluster, [series]);
    else list.push(series);
  }
  const clusters = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(clusters.map(([cluster, series]) => [cluster, sumOf(series)]));
}

export const counterOf = (counters: ReadonlyMap<string, ClusterCounter>, cluster: string): ClusterCounter =>
  counters.get(cluster) ?? NONE;

/** Whether a balancer that is heard feeds the cluster: only then can its silence be told from its quiet. */
export const isReported = (balancers: readonly BalancerState[], cluster: string): boolean =>
  balancers.some((balancer) => !balancer.stale && balancer.clusters.includes(cluster));

/** Clusters that some balancer that is heard feeds. */
export const reportedClusters = (balancers: readonly BalancerState[]): ReadonlySet<string> =>
  new Set(balancers.flatMap(({ stale, clusters }) => (stale ? [] : clusters)));

/**
 * Per cluster the largest sum over states that one balancer reports: each balancer sees the whole pool, so that adding
 * balancers up would count a host many times.
 */
export function largestByCluster(
  view: FeatureView,
  name: 'cluster.hosts' | 'cluster.ejections.active',
  now: EpochMs,
): ReadonlyMap<string, number> {
  const perBalancer = new Map<string, { cluster: string; sum: number }>();
  for (const { labels, value } of view.gauges(name, now)) {
    const cluster = labels.get('cluster');
    if (cluster === undefined) continue;
    const key = JSON.stringify([cluster, labels.get('balancer')]);
    perBalancer.set(key, { cluster, sum: (perBalancer.get(key)?.sum ?? 0) + value });
  }
  const largest = new Map<string, number>();
  for (const { cluster, sum } of perBalancer.values()) largest.set(cluster, Math.max(largest.get(cluster) ?? 0, sum));
  return largest;
}

function sumOf(series: readonly FeatureSeries[]): ClusterCounter {
  const firsts = series.map(({ firstDataAt }) => firstDataAt).filter((at) => at !== null);
  return {
    firstDataAt: firsts.length === 0 ? null : (Math.min(...firsts) as EpochMs),
    range: (from, to) => series.reduce((total, one) => total + one.range(from, to), 0),
  };
}
