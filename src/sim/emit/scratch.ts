import { add, at } from '../columns.ts';
import type { Fleet } from '../fleet.ts';
import { BUCKETS, type HistogramColumns } from '../histogram-columns.ts';
import type { PolicyName } from '../policies/create-policy.ts';
import type { Cell } from './series.ts';

/** Places for what a balancer sends that is no column of the fleet: sums, levels. */
export class Scratch {
  /** One column for all: made large enough at once, since cells keep it. */
  readonly #column: Float64Array;
  #used = 0;

  constructor(size: number) {
    this.#column = new Float64Array(size);
  }

  /** The first of `count` places. */
  take(count = 1): Cell {
    const index = this.#used;
    this.#used += count;
    if (this.#used > this.#column.length) throw new RangeError('scratch is too small');
    return { column: this.#column, index };
  }
}

export const put = ({ column, index }: Cell, value: number): void => {
  column[index] = value;
};

export const addTo = ({ column, index }: Cell, amount: number): void => add(column, index, amount);

/** The cell `offset` places on. */
export const beyond = ({ column, index }: Cell, offset: number): Cell => ({ column, index: index + offset });

/** Sums a histogram over one balancer's hosts of a cluster. */
export function foldHosts(
  fleet: Fleet,
  columns: HistogramColumns,
  balancer: number,
  cluster: number,
  counts: Cell,
  sum: Cell,
): void {
  const first = balancer * fleet.hostCount + at(fleet.firstHost, cluster);
  const hosts = fleet.spec.clusters[cluster]?.hosts.length ?? 0;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) put(beyond(counts, bucket), 0);
  let total = 0;
  for (let host = first; host < first + hosts; host += 1) {
    total += at(columns.sums, host);
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      addTo(beyond(counts, bucket), at(columns.counts, host * BUCKETS + bucket));
    }
  }
  put(sum, total);
}

/** Hosts of a cluster as one balancer sees them now. */
export interface Membership {
  healthy: number;
  unhealthy: number;
  draining: number;
  ejected: number;
}

export function membershipOf(fleet: Fleet, balancer: number, cluster: number): Membership {
  const { pool } = fleet.route(balancer, cluster);
  const hosts = fleet.spec.clusters[cluster]?.hosts.length ?? 0;
  const seen: Membership = { healthy: 0, unhealthy: 0, draining: 0, ejected: pool.outliers?.out ?? 0 };
  for (let host = 0; host < hosts; host += 1) {
    if (!pool.isMember(host)) continue;
    if (pool.isDraining(host)) seen.draining += 1;
    else if (pool.isHealthy(host)) seen.healthy += 1;
    else seen.unhealthy += 1;
  }
  return seen;
}

/** Places of a table of hashes, as Envoy's Maglev has them. */
const HASH_PLACES = 65_537;

export const isHashing = (policy: PolicyName): boolean => policy.startsWith('ring') || policy.startsWith('maglev');

/** Most places of one host where `hosts` share them evenly. */
export const hashEntries = (hosts: number): number => Math.ceil(HASH_PLACES / Math.max(1, hosts));
