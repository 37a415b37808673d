import type { LevelSpec } from './count-level.ts';
import { type RunSink, shareOfFirst, spread } from './spread.ts';
import { HISTOGRAM_LEVELS, type RingState, StepRing } from './step-ring.ts';

/** Sums of observations are kept in whole microseconds, so that they add up exactly. */
const PER_SECOND = 1e6;
const STEP_MS = (HISTOGRAM_LEVELS[0] as (typeof HISTOGRAM_LEVELS)[number]).stepMs;

/**
 * Counts over a window for one set of bounds (seconds, upper-inclusive); `counts` has one more, for what lies above.
 */
export interface HistogramRange {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  /** Seconds; null where some sender gave no sum. */
  readonly sum: number | null;
}

export interface LayoutState {
  readonly bounds: readonly number[];
  readonly buckets: readonly RingState[];
  readonly sum: RingState;
  readonly hasSum: boolean;
}

/**
 * Counts per bucket over time for one set of bounds. The newest step and the one before it, where nearly all additions
 * land, collect in two rows over all buckets and reach the buckets' rings when time moves on or somebody reads: an
 * addition costs one pass over a row.
 */
export class HistogramLayout implements RunSink {
  readonly bounds: readonly number[];
  /** One per bucket, then the sum's. */
  readonly #rings: readonly StepRing[];
  #hasSum = true;
  #step = Number.NEGATIVE_INFINITY;
  #newest: Float64Array;
  #previous: Float64Array;
  /** Ring that `addRun` is for. */
  #index = 0;

  /** The finest step of `levels` is a minute. */
  constructor(bounds: ArrayLike<number>, levels: readonly LevelSpec[] = HISTOGRAM_LEVELS) {
    this.bounds = Array.from(bounds);
    this.#rings = Array.from({ length: bounds.length + 2 }, () => new StepRing(levels));
    this.#newest = new Float64Array(this.#rings.length);
    this.#previous = new Float64Array(this.#rings.length);
  }

  /** Times in milliseconds, `counts` one more than bounds, `sum` in seconds or null where the sender gave none. */
  add(from: number, to: number, counts: Float64Array, sum: number | null): void {
    const last = Math.ceil(to / STEP_MS);
    if (last > this.#step) this.#moveOn(last);
    const micros = sum === null ? 0 : Math.round(sum * PER_SECOND);
    if (sum === null) this.#hasSum = false;
    const buckets = this.bounds.length + 1;
    const isOneStep = from >= to || Math.floor(from / STEP_MS) + 1 >= last;
    if (isOneStep && last >= this.#step - 1) {
      const row = last === this.#step ? this.#newest : this.#previous;
      for (let index = 0; index < buckets; index += 1) row[index] = (row[index] as number) + (counts[index] as number);
      row[buckets] = (row[buckets] as number) + micros;
      return;
    }
    if (last === this.#step && from >= (last - 2) * STEP_MS) {
      this.#addToTwo(Math.floor(from), Math.floor(to), counts, micros);
      return;
    }
    for (let index = 0; index < buckets; index += 1) this.#spread(index, from, to, counts[index] as number);
    this.#spread(buckets, from, to, micros);
  }

  addRun(first: number, last: number, each: number): void {
    if (first < last || last < this.#step - 1) {
      (this.#rings[this.#index] as StepRing).addRun(first, last, each);
      return;
    }
    const row = last === this.#step ? this.#newest : this.#previous;
    row[this.#index] = (row[this.#index] as number) + each;
  }

  range(from: number, to: number): HistogramRange {
    this.#settle();
    const sums = this.#rings.map((ring) => ring.range(from, to));
    const micros = sums.pop() as number;
    return { bounds: this.bounds, counts: sums, sum: this.#hasSum ? micros / PER_SECOND : null };
  }

  releaseIfExpired(now: number): void {
    this.#settle();
    for (const ring of this.#rings) ring.releaseIfExpired(now);
  }

  snapshot(): LayoutState {
    this.#settle();
    const states = this.#rings.map((ring) => ring.snapshot());
    const sum = states.pop() as RingState;
    return { bounds: this.bounds, buckets: states, sum, hasSum: this.#hasSum };
  }

  restore({ buckets, sum, hasSum }: LayoutState): void {
    this.#hasSum = hasSum;
    [...buckets, sum].forEach((state, index) => {
      this.#rings[index]?.restore(state);
    });
  }

  /** What begins in the previous step and ends in the newest: each amount as `spread` parts it. */
  #addToTwo(from: number, to: number, counts: Float64Array, micros: number): void {
    const length = to - from;
    const overlap = (this.#step - 1) * STEP_MS - from;
    const newest = this.#newest;
    const previous = this.#previous;
    const sumAt = newest.length - 1;
    for (let index = 0; index <= sumAt; index += 1) {
      const amount = index === sumAt ? micros : (counts[index] as number);
      if (amount === 0) continue;
      const first = shareOfFirst(Math.abs(amount), length, overlap) * (amount < 0 ? -1 : 1);
      previous[index] = (previous[index] as number) + first;
      newest[index] = (newest[index] as number) + amount - first;
    }
  }

  #spread(index: number, from: number, to: number, amount: number): void {
    this.#index = index;
    spread(STEP_MS, from, to, amount, this);
  }

  /** Makes `step` the newest; the last newest becomes the previous where they are adjacent. */
  #moveOn(step: number): void {
    const isAdjacent = step === this.#step + 1;
    this.#flush(this.#previous, this.#step - 1);
    if (isAdjacent) [this.#previous, this.#newest] = [this.#newest, this.#previous];
    else this.#flush(this.#newest, this.#step);
    this.#step = step;
  }

  #settle(): void {
    this.#flush(this.#previous, this.#step - 1);
    this.#flush(this.#newest, this.#step);
  }

  #flush(row: Float64Array, step: number): void {
    for (let index = 0; index < row.length; index += 1) {
      const amount = row[index] as number;
      if (amount !== 0) (this.#rings[index] as StepRing).addRun(step, step, amount);
    }
    row.fill(0);
  }
}
