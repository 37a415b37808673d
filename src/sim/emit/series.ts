/** One number of a fleet that a series sends: a place in a column. */
export interface Cell {
  readonly column: Float64Array;
  readonly index: number;
}

export type AttributeValue = string | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

interface Named {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Attributes;
}

/** A cumulative whole number. Sent from the export on in which it is first above 0, or from the first one. */
export interface CounterSeries extends Named {
  readonly kind: 'counter';
  readonly value: Cell;
  readonly fromStart: boolean;
}

export interface GaugeSeries extends Named {
  readonly kind: 'gauge';
  readonly value: Cell;
  readonly whole: boolean;
}

/** A cumulative histogram, one more count than bounds. Sent from the export on in which it holds something. */
export interface HistogramSeries extends Named {
  readonly kind: 'histogram';
  readonly bounds: readonly number[];
  /** The first of its counts. */
  readonly counts: Cell;
  readonly sum: Cell;
  /** From seconds to the unit sent. */
  readonly sumFactor: number;
}

export type EmittedSeries = CounterSeries | GaugeSeries | HistogramSeries;

/** What one balancer sends. */
export interface BalancerSeries {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
  readonly series: readonly EmittedSeries[];
  /** Computes what is no column of the fleet. Called before every export, with the time since the last one. */
  refresh(elapsedMs: number): void;
  /** Changes when other series are sent than before. */
  shape(): number;
}

export function hasBegun(series: EmittedSeries): boolean {
  switch (series.kind) {
    case 'counter':
      return series.fromStart || (series.value.column[series.value.index] ?? 0) > 0;
    case 'gauge':
      return true;
    case 'histogram':
      return (series.sum.column[series.sum.index] ?? 0) > 0;
  }
}
