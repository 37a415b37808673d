import type {
  BracketCell,
  CounterCell,
  GaugeCell,
  HistogramCell,
  Reads,
  SeriesBinding,
  ThresholdTarget,
} from './binding.ts';

/** Where what lies around a threshold goes. */
interface Bracket {
  readonly between: BracketCell;
  readonly toSeconds: number;
}

interface Target {
  readonly cell: CounterCell;
  readonly threshold: number | null;
  readonly bracket: Bracket | undefined;
  weight: number;
}

/** A binding while it is put together. One cell is fed at most once per role: weights add up, and 0 feeds nothing. */
export class BindingDraft {
  readonly #targets: Target[] = [];
  readonly #histograms: { cell: HistogramCell; toSeconds: number }[] = [];
  readonly #gauges: { cell: GaugeCell; weight: number }[] = [];
  readonly #sums: { cell: CounterCell; weight: number }[] = [];

  count(cell: CounterCell, weight: number): void {
    this.#add(cell, weight, null);
  }

  /** `threshold` in the series' own unit. */
  countAtOrBelow(cell: CounterCell, weight: number, threshold: number, bracket: Bracket): void {
    this.#add(cell, weight, threshold, bracket);
  }

  observe(cell: HistogramCell, toSeconds: number): void {
    this.#histograms.push({ cell, toSeconds });
  }

  set(cell: GaugeCell, weight: number): void {
    this.#gauges.push({ cell, weight });
  }

  /** The sum of a histogram's values instead of their count. */
  countSum(cell: CounterCell, weight: number): void {
    this.#sums.push({ cell, weight });
  }

  toBinding(understood: boolean, reads?: Reads): SeriesBinding {
    const counters: { cell: CounterCell; weight: number }[] = [];
    const atOrBelow: ThresholdTarget[] = [];
    for (const { cell, threshold, weight, bracket } of this.#targets) {
      if (weight === 0) continue;
      if (threshold === null) counters.push({ cell, weight });
      else atOrBelow.push({ cell, weight, threshold, ...bracket });
    }
    return {
      understood,
      counters,
      atOrBelow,
      histograms: this.#histograms,
      gauges: this.#gauges,
      ...(this.#sums.length > 0 && { sums: this.#sums }),
      ...(reads !== undefined && { reads }),
    };
  }

  #add(cell: CounterCell, weight: number, threshold: number | null, bracket?: Bracket): void {
    const known = this.#targets.find((target) => target.cell === cell && target.threshold === threshold);
    if (known === undefined) this.#targets.push({ cell, threshold, weight, bracket });
    else known.weight += weight;
  }
}
