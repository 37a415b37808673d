import type { EpochMs } from '../base/units.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { HISTOGRAM_LEVELS, type RingState, StepRing } from './step-ring.ts';

/** Sums of observations are kept in whole microseconds, so that they add up exactly. */
const PER_SECOND = 1e6;
/** Sets of bounds kept per histogram; balancers of one fleet rarely differ in more than a few. */
const LAYOUTS_MAX = 8;

/**
 * Counts over a window for one set of bounds (seconds, upper-inclusive); `counts` has one more, for what lies above.
 */
export interface HistogramRange {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  /** Seconds; null where some sender gave no sum. */
  readonly sum: number | null;
}

/** A stage's or tail's histogram over time, merged over all series with the same labels. */
export interface HistogramSeries {
  readonly labels: Labels;
  /** One entry per set of bounds that was sent. */
  range(from: EpochMs, to: EpochMs): readonly HistogramRange[];
}

interface Layout {
  readonly bounds: readonly number[];
  readonly buckets: readonly StepRing[];
  readonly sum: StepRing;
  hasSum: boolean;
}

interface LayoutState {
  readonly bounds: readonly number[];
  readonly buckets: readonly RingState[];
  readonly sum: RingState;
  readonly hasSum: boolean;
}

export interface HistogramState {
  readonly metric: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly layouts: readonly LayoutState[];
}

export class StageHistogram implements HistogramSeries {
  readonly labels: Labels;
  readonly #layouts: Layout[] = [];

  constructor(labels: Labels) {
    this.labels = labels;
  }

  /** As HistogramCell. Points with a ninth set of bounds are left out. */
  add(from: EpochMs, to: EpochMs, bounds: Float64Array, counts: Float64Array, sum: number | null): void {
    const layout = this.#layoutOf(bounds);
    if (layout === null) return;
    layout.buckets.forEach((ring, index) => {
      const count = counts[index] ?? 0;
      if (count !== 0) ring.add(from, to, count);
    });
    if (sum === null) layout.hasSum = false;
    else layout.sum.add(from, to, Math.round(sum * PER_SECOND));
  }

  range(from: EpochMs, to: EpochMs): readonly HistogramRange[] {
    return this.#layouts.map(({ bounds, buckets, sum, hasSum }) => ({
      bounds,
      counts: buckets.map((ring) => ring.range(from, to)),
      sum: hasSum ? sum.range(from, to) / PER_SECOND : null,
    }));
  }

  releaseIfExpired(now: number): void {
    for (const { buckets, sum } of this.#layouts) for (const ring of [...buckets, sum]) ring.releaseIfExpired(now);
  }

  snapshot(): readonly LayoutState[] {
    return this.#layouts.map(({ bounds, buckets, sum, hasSum }) => ({
      bounds,
      buckets: buckets.map((ring) => ring.snapshot()),
      sum: sum.snapshot(),
      hasSum,
    }));
  }

  restore(states: readonly LayoutState[]): void {
    for (const { bounds, buckets, sum, hasSum } of states) {
      const layout = this.#layoutOf(bounds);
      if (layout === null) continue;
      layout.hasSum = hasSum;
      layout.sum.restore(sum);
      buckets.forEach((state, index) => {
        layout.buckets[index]?.restore(state);
      });
    }
  }

  #layoutOf(bounds: ArrayLike<number>): Layout | null {
    for (const layout of this.#layouts) if (sameBounds(layout.bounds, bounds)) return layout;
    if (this.#layouts.length >= LAYOUTS_MAX) return null;
    const layout = {
      bounds: Array.from(bounds),
      buckets: Array.from({ length: bounds.length + 1 }, () => new StepRing(HISTOGRAM_LEVELS)),
      sum: new StepRing(HISTOGRAM_LEVELS),
      hasSum: true,
    };
    this.#layouts.push(layout);
    return layout;
  }
}

function sameBounds(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}

/** Histograms by canonical metric and labels. */
export class HistogramStore {
  readonly #byMetric = new Map<string, Map<string, StageHistogram>>();

  cell(metric: string, labels: Labels): StageHistogram {
    let histograms = this.#byMetric.get(metric);
    if (histograms === undefined) {
      histograms = new Map();
      this.#byMetric.set(metric, histograms);
    }
    const key = labelsKey(labels);
    let histogram = histograms.get(key);
    if (histogram === undefined) {
      histogram = new StageHistogram(labels);
      histograms.set(key, histogram);
    }
    return histogram;
  }

  series(metric: string): readonly HistogramSeries[] {
    const histograms = [...(this.#byMetric.get(metric) ?? [])];
    return histograms.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, histogram]) => histogram);
  }

  releaseExpired(now: EpochMs): void {
    for (const histograms of this.#byMetric.values()) {
      for (const histogram of histograms.values()) histogram.releaseIfExpired(now);
    }
  }

  snapshot(): readonly HistogramState[] {
    return [...this.#byMetric].flatMap(([metric, histograms]) =>
      [...histograms.values()].map((histogram) => ({
        metric,
        labels: [...histogram.labels],
        layouts: histogram.snapshot(),
      })),
    );
  }

  restore(states: readonly HistogramState[]): void {
    for (const { metric, labels, layouts } of states) this.cell(metric, labelsOf(labels)).restore(layouts);
  }
}
