import type { FeatureView } from '../aggregate/features.ts';
import { type EpochMs, earlier, MINUTE, ms } from '../base/units.ts';
import { largestByCluster } from '../detect/clusters.ts';
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
  const told = largestByCluster(features, 'cluster.hosts', now);
  const from = earlier(end, SEEN_WITHIN);
  for (const [cluster, known] of hostsByCluster(features)) {
    const hosts = new Set(known.filter(({ requests }) => requests(from, end) > 0).map(({ host }) => host));
    const sizes = [hosts.size, told.get(cluster) ?? 0].filter((size) => size > 0);
    pools.set(cluster, { size: sizes.length === 0 ? null : Math.min(...sizes), hosts });
  }
  return pools;
}
