import { NO_HOST, type Policy, type PolicyHost } from './policy.ts';

/**
 * Smooth weighted round robin: each pick adds every host's weight to its credit, takes the host with the most credit
 * and charges it the sum of weights. A cycle of sum-of-weights picks gives each host exactly its weight (2:1 over nine
 * picks: six and three), and a heavy host's turns are spread over the cycle instead of bunched.
 */
export class WeightedRoundRobin implements Policy {
  #hosts: readonly PolicyHost[] = [];
  #credit = new Float64Array(0);
  #total = 0;

  pick(): number {
    let best = -1;
    for (let i = 0; i < this.#hosts.length; i += 1) {
      const credit = (this.#credit[i] ?? 0) + (this.#hosts[i]?.weight ?? 0);
      this.#credit[i] = credit;
      if (best < 0 || credit > (this.#credit[best] ?? 0)) best = i;
    }
    if (best < 0) return NO_HOST;
    this.#credit[best] = (this.#credit[best] ?? 0) - this.#total;
    return this.#hosts[best]?.host ?? NO_HOST;
  }

  /** Turns do not depend on what is in flight. */
  started(): void {}

  finished(): void {}

  hostsChanged(hosts: readonly PolicyHost[]): void {
    const before = new Map(this.#hosts.map(({ host }, i) => [host, this.#credit[i] ?? 0]));
    this.#hosts = [...hosts];
    this.#credit = Float64Array.from(hosts, ({ host }) => before.get(host) ?? 0);
    this.#total = hosts.reduce((sum, { weight }) => sum + weight, 0);
  }
}
