import { withRoom } from './columns.ts';
import type { ExponentialState } from './exponential.ts';

/** What was last received of each series, as plain data. */
export interface SeriesStateSnapshot {
  readonly timeMs: Float64Array;
  readonly timeSubNs: Int32Array;
  readonly startMs: Float64Array;
  readonly startSubNs: Int32Array;
  readonly value: Float64Array;
  readonly intHigh: Int32Array;
  readonly intLow: Uint32Array;
  readonly isInt: Uint8Array;
  readonly bounds: Int32Array;
  readonly bucketsFrom: Int32Array;
  readonly bucketsRoom: Int32Array;
  readonly buckets: Float64Array;
  readonly exponential: readonly (readonly [number, ExponentialState])[];
}

/**
 * What was last received of each series, by series number. Counters hold their last value (`value`, ints also exactly
 * in two halves), delta counters the fraction of an event that is still to be counted, histograms their count, and
 * their sum and buckets in the pool.
 */
export class SeriesState {
  size = 0;
  /**
   * Time and start of the last point: whole milliseconds and the nanoseconds below them. 0 = none yet, or not sent.
   */
  timeMs = new Float64Array(64);
  timeSubNs = new Int32Array(64);
  startMs = new Float64Array(64);
  startSubNs = new Int32Array(64);
  value = new Float64Array(64);
  intHigh = new Int32Array(64);
  intLow = new Uint32Array(64);
  isInt = new Uint8Array(64);
  /** Bounds set; -1 before the first histogram point. */
  bounds = new Int32Array(64);
  bucketsFrom = new Int32Array(64);
  bucketsRoom = new Int32Array(64);
  /** Pool: per cumulative histogram its sum (NaN = not sent), then its bucket counts. */
  buckets = new Float64Array(256);
  #bucketsLength = 0;
  readonly exponential = new Map<number, ExponentialState>();

  /** Appends a series of which nothing has been received. */
  add(): number {
    const row = this.size++;
    this.#reserve(this.size);
    this.bounds[row] = -1;
    return row;
  }

  /**
   * Makes room for `length` numbers of a series in the pool. A region that is outgrown is left, its successor is twice
   * as large.
   */
  reserveBuckets(row: number, length: number): void {
    const room = this.bucketsRoom[row] as number;
    if (length <= room) return;
    const larger = room === 0 ? length : Math.max(length, room * 2);
    this.bucketsFrom[row] = this.#bucketsLength;
    this.bucketsRoom[row] = larger;
    this.#bucketsLength += larger;
    this.buckets = withRoom(this.buckets, this.#bucketsLength);
  }

  snapshot(): SeriesStateSnapshot {
    const { size } = this;
    return {
      timeMs: this.timeMs.slice(0, size),
      timeSubNs: this.timeSubNs.slice(0, size),
      startMs: this.startMs.slice(0, size),
      startSubNs: this.startSubNs.slice(0, size),
      value: this.value.slice(0, size),
      intHigh: this.intHigh.slice(0, size),
      intLow: this.intLow.slice(0, size),
      isInt: this.isInt.slice(0, size),
      bounds: this.bounds.slice(0, size),
      bucketsFrom: this.bucketsFrom.slice(0, size),
      bucketsRoom: this.bucketsRoom.slice(0, size),
      buckets: this.buckets.slice(0, this.#bucketsLength),
      exponential: [...this.exponential].map(([row, state]) => [row, state.copy()]),
    };
  }

  /** Into an empty state. `revive` makes a state of an exponential histogram of plain data. */
  restore(saved: SeriesStateSnapshot, revive: (plain: ExponentialState) => ExponentialState): void {
    this.size = saved.timeMs.length;
    this.#reserve(this.size);
    this.timeMs.set(saved.timeMs);
    this.timeSubNs.set(saved.timeSubNs);
    this.startMs.set(saved.startMs);
    this.startSubNs.set(saved.startSubNs);
    this.value.set(saved.value);
    this.intHigh.set(saved.intHigh);
    this.intLow.set(saved.intLow);
    this.isInt.set(saved.isInt);
    this.bounds.set(saved.bounds);
    this.bucketsFrom.set(saved.bucketsFrom);
    this.bucketsRoom.set(saved.bucketsRoom);
    this.#bucketsLength = saved.buckets.length;
    this.buckets = withRoom(this.buckets, this.#bucketsLength);
    this.buckets.set(saved.buckets);
    for (const [row, plain] of saved.exponential) this.exponential.set(row, revive(plain));
  }

  #reserve(rows: number): void {
    if (rows <= this.timeMs.length) return;
    this.timeMs = withRoom(this.timeMs, rows);
    this.timeSubNs = withRoom(this.timeSubNs, rows);
    this.startMs = withRoom(this.startMs, rows);
    this.startSubNs = withRoom(this.startSubNs, rows);
    this.value = withRoom(this.value, rows);
    this.intHigh = withRoom(this.intHigh, rows);
    this.intLow = withRoom(this.intLow, rows);
    this.isInt = withRoom(this.isInt, rows);
    this.bounds = withRoom(this.bounds, rows);
    this.bucketsFrom = withRoom(this.bucketsFrom, rows);
    this.bucketsRoom = withRoom(this.bucketsRoom, rows);
  }
}
