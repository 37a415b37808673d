import { hashOf } from './hash.ts';
import { NO_HOST, type PolicyHost } from './policy.ts';

/** Where keys live: a circle of slots, each owned by a host. */
export interface HashTable {
  /** How many slots the circle has. */
  readonly slots: number;
  /** The slot of a 32-bit hash. */
  locate(hash: number): number;
  /** The host that owns the slot; slots wrap around. */
  hostAt(slot: number): number;
}

/** A point of a ring: a position on 0..2^32 and the host that owns what lies between it and the point before. */
export interface RingPoint {
  readonly position: number;
  readonly host: number;
}

/** Points per unit of weight: shares within about 8 % (1 / sqrt(160)) of even. */
const POINTS_PER_WEIGHT = 160;

/** A key belongs to the first point at or after its hash; after the last point comes the first. */
export class HashRing implements HashTable {
  readonly #positions: Uint32Array;
  readonly #hosts: Int32Array;

  constructor(points: readonly RingPoint[]) {
    const sorted = [...points].sort((a, b) => a.position - b.position || a.host - b.host);
    this.#positions = Uint32Array.from(sorted, ({ position }) => position);
    this.#hosts = Int32Array.from(sorted, ({ host }) => host);
  }

  get slots(): number {
    return this.#hosts.length;
  }

  locate(hash: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#positions[middle] ?? 0) < hash) low = middle + 1;
      else high = middle;
    }
    return low === this.#positions.length ? 0 : low;
  }

  hostAt(slot: number): number {
    return this.#hosts[slot % this.#hosts.length] ?? NO_HOST;
  }
}

/** A ring on which each host has points in proportion to its weight, at places that depend on nothing but the host. */
export function ringOf(hosts: readonly PolicyHost[]): HashRing {
  return new HashRing(
    hosts.flatMap(({ host, weight }) =>
      Array.from({ length: Math.max(1, Math.round(weight * POINTS_PER_WEIGHT)) }, (_, point) => ({
        position: hashOf(host, point),
        host,
      })),
    ),
  );
}
