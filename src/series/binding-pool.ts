import type { Reads, SeriesBinding } from './binding.ts';

/** A binding that feeds nothing is shared: most series of a balancer feed no SLO. */
const FEEDS_NOTHING: SeriesBinding = { understood: false, counters: [], atOrBelow: [], histograms: [], gauges: [] };
/** How its values are read stays with it: what is remembered of it must fit when it feeds something again. */
const READ_FOR_NOTHING: Readonly<Record<Reads, SeriesBinding>> = {
  total: { ...FEEDS_NOTHING, reads: 'total' },
  growth: { ...FEEDS_NOTHING, reads: 'growth' },
  level: { ...FEEDS_NOTHING, reads: 'level' },
};

/**
 * Bindings by what they feed: series that differ only in attributes that nobody asks for share one. One pool per
 * binder.
 */
export class BindingPool {
  readonly #ids = new Map<object, number>();
  readonly #byText = new Map<string, SeriesBinding>();

  /** The binding that stands for this one. */
  shared(binding: SeriesBinding): SeriesBinding {
    const { counters, atOrBelow, histograms, gauges, sums, reads } = binding;
    if (counters.length + atOrBelow.length + histograms.length + gauges.length === 0 && sums === undefined) {
      return reads === undefined ? FEEDS_NOTHING : READ_FOR_NOTHING[reads];
    }
    // Many gauges have a cell of their own.
    if (gauges.length > 0) return binding;
    let text = `${binding.understood} ${reads}`;
    for (const { cell, weight } of counters) text += ` c${this.#idOf(cell)}*${weight}`;
    for (const { cell, weight, threshold } of atOrBelow) text += ` b${this.#idOf(cell)}*${weight}<${threshold}`;
    for (const { cell, toSeconds } of histograms) text += ` h${this.#idOf(cell)}*${toSeconds}`;
    for (const { cell, weight } of sums ?? []) text += ` s${this.#idOf(cell)}*${weight}`;
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    this.#byText.set(text, binding);
    return binding;
  }

  #idOf(cell: object): number {
    let id = this.#ids.get(cell);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(cell, id);
    }
    return id;
  }
}
