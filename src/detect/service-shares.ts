import type { BalancerState, FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { byCluster, type ClusterCounter, counterOf } from './clusters.ts';
import { type Summed, sumOf } from './sums.ts';

/**
 * A service as balancers tell it: the listener (frontend, entry point) that its clients connect to, or the cluster that
 * its requests go to. No balancer tells CPU by service: handshakes, connections and requests are what costs it.
 */
export interface Service {
  readonly kind: 'listener' | 'cluster';
  readonly name: string;
}

export const SHARED = {
  handshakes: 'TLS handshakes',
  connections: 'new connections',
  requests: 'requests',
} as const;
export type Shared = keyof typeof SHARED;

/** What one service asks of balancers that it shares with others, and what all of them ask of those. */
export interface ServiceCount {
  readonly service: Service;
  readonly measure: Shared;
  readonly balancers: readonly BalancerState[];
  readonly own: Summed;
  readonly all: () => Summed;
}

/** Each service that shares balancers which are heard with another, by what is told of it. */
export function serviceCounts(view: FeatureView, balancers: readonly BalancerState[]): readonly ServiceCount[] {
  return [
    ...listenerCounts('handshakes', view.features('tls.handshakes'), balancers),
    ...listenerCounts('connections', view.features('balancer.connections'), balancers),
    ...clusterCounts(view, balancers),
  ];
}

function listenerCounts(
  measure: Shared,
  series: Iterable<FeatureSeries>,
  balancers: readonly BalancerState[],
): readonly ServiceCount[] {
  const states = new Map(balancers.map((one) => [one.id, one]));
  const listeners = new Map<string, { balancer: BalancerState; series: FeatureSeries }[]>();
  for (const one of series) {
    const listener = one.labels.get('listener');
    const balancer = states.get(one.labels.get('balancer') ?? '');
    if (listener === undefined || balancer === undefined) continue;
    const list = listeners.get(listener);
    if (list === undefined) listeners.set(listener, [{ balancer, series: one }]);
    else list.push({ balancer, series: one });
  }
  if (listeners.size < 2) return [];
  return [...listeners].map(([name, own]) => {
    const serving = new Set(own.map(({ balancer }) => balancer));
    const beside = () => [...listeners.values()].flat().filter(({ balancer }) => serving.has(balancer));
    return {
      service: { kind: 'listener', name },
      measure,
      balancers: [...serving],
      own: sumOf(own.map((one) => one.series)),
      all: () => sumOf(beside().map((one) => one.series)),
    };
  });
}

function clusterCounts(view: FeatureView, balancers: readonly BalancerState[]): readonly ServiceCount[] {
  const counters = byCluster(view, 'cluster.requests');
  const serving = new Map<string, BalancerState[]>();
  for (const balancer of balancers) {
    for (const cluster of balancer.clusters) {
      const list = serving.get(cluster);
      if (list === undefined) serving.set(cluster, [balancer]);
      else list.push(balancer);
    }
  }
  return [...counters].flatMap(([name, own]): ServiceCount[] => {
    const shared = serving.get(name);
    if (shared === undefined) return [];
    const all = (): Summed => {
      const beside = new Set([name, ...shared.flatMap(({ clusters }) => clusters)]);
      return together([...beside].map((cluster) => counterOf(counters, cluster)));
    };
    return [{ service: { kind: 'cluster', name }, measure: 'requests', balancers: shared, own, all }];
  });
}

function together(counters: readonly ClusterCounter[]): Summed {
  const firsts = counters.map(({ firstDataAt }) => firstDataAt).filter((at) => at !== null);
  return {
    firstDataAt: firsts.length === 0 ? null : epochMs(Math.min(...firsts)),
    range: (from: EpochMs, to: EpochMs) => counters.reduce((sum, one) => sum + one.range(from, to), 0),
  };
}
