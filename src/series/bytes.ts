import { roomier } from './columns.ts';

/** Reading ranges of bytes four at a time, and a store that ranges are kept in. */

/** A hash of a range as an int32. `seed` chains ranges. */
export type HashRange = (seed: number, view: DataView, from: number, to: number) => number;

/** MurmurHash3, 32 bits (Austin Appleby, public domain). Equal hashes are always told apart by their bytes. */
export const hashRange: HashRange = (seed, view, from, to) => {
  let hash = seed;
  let at = from;
  for (const words = to - 3; at < words; at += 4) {
    const word = Math.imul(view.getInt32(at, true), 0xcc9e2d51);
    hash ^= Math.imul((word << 15) | (word >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (; at < to; at += 1) tail = (tail << 8) | view.getUint8(at);
  tail = Math.imul(tail, 0xcc9e2d51);
  hash ^= Math.imul((tail << 15) | (tail >>> 17), 0x1b873593) ^ (to - from);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
};

/** The same for text, by its UTF-16 units. */
export function hashText(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Ranges of bytes one behind the other; what is in stays where it is. */
export class ByteArena {
  bytes = new Uint8Array(1024);
  view = new DataView(this.bytes.buffer);
  length = 0;

  /** Copies [from, to) of `source` and returns where it stands. */
  append(source: Uint8Array, from: number, to: number): number {
    const at = this.length;
    const end = at + to - from;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, roomier(this.bytes.length)));
      larger.set(this.bytes.subarray(0, at));
      this.#use(larger);
    }
    this.bytes.set(source.subarray(from, to), at);
    this.length = end;
    return at;
  }

  snapshot(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  restore(bytes: Uint8Array): void {
    this.#use(bytes.slice());
    this.length = bytes.length;
  }

  #use(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}
