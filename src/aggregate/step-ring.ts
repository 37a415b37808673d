import { CountLevel, type LevelSpec, type LevelState } from './count-level.ts';
import { planRange, type RangePlan } from './range-plan.ts';
import { type RunSink, shareOfFirst, spread } from './spread.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const level = (stepMs: number, keptMs: number): LevelSpec => ({ stepMs, steps: keptMs / stepMs });

/** Levels of SLO events (design section 12). */
export const SLO_LEVELS: readonly LevelSpec[] = [
  level(10_000, 7 * HOUR_MS),
  level(60_000, 75 * HOUR_MS),
  level(300_000, 36 * DAY_MS),
];
/** Longer SLO windows do not fit into the usual levels. */
const USUAL_MAX_MS = 35 * DAY_MS;
const LONG_STEP_MS = 900_000;
/** A quarter of nominally 90 days has up to 92 and an hour, a year of 12 nominal months 366. */
const LONGEST_OF_NOMINAL = 1.025;

/**
 * Levels of the events of one SLO, by its nominal window: quarters and years have one more, of 15 minutes, to whose
 * steps the local days of every zone are whole.
 */
export function sloLevelsOf(windowMs: number): readonly LevelSpec[] {
  if (windowMs <= USUAL_MAX_MS) return SLO_LEVELS;
  const days = Math.ceil((windowMs * LONGEST_OF_NOMINAL) / DAY_MS) + 1;
  return [...SLO_LEVELS, level(LONG_STEP_MS, days * DAY_MS)];
}
/** Levels of what detectors read. */
export const FEATURE_LEVELS: readonly LevelSpec[] = [level(10_000, 7 * HOUR_MS), level(300_000, 8 * DAY_MS)];
/** Levels of one bucket of a stage histogram. */
export const HISTOGRAM_LEVELS: readonly LevelSpec[] = [level(60_000, 3 * HOUR_MS), level(300_000, 8 * DAY_MS)];

/** Levels of one bucket of a stage histogram of one balancer, of which there are many. */
export const BALANCER_STAGE_LEVELS: readonly LevelSpec[] = [level(60_000, 3 * HOUR_MS)];

/** A ring as plain data; typed arrays are copies. */
export interface RingState {
  readonly newest: number;
  readonly pending: number;
  readonly previous: number;
  readonly levels: readonly LevelState[];
}

/**
 * Whole event counts per step at several resolutions. Times are milliseconds since the epoch; time T belongs to the
 * step (start, end] with end = ceil(T / step) * step. The newest step and the one before it, where nearly all additions
 * land, collect in two fields and reach the levels when time moves on. Sums are exact at every level. Times before the
 * epoch are not kept.
 */
export class StepRing implements RunSink {
  readonly specs: readonly LevelSpec[];
  readonly #stepMs: number;
  readonly #levels: readonly CountLevel[];
  /** Finest steps per step of each level. */
  readonly #ratios: readonly number[];
  #newest = Number.NEGATIVE_INFINITY;
  #pending = 0;
  #previous = 0;
  #lost = 0;

  /** `specs` finest first; each step a multiple of the one before it. */
  constructor(specs: readonly LevelSpec[]) {
    this.specs = specs;
    this.#levels = specs.map((spec) => new CountLevel(spec));
    const { stepMs } = specs[0] as LevelSpec;
    this.#stepMs = stepMs;
    this.#ratios = specs.map((spec) => spec.stepMs / stepMs);
  }

  /** End of the newest step that was added to; -Infinity before the first addition. */
  get newestAt(): number {
    return this.#newest * this.#stepMs;
  }

