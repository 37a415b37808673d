import { hashOf } from './hash.ts';
import type { HashTable } from './hash-ring.ts';
import { NO_HOST, type PolicyHost } from './policy.ts';

/** The usual size: a prime well above 100 times the hosts, so that shares differ by about 1 %. */
export const MAGLEV_SLOTS = 65_537;

/**
 * Maglev hashing (Eisenbud et al., NSDI 2016): each host walks its own permutation of the slots and takes the next free
 * one when it is its turn; turns come in proportion to weight. Look-up is one array access. When hosts change, a few
 * slots beyond those of the changed hosts move too: less stable than a ring, more even.
 */
export class MaglevTable implements HashTable {
  readonly #owner: Int32Array;

  constructor(hosts: readonly PolicyHost[], slots: number = MAGLEV_SLOTS) {
    this.#owner = new Int32Array(hosts.length === 0 ? 0 : slots).fill(NO_HOST);
    fill(this.#owner, hosts);
  }

  get slots(): number {
    return this.#owner.length;
  }

  locate(hash: number): number {
    return this.#owner.length === 0 ? 0 : hash % this.#owner.length;
  }

  hostAt(slot: number): number {
    return this.#owner[slot % this.#owner.length] ?? NO_HOST;
  }
}

function fill(owner: Int32Array, hosts: readonly PolicyHost[]): void {
  const slots = owner.length;
  const heaviest = hosts.reduce((most, { weight }) => Math.max(most, weight), 0);
  const place = Float64Array.from(hosts, ({ host }) => hashOf(host, 0) % slots);
  const skip = Float64Array.from(hosts, ({ host }) => (hashOf(host, 1) % (slots - 1)) + 1);
  const credit = new Float64Array(hosts.length);
  for (let taken = 0; taken < slots; ) {
    for (let i = 0; i < hosts.length && taken < slots; i += 1) {
      credit[i] = (credit[i] ?? 0) + (hosts[i]?.weight ?? 0) / heaviest;
      if ((credit[i] ?? 0) < 1) continue;
      credit[i] = (credit[i] ?? 0) - 1;
      let slot = place[i] ?? 0;
      while (owner[slot] !== NO_HOST) slot = (slot + (skip[i] ?? 1)) % slots;
      owner[slot] = hosts[i]?.host ?? NO_HOST;
      place[i] = (slot + (skip[i] ?? 1)) % slots;
      taken += 1;
    }
  }
}
