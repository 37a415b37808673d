import type { EpochMs } from '../base/units.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';

/** Label sets kept per metric; what comes beyond them is counted together under this label. */
const COUNTERS_MAX = 5000;
const HISTOGRAMS_MAX = 500;
/** As OpenTelemetry's SDKs name it. */
const OVERFLOW = labelsOf([['otel.metric.overflow', 'true']]);
/** A sender with more bounds than this is taken down to the usual ones. */
const BOUNDS_MAX = 40;
/** Seconds. */
const USUAL_BOUNDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

export interface TotalState {
  readonly metric: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly addedAt: number;
  readonly value: number;
  readonly shown: number;
  /** Of histograms only. */
  readonly buckets?: {
    readonly bounds: readonly number[];
    readonly counts: readonly number[];
    readonly sum: number;
  };
}

/** A counter of events since they were first heard of. */
export interface TotalSeries {
  readonly labels: Labels;
  readonly value: number;
}

/** A histogram since it was first heard of; bounds and sum in seconds. */
export interface TotalHistogramSeries {
  readonly labels: Labels;
  readonly bounds: readonly number[];
  /** One more than bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Totals for those who keep time themselves: Prometheus and what else reads /metrics. */
export interface TotalsView {
  totals(metric: string): readonly TotalSeries[];
  totalHistograms(metric: string): readonly TotalHistogramSeries[];
}

/** A cell that is in the store, or was until it had been quiet for long. */
interface Cell {
  readonly labels: Labels;
  addedAt: number;
  isKept: boolean;
}

/** Counts what all series with the same labels add, without any time: an addition is all that it costs. */
export class TotalCounter implements Cell, TotalSeries {
  readonly labels: Labels;
  addedAt = 0;
  isKept = true;
  readonly #readmit: (cell: TotalCounter) => void;
  #value = 0;
  #shown = 0;

  constructor(labels: Labels, readmit: (cell: TotalCounter) => void) {
    this.labels = labels;
    this.#readmit = readmit;
  }

  /** What was read last never falls: an increment may be corrected later (a handshake that turns out resumed). */
  get value(): number {
    this.#shown = Math.max(this.#shown, this.#value);
    return this.#shown;
  }

  add(_from: EpochMs, to: EpochMs, amount: number): void {
    if (!Number.isFinite(amount)) return;
    this.#value += amount;
    if (to > this.addedAt) this.addedAt = to;
    if (!this.isKept) this.#readmit(this);
  }

  snapshot(metric: string): TotalState {
    return { metric, labels: [...this.labels], addedAt: this.addedAt, value: this.#value, shown: this.#shown };
  }

  restore({ addedAt, value, shown }: TotalState): void {
    this.addedAt = addedAt;
    this.#value = value;
    this.#shown = shown;
  }
}

/**
 * Buckets since the start. Its bounds are those of the first sender; what other senders put between them counts at the
 * next bound above, never as faster than it was.
 */
export class TotalHistogram implements Cell, TotalHistogramSeries {
  readonly labels: Labels;
  addedAt = 0;
  isKept = true;
  readonly #readmit: (cell: TotalHistogram) => void;
  #bounds: readonly number[] = [];
  #counts = new Float64Array(1);
  #sum = 0;
  /** The bounds that came last, and where each of their buckets goes. */
  #lastBounds: ArrayLike<number> | null = null;
  #places = new Uint8Array(0);

  constructor(labels: Labels, readmit: (cell: TotalHistogram) => void) {
    this.labels = labels;
    this.#readmit = readmit;
  }

  get bounds(): readonly number[] {
    return this.#bounds;
  }