  /** Adds a whole amount over (from, to] as `spread` does. Returns what was too old to keep, 0 normally. */
  add(from: number, to: number, amount: number): number {
    this.#lost = 0;
    if (!this.#addNewest(Math.floor(from), Math.floor(to), amount)) spread(this.#stepMs, from, to, amount, this);
    return this.#lost;
  }

  /**
   * The usual cases without detours: an amount that ends in the newest step or the one behind it, and begins there or
   * in the one before.
   */
  #addNewest(from: number, to: number, amount: number): boolean {
    const end = this.#newest * this.#stepMs;
    if (to > end) return this.#addNext(from, to, amount, end);
    const start = end - this.#stepMs;
    if (!(to > start)) return false;
    if (from >= start) {
      this.#pending += amount;
      return true;
    }
    if (from < start - this.#stepMs) return false;
    const first = shareOfFirst(Math.abs(amount), to - from, start - from) * (amount < 0 ? -1 : 1);
    this.#previous += first;
    this.#pending += amount - first;
    return true;
  }

  /** An amount that ends in the step behind the newest; which only becomes the newest if something falls into it. */
  #addNext(from: number, to: number, amount: number, end: number): boolean {
    if (!(to <= end + this.#stepMs && from >= end - this.#stepMs)) return false;
    const first = from >= end ? 0 : shareOfFirst(Math.abs(amount), to - from, end - from) * (amount < 0 ? -1 : 1);
    if (first === amount) {
      this.#pending += amount;
      return true;
    }
    this.#moveOn(this.#newest + 1);
    this.#previous += first;
    this.#pending += amount - first;
    return true;
  }

  addRun(first: number, last: number, each: number): void {
    if (last > this.#newest) this.#moveOn(last);
    if (first === last) {
      if (last === this.#newest) this.#pending += each;
      else if (last === this.#newest - 1) this.#previous += each;
      else this.#addOne(last, each);
      return;
    }
    this.#addOlder(first, last, each);
  }

  /** Events over (from, to], edges as `planRange` finds them. */
  range(from: number, to: number): number {
    const first = Math.floor(from / this.#stepMs) + 1;
    const [finest] = this.#levels;
    // The usual case, without a plan: the finest level holds all of it.
    if (finest === undefined || !(first > this.#newest - finest.steps)) {
      return this.sum(planRange(this.specs, this.newestAt, from, to));
    }
    const last = Math.floor(to / this.#stepMs);
    if (last < first) return 0;
    let total = finest.sum(first, last);
    if (this.#newest >= first && this.#newest <= last) total += this.#pending;
    if (this.#newest > first && this.#newest - 1 <= last) total += this.#previous;
    return total;
  }

  /** Events of a plan made for this ring's levels, perhaps for a newer newest step than its own. */
  sum(plan: RangePlan): number {
    let total = 0;
    for (const { level: index, first, last } of plan.segments) {
      total += (this.#levels[index] as CountLevel).sum(first, last);
    }
    if (this.#pending !== 0 && this.#covers(plan, this.#newest)) total += this.#pending;
    if (this.#previous !== 0 && this.#covers(plan, this.#newest - 1)) total += this.#previous;
    return total;
  }

  byteLength(): number {
    return this.#levels.reduce((total, one) => total + one.byteLength(), 0);
  }

  /** Gives memory back when everything in the ring is older than what it keeps at `now`. */
  releaseIfExpired(now: number): void {
    const coarsest = this.specs[this.specs.length - 1] as LevelSpec;
    if (this.newestAt > now - (coarsest.steps + 1) * coarsest.stepMs) return;
    for (const one of this.#levels) one.release();
    this.#pending = this.#previous = 0;
  }

  snapshot(): RingState {
    const { newest, pending, previous } = this.#fields();
    return { newest, pending, previous, levels: this.#levels.map((one) => one.snapshot()) };
  }

  /** Goes on exactly where the snapshot was taken; the levels must be the same. */
  restore(state: RingState): void {
    this.#newest = state.newest;
    this.#pending = state.pending;
    this.#previous = state.previous;
    this.#levels.forEach((one, index) => {
      const saved = state.levels[index];
      if (saved !== undefined) one.restore(saved);
    });
  }

  #covers(plan: RangePlan, step: number): boolean {
    const end = step * this.#stepMs;
    return end > plan.from && end <= plan.to;
  }

  /**
   * Makes `step` the newest: what was pending goes to the levels, the last newest becomes the previous where adjacent.
   */
  #moveOn(step: number): void {
    const adjacent = step === this.#newest + 1;
    const { previous, pending, newest, lost } = this.#fields();
    this.#newest = step;
    this.#previous = adjacent ? pending : 0;
    this.#pending = 0;
    if (previous !== 0) this.#addOne(newest - 1, previous);
    if (!adjacent && pending !== 0) this.#addOne(newest, pending);
    // What ages out here was kept in its time.
    this.#lost = lost;
  }

  #fields() {
    return { newest: this.#newest, pending: this.#pending, previous: this.#previous, lost: this.#lost };
  }

  /** One step straight into the levels, where each of them still holds it. */
  #addOne(step: number, amount: number): void {
    const levels = this.#levels;
    let isKept = false;
    for (let index = 0; index < levels.length; index += 1) {
      const one = levels[index] as CountLevel;
      const ratio = this.#ratios[index] as number;
      const place = Math.ceil(step / ratio);
      if (step < 0 || place <= Math.ceil(this.#newest / ratio) - one.steps) continue;
      one.add(place, amount);
      isKept = true;
    }
    if (!isKept) this.#lost += amount;
  }

  /** A run straight into the levels: per level the steps that it still holds. */
  #addOlder(first: number, last: number, each: number): void {
    let kept = last + 1;
    for (const one of this.#levels) {
      const ratio = one.stepMs / this.#stepMs;
      const oldest = Math.ceil(this.#newest / ratio) - one.steps + 1;
      const start = Math.max(first, (oldest - 1) * ratio + 1, 0);
      kept = Math.min(kept, start);
      for (let from = start; from <= last; ) {
        const step = Math.ceil(from / ratio);
        const to = Math.min(last, step * ratio);
        one.add(step, (to - from + 1) * each);
        from = to + 1;
      }
    }
    this.#lost += (Math.min(kept, last + 1) - first) * each;
  }
}
