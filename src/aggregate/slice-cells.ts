import { sliceWidthOf } from '../slo/slices.ts';
import type { Slicing } from '../slo/slo.ts';
import type { LevelSpec } from './count-level.ts';
import { type RingState, StepRing } from './step-ring.ts';

/** Runs of touched slices that wait to be judged; beyond so many they are judged at once. */
const RUNS_MAX = 64;

/** As plain data; nothing is waiting. */
export interface SliceState {
  readonly reach: number;
  readonly bad: RingState;
  readonly total: RingState;
}

/** How bad the slice over (from, to] is, in units; null when its events contradict themselves. */
export type SliceJudge = (from: number, to: number) => number | null;

/** Both ends included. Slice `n` is ((n - 1) * width, n * width]. */
interface Run {
  readonly first: number;
  readonly last: number;
}

/**
 * Slices of one group, kept as events are: `total` counts the slices that have data, `bad` how bad they were, each at
 * the step in which the slice ends. What data touches is judged again before the next read, from the events of its own
 * slice, and the difference is added; so the order of data, their split into requests and the times of reads change
 * nothing. The only limit is how long events are kept in steps that make up whole slices: 36 days where the width is a
 * multiple of 5 min, 75 h of whole minutes, 7 h else. Data older than that changes no slice. A slice that contradicts
 * itself counts as one without data. Slices that have not ended yet are in here, too: readers look no further than the
 * watermark.
 */
export class SliceCells {
  readonly bad: StepRing;
  readonly total: StepRing;
  readonly #width: number;
  readonly #judge: SliceJudge;
  /** The coarsest steps that make up whole slices: as long as they are kept, a slice can be judged. */
  readonly #finest: LevelSpec;
  /** End of the newest slice that data touched. What is kept is judged by it, not by what was judged until now. */
  #reach = Number.NEGATIVE_INFINITY;
  #waiting: Run[] = [];
  /** While `reach` is not beyond it, all that waits can be judged. */
  #safeUntil = Number.POSITIVE_INFINITY;

  constructor(levels: readonly LevelSpec[], slicing: Slicing, judge: SliceJudge) {
    this.bad = new StepRing(levels);
    this.total = new StepRing(levels);
    this.#width = sliceWidthOf(slicing) as number;
    this.#judge = judge;
    this.#finest = levels.filter(({ stepMs }) => this.#width % stepMs === 0).at(-1) as LevelSpec;
  }

  get newestAt(): number {
    return Math.max(this.bad.newestAt, this.total.newestAt);
  }

  /** Data over (from, to] is about to be added, or a balancer was heard over it. Call before the events change. */
  touch(from: number, to: number): void {
    const end = Math.floor(to);
    const start = Math.floor(from);
    const last = Math.ceil(end / this.#width);
    const reach = last * this.#width;
    if (reach > this.#reach) {
      if (reach > this.#safeUntil) this.judgeWaiting();
      this.#reach = reach;
    }
    const oldest = Math.ceil(this.#oldestEdge() / this.#width) + 1;
    const first = Math.max(oldest, start < end ? Math.floor(start / this.#width) + 1 : last);
    if (first > last) return;
    const newest = this.#waiting.at(-1);
    if (newest !== undefined && newest.first <= first && last <= newest.last) return;
    this.#wait(first, last);
  }

  /** Brings the rings up to date. To be called before they are read. */
  judgeWaiting(): void {
    if (this.#waiting.length === 0) return;
    const oldest = this.#oldestEdge();
    for (const { first, last } of this.#waiting) {
      for (let slice = first; slice <= last; slice += 1) {
        if ((slice - 1) * this.#width >= oldest) this.#judgeOne(slice * this.#width);
      }
    }
    this.#waiting = [];
    this.#safeUntil = Number.POSITIVE_INFINITY;
  }

  byteLength(): number {
    return this.bad.byteLength() + this.total.byteLength();
  }

  releaseIfExpired(now: number): void {
    this.bad.releaseIfExpired(now);
    this.total.releaseIfExpired(now);
  }

  snapshot(): SliceState {
    this.judgeWaiting();
    return { reach: this.#reach, bad: this.bad.snapshot(), total: this.total.snapshot() };
  }

  restore(state: SliceState): void {
    this.#reach = state.reach;
    this.bad.restore(state.bad);
    this.total.restore(state.total);
  }

  /** Start of the oldest step that makes up slices. */
  #oldestEdge(): number {
    const { stepMs, steps } = this.#finest;
    return this.#reach - steps * stepMs;
  }

  #wait(from: number, to: number): void {
    let [first, last] = [from, to];
    const apart = this.#waiting.filter((run) => {
      if (run.last + 1 < first || run.first > last + 1) return true;
      first = Math.min(first, run.first);
      last = Math.max(last, run.last);
      return false;
    });
    apart.push({ first, last });
    this.#waiting = apart;
    const { stepMs, steps } = this.#finest;
    this.#safeUntil = Math.min(this.#safeUntil, (first - 1) * this.#width + steps * stepMs);
    if (apart.length > RUNS_MAX) this.judgeWaiting();
  }

  #judgeOne(end: number): void {
    const start = end - this.#width;
    const verdict = this.#judge(start, end);
    const total = (verdict === null ? 0 : 1) - this.total.range(start, end);
    const bad = (verdict ?? 0) - this.bad.range(start, end);
    if (total !== 0) this.total.add(end, end, total);
    if (bad !== 0) this.bad.add(end, end, bad);
  }
}