  get counts(): readonly number[] {
    return [...this.#counts];
  }

  get sum(): number {
    return this.#sum;
  }

  /** As HistogramCell. */
  add(_from: EpochMs, to: EpochMs, bounds: Float64Array, counts: Float64Array, sum: number | null): void {
    if (bounds !== this.#lastBounds) this.#placesOf(bounds);
    const own = this.#counts;
    const places = this.#places;
    for (let index = 0; index < places.length; index += 1) {
      const place = places[index] as number;
      own[place] = (own[place] as number) + (counts[index] as number);
    }
    if (sum !== null && Number.isFinite(sum)) this.#sum += sum;
    if (to > this.addedAt) this.addedAt = to;
    if (!this.isKept) this.#readmit(this);
  }

  snapshot(metric: string): TotalState {
    const buckets = { bounds: this.#bounds, counts: this.counts, sum: this.#sum };
    return { metric, labels: [...this.labels], addedAt: this.addedAt, value: 0, shown: 0, buckets };
  }

  restore({ addedAt, buckets }: TotalState): void {
    if (buckets === undefined) return;
    this.addedAt = addedAt;
    this.#bounds = buckets.bounds;
    this.#counts = Float64Array.from(buckets.counts);
    this.#sum = buckets.sum;
    this.#lastBounds = null;
  }

  #placesOf(bounds: ArrayLike<number>): void {
    if (this.#bounds.length === 0) {
      this.#bounds = bounds.length > BOUNDS_MAX ? USUAL_BOUNDS : Array.from(bounds);
      this.#counts = new Float64Array(this.#bounds.length + 1);
    }
    const own = this.#bounds;
    this.#places = Uint8Array.from({ length: bounds.length + 1 }, (_, index) => {
      const upper = bounds[index] ?? Number.POSITIVE_INFINITY;
      const place = own.findIndex((bound) => bound >= upper);
      return place === -1 ? own.length : place;
    });
    this.#lastBounds = bounds;
  }
}

/** Cells of one kind by metric and labels, at most `max` a metric. */
class Shelf<Kind extends Cell> {
  readonly #byMetric = new Map<string, Map<string, Kind>>();
  readonly #max: number;
  readonly #create: (labels: Labels, readmit: (cell: Kind) => void) => Kind;

  constructor(max: number, create: (labels: Labels, readmit: (cell: Kind) => void) => Kind) {
    this.#max = max;
    this.#create = create;
  }

  cell(metric: string, labels: Labels): Kind {
    const cells = this.#byMetric.get(metric) ?? new Map<string, Kind>();
    this.#byMetric.set(metric, cells);
    const key = labelsKey(labels);
    const known = cells.get(key);
    if (known !== undefined) return known;
    if (cells.size >= this.#max && labels !== OVERFLOW) return this.cell(metric, OVERFLOW);
    const created = this.#create(labels, (cell) => {
      cell.isKept = true;
      cells.set(key, cell);
    });
    cells.set(key, created);
    return created;
  }

  /** In the order of their labels. */
  cells(metric: string): readonly Kind[] {
    return [...(this.#byMetric.get(metric) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
  }

  *all(): Iterable<readonly [metric: string, cell: Kind]> {
    for (const [metric, cells] of this.#byMetric) for (const cell of cells.values()) yield [metric, cell];
  }

  forgetBefore(since: number, now: number): void {
    for (const cells of this.#byMetric.values()) {
      for (const [key, cell] of cells) {
        if (cell.addedAt === 0) cell.addedAt = now;
        if (cell.addedAt >= since) continue;
        cell.isKept = false;
        cells.delete(key);
      }
    }
  }
}

/** All totals. A series that has gone quiet is forgotten, and there again, with its count, when it is heard again. */
export class TotalStore implements TotalsView {
  readonly #counters = new Shelf<TotalCounter>(COUNTERS_MAX, (labels, readmit) => new TotalCounter(labels, readmit));
  readonly #histograms = new Shelf<TotalHistogram>(
    HISTOGRAMS_MAX,
    (labels, readmit) => new TotalHistogram(labels, readmit),
  );

  counter(metric: string, labels: Labels): TotalCounter {
    return this.#counters.cell(metric, labels);
  }

  histogram(metric: string, labels: Labels): TotalHistogram {
    return this.#histograms.cell(metric, labels);
  }

  totals(metric: string): readonly TotalSeries[] {
    return this.#counters.cells(metric);
  }

  totalHistograms(metric: string): readonly TotalHistogramSeries[] {
    return this.#histograms.cells(metric);
  }

  forgetBefore(since: number, now: number): void {
    this.#counters.forgetBefore(since, now);
    this.#histograms.forgetBefore(since, now);
  }

  snapshot(): readonly TotalState[] {
    return [...this.#counters.all(), ...this.#histograms.all()].map(([metric, cell]) => cell.snapshot(metric));
  }

  restore(states: readonly TotalState[]): void {
    for (const state of states) {
      const labels = labelsOf(state.labels);
      if (state.buckets === undefined) this.counter(state.metric, labels).restore(state);
      else this.histogram(state.metric, labels).restore(state);
    }
  }
}
