import { add, at } from './columns.ts';
import type { Fleet } from './fleet.ts';
import type { FleetSpec } from './fleet-spec.ts';
import { ACTIVE_CHECKS } from './health/active-checks.ts';
import { type Ejection, OUTLIERS } from './health/outlier-ejection.ts';
import { EJECTION_KINDS } from './measures.ts';

/** Balancers probe all clusters in one round, at the shortest interval that any of them asks for, ms. */
export function probeIntervalMs(spec: FleetSpec): number {
  const intervals = spec.clusters.flatMap(({ checks }) => (checks === null ? [] : [checks.intervalMs]));
  return intervals.length === 0 ? ACTIVE_CHECKS.intervalMs : Math.min(...intervals);
}

/** Likewise for comparing success rates, ms. */
export function sweepIntervalMs(spec: FleetSpec): number {
  const intervals = spec.clusters.flatMap(({ outliers }) => (outliers === null ? [] : [outliers.intervalMs]));
  return intervals.length === 0 ? OUTLIERS.intervalMs : Math.min(...intervals);
}

/** One balancer probes every member of every cluster that it checks. Nothing of it is load. */
export function probeRound(fleet: Fleet, balancer: number): void {
  for (let cluster = 0; cluster < fleet.clusterCount; cluster += 1) {
    const { pool } = fleet.route(balancer, cluster);
    if (pool.checks === null) continue;
    const first = at(fleet.firstHost, cluster);
    const count = fleet.spec.clusters[cluster]?.hosts.length ?? 0;
    for (let host = 0; host < count; host += 1) {
      if (!pool.isMember(host)) continue;
      const passed = fleet.probePasses(first + host);
      if (!passed) add(fleet.measures.probesFailed, balancer * fleet.hostCount + first + host, 1);
      pool.probed(host, passed);
    }
  }
}

/** One balancer compares the success rates of each cluster's hosts. Calls `onEjected` for those that went out. */
export function sweepRound(
  fleet: Fleet,
  now: number,
  balancer: number,
  onEjected: (cluster: number, ejection: Ejection) => void,
): void {
  for (let cluster = 0; cluster < fleet.clusterCount; cluster += 1) {
    for (const ejection of fleet.route(balancer, cluster).pool.sweep(now)) {
      countEjection(fleet, balancer, cluster, ejection);
      if (ejection.enforced) onEjected(cluster, ejection);
    }
  }
}

export function countEjection(fleet: Fleet, balancer: number, cluster: number, ejection: Ejection): void {
  const kind = EJECTION_KINDS.indexOf(ejection.enforced ? ejection.reason : 'refused');
  const cell = balancer * fleet.hostCount + at(fleet.firstHost, cluster) + ejection.host;
  add(fleet.measures.ejections, cell * EJECTION_KINDS.length + kind, 1);
}

/** Every second (or step): pinned connections whose age ended, or whose host is gone, move. */
export function repin(fleet: Fleet, elapsedMs: number): void {
  fleet.pinned.forEach((pinned, cluster) => {
    if (pinned === null) return;
    const route = fleet.route(fleet.presentBalancers()[0] ?? 0, cluster);
    const hosts = fleet.spec.clusters[cluster]?.hosts ?? [];
    pinned.pass(
      elapsedMs,
      [...hosts.keys()].filter((host) => route.isUsable(host)),
    );
  });
}
