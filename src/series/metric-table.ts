import { equalBytes } from '../base/equal-bytes.ts';
import type { Staging } from '../otlp/staging.ts';
import { decodeText } from './attribute-reader.ts';
import { ByteArena, type HashRange } from './bytes.ts';
import { withRoom } from './columns.ts';
import { HashIndex } from './hash-index.ts';

export interface MetricsState {
  readonly context: Int32Array;
  readonly shape: Uint8Array;
  readonly nameLength: Int32Array;
  readonly unitLength: Int32Array;
  readonly next: Int32Array;
  /** Name and unit of each metric one behind the other. */
  readonly bytes: Uint8Array;
}

/** Kind, temporality and monotonicity in one number. */
export const shapeOf = (staging: Staging, metric: number): number =>
  ((staging.metricKind[metric] as number) << 3) |
  ((staging.temporality[metric] as number) << 1) |
  (staging.monotonic[metric] as number);

/**
 * Metrics by context, name, unit and shape. Senders repeat their metrics in the same order, so the one that followed
 * last time is compared first.
 */
export class MetricTable {
  readonly #hash: HashRange;
  readonly #arena = new ByteArena();
  readonly #index = new HashIndex();
  #from = new Uint32Array(64);
  #nameLength = new Int32Array(64);
  #unitLength = new Int32Array(64);
  #next = new Int32Array(64);
  #last = -1;
  /** Columns by metric. */
  context = new Int32Array(64);
  shape = new Uint8Array(64);
  size = 0;

  constructor(hash: HashRange) {
    this.#hash = hash;
  }

  /**
   * The metric's row; -1 where it is unknown and `mayAdd` is false. Throws UnreadableAttributes for a name that is not
   * UTF-8.
   */
  find(staging: Staging, metric: number, context: number, mayAdd: boolean): number {
    const shape = shapeOf(staging, metric);
    const last = this.#last;
    const guess = last < 0 ? -1 : (this.#next[last] as number);
    if (guess >= 0 && this.#matches(guess, staging, metric, context, shape)) {
      this.#last = guess;
      return guess;
    }
    const hash = this.#hashOf(staging, metric, context, shape);
    let slot = this.#index.first(hash);
    while (slot >= 0 && !this.#matches(this.#index.rowAt(slot), staging, metric, context, shape)) {
      slot = this.#index.next(slot, hash);
    }
    if (slot < 0 && !mayAdd) return -1;
    const row = slot >= 0 ? this.#index.rowAt(slot) : this.#add(staging, metric, context, shape, hash);
    if (last >= 0) this.#next[last] = row;
    this.#last = row;
    return row;
  }

  nameOf(row: number): string {
    const from = this.#from[row] as number;
    return decodeText(this.#arena.bytes, from, from + (this.#nameLength[row] as number));
  }

  unitOf(row: number): string {
    const from = (this.#from[row] as number) + (this.#nameLength[row] as number);
    return decodeText(this.#arena.bytes, from, from + (this.#unitLength[row] as number));
  }

  snapshot(): MetricsState {
    const { size } = this;
    return {
      context: this.context.slice(0, size),
      shape: this.shape.slice(0, size),
      nameLength: this.#nameLength.slice(0, size),
      unitLength: this.#unitLength.slice(0, size),
      next: this.#next.slice(0, size),
      bytes: this.#arena.snapshot(),
    };
  }

  /** Into an empty table. */
  restore(state: MetricsState): void {
    this.#arena.restore(state.bytes);
    const size = state.context.length;
    this.#reserve(size);
    this.context.set(state.context);
    this.shape.set(state.shape);
    this.#nameLength.set(state.nameLength);
    this.#unitLength.set(state.unitLength);
    this.#next.set(state.next);
    const { view } = this.#arena;
    for (let row = 0, from = 0; row < size; row += 1) {
      const nameTo = from + (state.nameLength[row] as number);
      const to = nameTo + (state.unitLength[row] as number);
      this.#from[row] = from;
      const seed = seedOf(state.context[row] as number, state.shape[row] as number);
      this.#index.add(row, this.#hash(this.#hash(seed, view, from, nameTo), view, nameTo, to));
      from = to;
    }
    this.size = size;
  }

  #matches(row: number, staging: Staging, metric: number, context: number, shape: number): boolean {
    const nameFrom = staging.nameFrom[metric] as number;
    const unitFrom = staging.unitFrom[metric] as number;
    const nameLength = this.#nameLength[row] as number;
    const unitLength = this.#unitLength[row] as number;
    const { view } = this.#arena;
    const from = this.#from[row] as number;
    return (
      this.context[row] === context &&
      this.shape[row] === shape &&
      nameLength === (staging.nameTo[metric] as number) - nameFrom &&
      unitLength === (staging.unitTo[metric] as number) - unitFrom &&
      equalBytes(view, from, staging.view, nameFrom, nameLength) &&
      equalBytes(view, from + nameLength, staging.view, unitFrom, unitLength)
    );
  }

  #hashOf(staging: Staging, metric: number, context: number, shape: number): number {
    const { view, nameFrom, nameTo, unitFrom, unitTo } = staging;
    const seed = seedOf(context, shape);
    const hash = this.#hash(seed, view, nameFrom[metric] as number, nameTo[metric] as number);
    return this.#hash(hash, view, unitFrom[metric] as number, unitTo[metric] as number);
  }

  #add(staging: Staging, metric: number, context: number, shape: number, hash: number): number {
    const { bytes } = staging;
    const [nameFrom, nameTo] = [staging.nameFrom[metric] as number, staging.nameTo[metric] as number];
    const [unitFrom, unitTo] = [staging.unitFrom[metric] as number, staging.unitTo[metric] as number];
    decodeText(bytes, nameFrom, nameTo);
    decodeText(bytes, unitFrom, unitTo);
    const row = this.size++;
    this.#reserve(this.size);
    this.context[row] = context;
    this.shape[row] = shape;
    this.#from[row] = this.#arena.append(bytes, nameFrom, nameTo);
    this.#arena.append(bytes, unitFrom, unitTo);
    this.#nameLength[row] = nameTo - nameFrom;
    this.#unitLength[row] = unitTo - unitFrom;
    this.#next[row] = -1;
    this.#index.add(row, hash);
    return row;
  }

  #reserve(rows: number): void {
    this.context = withRoom(this.context, rows);
    this.shape = withRoom(this.shape, rows);
    this.#from = withRoom(this.#from, rows);
    this.#nameLength = withRoom(this.#nameLength, rows);
    this.#unitLength = withRoom(this.#unitLength, rows);
    this.#next = withRoom(this.#next, rows);
  }
}

const seedOf = (context: number, shape: number): number => Math.imul(context + 1, 0x9e3779b1) ^ (shape << 24);
