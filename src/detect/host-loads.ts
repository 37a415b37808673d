import type { EpochMs } from '../base/units.ts';
import type { HostCounters } from './hosts.ts';

/** Hosts of a cluster as they are weighed. */
export interface Pool {
  readonly cluster: string;
  readonly hosts: readonly HostCounters[];
  /** 1 per host unless capacities are known; 0 for one that cannot be weighed. */
  readonly capacityOf: (host: string) => number;
}

/** A cluster's requests in one window. */
export interface Loads {
  readonly total: number;
  /** Of all hosts that took some. */
  readonly capacity: number;
  readonly hosts: number;
}

export function loadsIn({ hosts, capacityOf }: Pool, from: EpochMs, to: EpochMs): Loads {
  const loads = { total: 0, capacity: 0, hosts: 0 };
  for (const { host, requests } of hosts) {
    const capacity = capacityOf(host);
    const count = capacity === 0 ? 0 : requests(from, to);
    if (count <= 0) continue;
    loads.total += count;
    loads.capacity += capacity;
    loads.hosts += 1;
  }
  return loads;
}

/** Load per capacity of one host over the mean of all. */
export const factorOf = (count: number, capacity: number, loads: Loads): number =>
  loads.total > 0 && capacity > 0 ? (count * loads.capacity) / (capacity * loads.total) : 0;
