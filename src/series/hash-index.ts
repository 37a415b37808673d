import { withRoom } from './columns.ts';

/**
 * From 32-bit hashes to row numbers: open addressing with linear probing, at most half full. Rows are numbered from 0
 * and never removed; whoever asks compares the rows that have the hash.
 */
export class HashIndex {
  #hashes = new Int32Array(32);
  /** Row + 1; 0 = free. */
  #slots = new Int32Array(64);
  #count = 0;

  /** Adds row `row`, which must be the next one. */
  add(row: number, hash: number): void {
    if (row >= this.#hashes.length) {
      this.#hashes = withRoom(this.#hashes, row + 1);
    }
    this.#hashes[row] = hash;
    this.#count += 1;
    if (this.#count * 2 > this.#slots.length) this.#grow();
    else this.#place(row);
  }

  /** The slot of the first row with this hash, or -1. */
  first(hash: number): number {
    return this.#seek((hash ^ (hash >>> 16)) & (this.#slots.length - 1), hash);
  }

  /** The slot of the next row with this hash behind `slot`, or -1. */
  next(slot: number, hash: number): number {
    return this.#seek((slot + 1) & (this.#slots.length - 1), hash);
  }

  rowAt(slot: number): number {
    return (this.#slots[slot] as number) - 1;
  }

  /** The hash of every row, to be added again in their order. */
  hashes(): Int32Array {
    return this.#hashes.slice(0, this.#count);
  }

  #seek(from: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = from; ; slot = (slot + 1) & mask) {
      const row = (slots[slot] as number) - 1;
      if (row < 0) return -1;
      if (this.#hashes[row] === hash) return slot;
    }
  }

  #place(row: number): void {
    const mask = this.#slots.length - 1;
    const hash = this.#hashes[row] as number;
    let slot = (hash ^ (hash >>> 16)) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = row + 1;
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let row = 0; row < this.#count; row += 1) this.#place(row);
  }
}
