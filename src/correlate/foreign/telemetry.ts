import type { EpochMs } from '../../base/units.ts';
import type { Place } from '../../model/alert.ts';

/** A balancer, as far as it says whether what an alert is about is still seen. */
export interface ReportingBalancer {
  readonly id: string;
  readonly zone: string | null;
  readonly clusters: readonly string[];
  readonly newestPointAt: EpochMs;
  readonly stale: boolean;
}

/** Our own telemetry of a place. */
export interface Telemetry {
  /** The part of the place that it is of, for a person: `cluster checkout`. */
  readonly what: string;
  readonly newestPointAt: EpochMs;
  /** Every balancer that told of it is silent. */
  readonly isLost: boolean;
}

/**
 * What our balancers tell of an alert's place: of its balancer, else of its cluster, else of its host (which may itself
 * be a balancer), else of its zone. Null where none of them ever told of it.
 */
export function telemetryOf(place: Place, balancers: readonly ReportingBalancer[]): Telemetry | null {
  const { balancer, cluster, host, zone } = place;
  return (
    of('balancer', balancer, balancers, ({ id }) => id === balancer) ??
    of('cluster', cluster, balancers, ({ clusters }) => clusters.includes(cluster ?? '')) ??
    of('balancer', host, balancers, ({ id }) => id === host) ??
    of('zone', zone, balancers, (one) => one.zone === zone)
  );
}

function of(
  kind: string,
  name: string | undefined,
  balancers: readonly ReportingBalancer[],
  tellsOfIt: (balancer: ReportingBalancer) => boolean,
): Telemetry | null {
  if (name === undefined) return null;
  let newest: EpochMs | null = null;
  let isLost = true;
  for (const balancer of balancers) {
    if (!tellsOfIt(balancer)) continue;
    if (newest === null || balancer.newestPointAt > newest) newest = balancer.newestPointAt;
    isLost &&= balancer.stale;
  }
  return newest === null ? null : { what: `${kind} ${name}`, newestPointAt: newest, isLost };
}
