import type { EpochMs } from '../base/units.ts';

export type PointKind = 'sum' | 'gauge' | 'histogram' | 'exponential_histogram' | 'summary';
export type Temporality = 'unspecified' | 'delta' | 'cumulative';

/** An attribute value as sent. Identity keeps the type (`true`, `1`, `1.0` and `"1"` differ); matching uses `text`. */
export interface AttributeValue {
  readonly type: 'string' | 'bool' | 'int' | 'double' | 'array' | 'kvlist' | 'bytes' | 'empty';
  readonly text: string;
}
export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Everything that identifies a series, decoded once, on its first point (and again after a restart). */
export interface SeriesDescription {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string; readonly attributes: Attributes };
  readonly name: string;
  readonly unit: string;
  readonly kind: PointKind;
  readonly temporality: Temporality;
  readonly monotonic: boolean;
  readonly attributes: Attributes;
  /** Balancer identity by the fallback chain of design section 7, already resolved by the ingest. */
  readonly balancer: string;
}

/** A ring of event counts. Amounts are whole numbers; a negative one corrects an earlier one. */
export interface CounterCell {
  /**
   * Adds `amount` over (from, to], spread over the 10 s steps it covers in integers (largest remainder, latest step first),
   * total exact. `from` >= `to` puts all into the step that ends at or after `to`.
   */
  add(from: EpochMs, to: EpochMs, amount: number): void;
}

/**
 * Takes what lies between the two bounds around a threshold: nobody knows on which side of it. Bounds in seconds, the
 * upper one infinite past the last bound.
 */
export interface BracketCell {
  add(from: EpochMs, to: EpochMs, amount: number, below: number, above: number): void;
}

/** Where counts at or below a threshold go. */
export interface ThresholdTarget {
  readonly cell: CounterCell;
  readonly weight: number;
  /** In the series' own unit. */
  readonly threshold: number;
  /** Gets weight x the increment of the bucket that holds the threshold, where that is no bound. */
  readonly between?: BracketCell;
  readonly toSeconds?: number;
}

/** A merged histogram over time, for stages and tails. Bounds in seconds. */
export interface HistogramCell {
  /** `counts` are the increments of one point, `counts.length === bounds.length + 1`. The arrays are only lent. */
  add(from: EpochMs, to: EpochMs, bounds: Float64Array, counts: Float64Array, sum: number | null): void;
}

/** A last value per balancer, which expires when that balancer goes stale. */
export interface GaugeCell {
  set(at: EpochMs, balancer: string, value: number): void;
}

/**
 * What the values of a number series are, where its declared type lies: a `total` that only grows (declared a gauge),
 * the `growth` since the last point (declared a gauge), or a `level` (declared a counter).
 */
export type Reads = 'total' | 'growth' | 'level';

/** What a series feeds. Compiled once; later points cost a look-up, a delta and these additions. */
export interface SeriesBinding {
  /** A profile knew the metric (even if no cell wants it). */
  readonly understood: boolean;
  /** Gets weight x (value increment of a sum, count increment of a histogram). */
  readonly counters: readonly { readonly cell: CounterCell; readonly weight: number }[];
  /**
   * Histograms only: gets weight x the increment of counts at or below `threshold`. Off a bound, the bracketing bucket is left
   * out (counted as bad) and told to `between`.
   */
  readonly atOrBelow: readonly ThresholdTarget[];
  /** `toSeconds` scales the series' bounds and sum. */
  readonly histograms: readonly { readonly cell: HistogramCell; readonly toSeconds: number }[];
  readonly gauges: readonly { readonly cell: GaugeCell; readonly weight: number }[];
  /** Explicit histograms only: gets weight x the increment of the sum, in whole numbers. Left out where empty. */
  readonly sums?: readonly { readonly cell: CounterCell; readonly weight: number }[];
  /** Left out where the declared type is true. */
  readonly reads?: Reads;
}

export interface Binder {
  bind(description: SeriesDescription): SeriesBinding;
}

/** Told once per request and balancer, with the newest point time of that balancer in the request. */
export interface BalancerListener {
  heard(balancer: string, resource: Attributes, newestPointAt: EpochMs, receivedAt: EpochMs): void;
}
