import type { FeatureView } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';
import { labelsKey } from '../model/labels.ts';
import type { HostCounters } from './hosts.ts';

/** Fewer readings of utilization say nothing about a span. */
const READINGS_MIN = 3;
const THOUSANDTHS = 1e3;

/** What a zone carries in a span, and its part of the cluster's capacity. */
export interface ZoneLoad {
  readonly zone: string;
  readonly load: number;
  readonly capacity: number;
}

type RangeOf = (from: EpochMs, to: EpochMs) => number;

/** Utilization of a zone's hosts added up over its readings, and how many those are. */
export type ZoneSums = ReadonlyMap<string, { readonly total: RangeOf; readonly readings: RangeOf }>;

/** By cluster and zone, where balancers know the utilization of hosts. */
export function utilizations(view: FeatureView): ReadonlyMap<string, ZoneSums> {
  const readings = new Map([...view.features('zone.utilization.readings')].map((one) => [labelsKey(one.labels), one]));
  const clusters = new Map<string, Map<string, { total: RangeOf; readings: RangeOf }>>();
  for (const series of view.features('zone.utilization')) {
    const cluster = series.labels.get('cluster');
    const zone = series.labels.get('zone');
    const counted = readings.get(labelsKey(series.labels));
    if (cluster === undefined || zone === undefined || counted === undefined) continue;
    const zones = clusters.get(cluster) ?? new Map<string, { total: RangeOf; readings: RangeOf }>();
    clusters.set(cluster, zones);
    zones.set(zone, {
      total: (from, to) => series.range(from, to) / THOUSANDTHS,
      readings: (from, to) => counted.range(from, to),
    });
  }
  return clusters;
}

/** Every host is read as often as any other, so that a zone's readings stand for its hosts. */
export function usedByZone(zones: ZoneSums, from: EpochMs, to: EpochMs): readonly ZoneLoad[] {
  const loads: ZoneLoad[] = [];
  for (const [zone, { total, readings }] of zones) {
    const capacity = readings(from, to);
    if (capacity >= READINGS_MIN) loads.push({ zone, load: total(from, to), capacity });
  }
  return loads;
}

/** Requests beside capacity, as it is known, else one per host that took requests. */
export function requestsByZone(
  hosts: readonly HostCounters[],
  capacities: ReadonlyMap<string, number> | undefined,
  from: EpochMs,
  to: EpochMs,
): readonly ZoneLoad[] {
  const zones = new Map<string, { zone: string; load: number; capacity: number }>();
  for (const { host, zone, requests } of hosts) {
    const count = zone === null ? 0 : requests(from, to);
    // A host without its capacity, where others have theirs, cannot be weighed.
    const capacity = capacities === undefined ? 1 : (capacities.get(host) ?? 0);
    if (zone === null || count === 0 || capacity === 0) continue;
    const load = zones.get(zone) ?? { zone, load: 0, capacity: 0 };
    zones.set(zone, load);
    load.load += count;
    load.capacity += capacity;
  }
  return [...zones.values()];
}
