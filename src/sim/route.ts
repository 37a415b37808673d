import type { Prng } from '../base/prng.ts';
import { at } from './columns.ts';
import type { ClusterSpec } from './fleet-spec.ts';
import { HostPool, type PoolHost } from './health/host-pool.ts';
import { createPolicy } from './policies/create-policy.ts';
import { Hashing } from './policies/hashing.ts';
import { NO_HOST, type Policy } from './policies/policy.ts';
import { zoneSplit } from './policies/zone-split.ts';

/**
 * One balancer's way to one cluster: its view of the hosts, and its policy, or one policy per zone where it minds
 * zones. Hosts are numbered within the cluster.
 */
export class Route {
  readonly pool: HostPool;
  /** Share of this balancer's requests that goes to each zone; one zone where it does not mind them. */
  split: readonly number[] = [1];
  readonly #spec: ClusterSpec;
  readonly #hosts: readonly PoolHost[];
  readonly #policies: readonly Policy[];
  readonly #prng: Prng;
  readonly #zone: number;
  readonly #zones: number;
  /** Share of the traffic that enters by each zone. */
  #traffic: readonly number[] = [];

  constructor(spec: ClusterSpec, hosts: readonly PoolHost[], zone: number, zones: number, prng: Prng) {
    this.#spec = spec;
    this.#hosts = hosts;
    this.#prng = prng;
    this.#zone = zone;
    this.#zones = zones;
    const groups = spec.zoneRouting === 'none' ? 1 : zones;
    this.#policies = Array.from({ length: groups }, () => createPolicy(spec.policy, prng));
    this.pool = new HostPool(
      hosts,
      { checks: spec.checks, outliers: spec.outliers, panicBelow: spec.panicBelow },
      this.#policies.map((policy, group) => ({ policy, takes: (host: number) => this.groupOf(host) === group })),
      () => this.#resplit(),
    );
  }

  /** Which of the split's shares a host belongs to. */
  groupOf(host: number): number {
    return this.#spec.zoneRouting === 'none' ? 0 : (this.#spec.hosts[host]?.zone ?? 0);
  }

  /** Whether a policy may pick the host now. */
  isUsable(host: number): boolean {
    if (!this.pool.isMember(host) || this.pool.isDraining(host)) return false;
    return this.pool.inPanic || this.pool.isHealthy(host);
  }

  /** Traffic enters the zones by these shares from now on. */
  trafficChanged(traffic: readonly number[]): void {
    this.#traffic = traffic;
    this.#resplit();
  }

  pick(now: number, key: number): number {
    if (this.#policies.length === 1) return this.#policies[0]?.pick(now, key) ?? NO_HOST;
    let left = this.#prng.next();
    let group = -1;
    this.split.forEach((share, zone) => {
      if (group < 0 && left < share) group = zone;
      left -= share;
    });
    return this.#policies[group < 0 ? this.#zone : group]?.pick(now, key) ?? NO_HOST;
  }

  /** Requests that bounded load has sent past the host of their key. */
  get overflowed(): number {
    return this.#policies.reduce((sum, policy) => sum + (policy instanceof Hashing ? policy.overflowed : 0), 0);
  }

  started(host: number): void {
    this.#policies[this.groupOf(host)]?.started(host);
  }

  finished(host: number): void {
    this.#policies[this.groupOf(host)]?.finished(host);
  }

  #resplit(): void {
    if (this.#spec.zoneRouting === 'none' || this.#traffic.length === 0) return;
    const capacity = new Float64Array(this.#zones);
    this.#hosts.forEach(({ weight }, host) => {
      const zone = this.groupOf(host);
      if (this.isUsable(host)) capacity[zone] = at(capacity, zone) + weight;
    });
    const total = capacity.reduce((sum, share) => sum + share, 0);
    const shares = Array.from(capacity, (share) => (total > 0 ? share / total : 0));
    this.split = zoneSplit(this.#spec.zoneRouting, this.#traffic, shares, this.#zone);
  }
}
