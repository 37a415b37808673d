/** Entries per host that the heap may hold before it is rebuilt. */
const ENTRIES_PER_HOST = 4;
const ENTRIES_MIN = 64;

/**
 * Hosts by load, least first; equal loads by rank. A changed load pushes a new entry and leaves the old one behind as
 * stale; stale entries are dropped when they reach the top. Their number is bounded: a full heap is rebuilt from the
 * current loads, so that a host which is never the least cannot make it grow. O(log n) per change, amortized.
 */
export class LoadHeap {
  /** How often the heap was rebuilt because of stale entries. */
  rebuilds = 0;
  #size = 0;
  #load = new Float64Array(ENTRIES_MIN);
  #slot = new Int32Array(ENTRIES_MIN);
  #version = new Uint32Array(ENTRIES_MIN);
  #currentLoad: Float64Array;
  #currentVersion: Uint32Array;

  /** `slots` hosts of load 0; a slot's number is its rank among equal loads. */
  constructor(slots: number) {
    this.#currentLoad = new Float64Array(slots);
    this.#currentVersion = new Uint32Array(slots);
    const capacity = Math.max(ENTRIES_MIN, slots * ENTRIES_PER_HOST);
    this.#load = new Float64Array(capacity);
    this.#slot = new Int32Array(capacity);
    this.#version = new Uint32Array(capacity);
    this.#rebuild();
  }

  /** Entries held, stale ones included; never more than `capacity`. */
  get entries(): number {
    return this.#size;
  }

  get capacity(): number {
    return this.#load.length;
  }

  update(slot: number, load: number): void {
    this.#currentLoad[slot] = load;
    this.#currentVersion[slot] = (this.#currentVersion[slot] ?? 0) + 1;
    if (this.#size === this.capacity) {
      this.rebuilds += 1;
      this.#rebuild();
      return;
    }
    this.#push(load, slot, this.#currentVersion[slot] ?? 0);
  }

  /** The slot of least load; -1 without slots. It stays in the heap. */
  least(): number {
    while (this.#size > 0) {
      const slot = this.#slot[0] ?? 0;
      if (this.#version[0] === this.#currentVersion[slot]) return slot;
      this.#dropTop();
    }
    return -1;
  }

  #rebuild(): void {
    this.#size = 0;
    for (let slot = 0; slot < this.#currentLoad.length; slot += 1) {
      this.#push(this.#currentLoad[slot] ?? 0, slot, this.#currentVersion[slot] ?? 0);
    }
  }

  #push(load: number, slot: number, version: number): void {
    let at = this.#size;
    this.#size += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(load, slot, parent)) break;
      this.#copy(parent, at);
      at = parent;
    }
    this.#write(at, load, slot, version);
  }

  #dropTop(): void {
    this.#size -= 1;
    const load = this.#load[this.#size] ?? 0;
    const slot = this.#slot[this.#size] ?? 0;
    const version = this.#version[this.#size] ?? 0;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#isBefore(this.#load[child + 1] ?? 0, this.#slot[child + 1] ?? 0, child)) {
        child += 1;
      }
      if (this.#isBefore(load, slot, child)) break;
      this.#copy(child, at);
      at = child;
    }
    this.#write(at, load, slot, version);
  }

  #isBefore(load: number, slot: number, entry: number): boolean {
    const other = this.#load[entry] ?? 0;
    return load < other || (load === other && slot < (this.#slot[entry] ?? 0));
  }

  #copy(from: number, to: number): void {
    this.#write(to, this.#load[from] ?? 0, this.#slot[from] ?? 0, this.#version[from] ?? 0);
  }

  #write(at: number, load: number, slot: number, version: number): void {
    this.#load[at] = load;
    this.#slot[at] = slot;
    this.#version[at] = version;
  }
}
