import { equalBytes } from '../base/equal-bytes.ts';
import type { Staging } from '../otlp/staging.ts';
import { ByteArena, type HashRange } from './bytes.ts';
import { withRoom } from './columns.ts';
import { HashIndex } from './hash-index.ts';

export interface LayoutsState {
  readonly metric: Int32Array;
  readonly series: Int32Array;
  readonly length: Int32Array;
  readonly next: Int32Array;
  /** The attribute runs one behind the other. */
  readonly bytes: Uint8Array;
}

/**
 * The ways in which the attributes of series were sent, as bytes; one series may have several. Senders repeat their
 * series in the same order, so the layout that followed last time is compared first, and a hash is only needed where
 * that fails.
 */
export class LayoutTable {
  readonly #hash: HashRange;
  readonly #arena = new ByteArena();
  readonly #index = new HashIndex();
  #metric = new Int32Array(64);
  #from = new Uint32Array(64);
  #length = new Int32Array(64);
  #next = new Int32Array(64);
  #last = -1;
  /** Series by layout. */
  series = new Int32Array(64);
  size = 0;

  constructor(hash: HashRange) {
    this.#hash = hash;
  }

  get bytes(): Uint8Array {
    return this.#arena.bytes;
  }

  /** The layout of a point of `metric`, or -1 when these bytes have not been seen. */
  find(staging: Staging, point: number, metric: number): number {
    const from = staging.attributesFrom[point] as number;
    const length = (staging.attributesTo[point] as number) - from;
    const last = this.#last;
    const guess = last < 0 ? -1 : (this.#next[last] as number);
    if (guess >= 0 && this.#matches(guess, metric, staging.view, from, length)) {
      this.#last = guess;
      return guess;
    }
    const hash = this.#hash(seedOf(metric), staging.view, from, from + length);
    let slot = this.#index.first(hash);
    while (slot >= 0) {
      const row = this.#index.rowAt(slot);
      if (this.#matches(row, metric, staging.view, from, length)) {
        this.#follow(row);
        return row;
      }
      slot = this.#index.next(slot, hash);
    }
    return -1;
  }

  /** Remembers the layout of a point. */
  add(staging: Staging, point: number, metric: number, series: number): number {
    const from = staging.attributesFrom[point] as number;
    const to = staging.attributesTo[point] as number;
    const row = this.size++;
    this.#reserve(this.size);
    this.#metric[row] = metric;
    this.#from[row] = this.#arena.append(staging.bytes, from, to);
    this.#length[row] = to - from;
    this.#next[row] = -1;
    this.series[row] = series;
    this.#index.add(row, this.#hash(seedOf(metric), staging.view, from, to));
    this.#follow(row);
    return row;
  }

  metricOf(row: number): number {
    return this.#metric[row] as number;
  }

  fromOf(row: number): number {
    return this.#from[row] as number;
  }

  toOf(row: number): number {
    return (this.#from[row] as number) + (this.#length[row] as number);
  }

  snapshot(): LayoutsState {
    const { size } = this;
    return {
      metric: this.#metric.slice(0, size),
      series: this.series.slice(0, size),
      length: this.#length.slice(0, size),
      next: this.#next.slice(0, size),
      bytes: this.#arena.snapshot(),
    };
  }

  /** Into an empty table. */
  restore(state: LayoutsState): void {
    this.#arena.restore(state.bytes);
    const size = state.metric.length;
    this.#reserve(size);
    this.#metric.set(state.metric);
    this.series.set(state.series);
    this.#length.set(state.length);
    this.#next.set(state.next);
    for (let row = 0, from = 0; row < size; row += 1) {
      const to = from + (state.length[row] as number);
      this.#from[row] = from;
      this.#index.add(row, this.#hash(seedOf(state.metric[row] as number), this.#arena.view, from, to));
      from = to;
    }
    this.size = size;
  }

  #follow(row: number): void {
    if (this.#last >= 0) this.#next[this.#last] = row;
    this.#last = row;
  }

  #matches(row: number, metric: number, view: DataView, from: number, length: number): boolean {
    return (
      this.#metric[row] === metric &&
      this.#length[row] === length &&
      equalBytes(this.#arena.view, this.#from[row] as number, view, from, length)
    );
  }

  #reserve(rows: number): void {
    this.#metric = withRoom(this.#metric, rows);
    this.#from = withRoom(this.#from, rows);
    this.#length = withRoom(this.#length, rows);
    this.#next = withRoom(this.#next, rows);
    this.series = withRoom(this.series, rows);
  }
}

const seedOf = (metric: number): number => Math.imul(metric + 1, 0x9e3779b1);
