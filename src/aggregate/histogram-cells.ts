import type { EpochMs } from '../base/units.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import type { LevelSpec } from './count-level.ts';
import { BALANCER_STAGE_PREFIX } from './features.ts';
import { HistogramLayout, type HistogramRange, type LayoutState } from './histogram-layout.ts';
import { BALANCER_STAGE_LEVELS, HISTOGRAM_LEVELS } from './step-ring.ts';

/** Sets of bounds kept per histogram; balancers of one fleet rarely differ in more than a few. */
const LAYOUTS_MAX = 8;

/** A stage's or tail's histogram over time, merged over all series with the same labels. */
export interface HistogramSeries {
  readonly labels: Labels;
  /** One entry per set of bounds that was sent. */
  range(from: EpochMs, to: EpochMs): readonly HistogramRange[];
}

export interface HistogramState {
  readonly metric: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly layouts: readonly LayoutState[];
}

export class StageHistogram implements HistogramSeries {
  readonly labels: Labels;
  readonly #layouts: HistogramLayout[] = [];
  /** The array of bounds that came last, and its layout: senders of one kind share the array. */
  #lastBounds: ArrayLike<number> | null = null;
  #lastLayout: HistogramLayout | null = null;

  readonly #levels: readonly LevelSpec[];

  constructor(labels: Labels, levels: readonly LevelSpec[] = HISTOGRAM_LEVELS) {
    this.labels = labels;
    this.#levels = levels;
  }

  /** As HistogramCell. Points with a ninth set of bounds are left out. */
  add(from: EpochMs, to: EpochMs, bounds: Float64Array, counts: Float64Array, sum: number | null): void {
    if (bounds !== this.#lastBounds) {
      this.#lastLayout = this.#layoutOf(bounds);
      this.#lastBounds = bounds;
    }
    this.#lastLayout?.add(from, to, counts, sum);
  }

  range(from: EpochMs, to: EpochMs): readonly HistogramRange[] {
    return this.#layouts.map((layout) => layout.range(from, to));
  }

  releaseIfExpired(now: number): void {
    for (const layout of this.#layouts) layout.releaseIfExpired(now);
  }

  snapshot(): readonly LayoutState[] {
    return this.#layouts.map((layout) => layout.snapshot());
  }

  restore(states: readonly LayoutState[]): void {
    for (const state of states) this.#layoutOf(state.bounds)?.restore(state);
  }

  #layoutOf(bounds: ArrayLike<number>): HistogramLayout | null {
    for (const layout of this.#layouts) if (sameBounds(layout.bounds, bounds)) return layout;
    if (this.#layouts.length >= LAYOUTS_MAX) return null;
    const layout = new HistogramLayout(bounds, this.#levels);
    this.#layouts.push(layout);
    return layout;
  }
}

function sameBounds(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}

const levelsOf = (metric: string): readonly LevelSpec[] =>
  metric.startsWith(BALANCER_STAGE_PREFIX) ? BALANCER_STAGE_LEVELS : HISTOGRAM_LEVELS;

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
      histogram = new StageHistogram(labels, levelsOf(metric));
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
