import type { Prng } from '../../base/prng.ts';
import { InFlight, NO_HOST, type Policy, type PolicyHost } from './policy.ts';
import { slowStartShare } from './slow-start.ts';

/**
 * Power of two choices, least request: two different hosts at random, the lower (in flight + 1) / effective weight.
 * However idle a host looks, it is among the two in only 2 of N picks: that bounds what a sinkhole can draw.
 */
export class TwoChoices implements Policy {
  readonly #prng: Prng;
  readonly #inFlight = new InFlight();
  #hosts: readonly PolicyHost[] = [];

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  pick(now: number): number {
    const count = this.#hosts.length;
    const first = this.#hosts[this.#prng.below(count)];
    if (first === undefined) return NO_HOST;
    if (count === 1) return first.host;
    const at = this.#prng.below(count - 1);
    const second = this.#hosts[at] === first ? this.#hosts[count - 1] : this.#hosts[at];
    if (second === undefined) return first.host;
    return this.#load(second, now) < this.#load(first, now) ? second.host : first.host;
  }

  started(host: number): void {
    this.#inFlight.started(host);
  }

  finished(host: number): void {
    this.#inFlight.finished(host);
  }

  hostsChanged(hosts: readonly PolicyHost[]): void {
    this.#hosts = [...hosts];
  }

  #load(host: PolicyHost, now: number): number {
    return (this.#inFlight.of(host.host) + 1) / (host.weight * slowStartShare(now - host.joinedAt));
  }
}
