import type { FeatureView } from '../aggregate/features.ts';
import { type EpochMs, earlier, MINUTE, ms } from '../base/units.ts';
import { hostsByCluster } from '../detect/hosts.ts';
import type { Pool } from '../hook/plan.ts';

/** Hosts that took a request in this time are there. */
const SEEN_WITHIN = ms(5 * MINUTE);

/**
 * The pools that are there now. Their size is the smaller of how many hosts take requests and of how many balancers
 * tell, where both are known: a bound that is a share of it must not grow with hosts that are gone.
 */
export function poolsOf(features: FeatureView, now: EpochMs): ReadonlyMap<string, Pool> {
  const pools = new Map<string, Pool>();
  const end = features.watermark(now);
  if (end === null) return pools;
  const told = toldSizes(features, now);
  const from = earlier(end, SEEN_WITHIN);
  for (const [cluster, known] of hostsByCluster(features)) {
    const hosts = new Set(known.filter(({ requests }) => requests(from, end) > 0).map(({ host }) => host));
    const sizes = [hosts.size, told.get(cluster) ?? 0].filter((size) => size > 0);
    pools.set(cluster, { size: sizes.length === 0 ? null : Math.min(...sizes), hosts });
  }
  return pools;
}

/** Hosts of a cluster by the balancer that knows most of them; a state is told beside the others. */
function toldSizes(features: FeatureView, now: EpochMs): ReadonlyMap<string, number> {
  const sums = new Map<string, Map<string, number>>();
  for (const { labels, value } of features.gauges('cluster.hosts', now)) {
    const cluster = labels.get('cluster');
    if (cluster === undefined) continue;
    const byBalancer = sums.get(cluster) ?? new Map<string, number>();
    sums.set(cluster, byBalancer);
    const balancer = labels.get('balancer') ?? '';
    byBalancer.set(balancer, (byBalancer.get(balancer) ?? 0) + value);
  }
  return new Map([...sums].map(([cluster, byBalancer]) => [cluster, Math.max(...byBalancer.values())]));
}
