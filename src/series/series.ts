import type { EpochMs } from '../base/units.ts';
import type { SeriesBinding, SeriesDescription } from './binding.ts';

/** Exponential buckets of one side. */
export interface ExponentialSide {
  readonly offset: number;
  readonly counts: Float64Array;
}

/** What was last received of a series. Values are absolute for cumulative series, unused for delta ones. */
export interface SeriesValues {
  /** Time and start of the last point: whole milliseconds and nanoseconds below. 0 = none yet / not sent. */
  timeMs: number;
  timeSubNs: number;
  startMs: number;
  startSubNs: number;
  /** Numbers. Ints exactly, as the halves of the two's complement. */
  isInt: boolean;
  value: number;
  intHigh: number;
  intLow: number;
  /** Histograms. */
  count: number;
  counts: Float64Array;
  bounds: Float64Array;
  scale: number;
  zeroCount: number;
  zeroThreshold: number;
  positive: ExponentialSide;
  negative: ExponentialSide;
}

const NO_NUMBERS = new Float64Array(0);
const NO_SIDE: ExponentialSide = { offset: 0, counts: NO_NUMBERS };

export const emptyValues = (): SeriesValues => ({
  timeMs: 0,
  timeSubNs: 0,
  startMs: 0,
  startSubNs: 0,
  isInt: false,
  value: 0,
  intHigh: 0,
  intLow: 0,
  count: 0,
  counts: NO_NUMBERS,
  bounds: NO_NUMBERS,
  scale: 0,
  zeroCount: 0,
  zeroThreshold: 0,
  positive: NO_SIDE,
  negative: NO_SIDE,
});

/** A resource as one sender names it: its points' times decide what a new series of it covers. */
export class ResourceState {
  readonly key: string;
  /** Newest point time, and the newest one before that. -Infinity before. */
  newest = Number.NEGATIVE_INFINITY;
  prior = Number.NEGATIVE_INFINITY;
  /** The same, as they stood when the current request began. */
  #request = -1;
  #newestBefore = Number.NEGATIVE_INFINITY;
  #priorBefore = Number.NEGATIVE_INFINITY;

  constructor(key: string) {
    this.key = key;
  }

  /** Remembers how things stood before request number `request`, once per request. */
  begin(request: number): void {
    if (this.#request === request) return;
    this.#request = request;
    this.#newestBefore = this.newest;
    this.#priorBefore = this.prior;
  }

  observe(at: number): void {
    if (at > this.newest) {
      this.prior = this.newest;
      this.newest = at;
    } else if (at < this.newest && at > this.prior) this.prior = at;
  }

  /** The resource's point before `at`, as of the start of this request; null when there was none. */
  previous(at: number): EpochMs | null {
    if (this.#newestBefore < at && Number.isFinite(this.#newestBefore)) return this.#newestBefore as EpochMs;
    if (this.#priorBefore < at && Number.isFinite(this.#priorBefore)) return this.#priorBefore as EpochMs;
    return null;
  }
}

/** One series: what it is, what it feeds, and what was last received of it. */
export class Series {
  readonly description: SeriesDescription;
  readonly resource: ResourceState;
  /** Canonical identity. */
  readonly key: string;
  binding: SeriesBinding;
  readonly values: SeriesValues = emptyValues();
  /** A scraper in between: start times are the scraper's, first values hold history. */
  readonly isScraped: boolean;

  constructor(key: string, description: SeriesDescription, resource: ResourceState, binding: SeriesBinding) {
    this.key = key;
    this.description = description;
    this.resource = resource;
    this.binding = binding;
    this.isScraped = SCRAPING_SCOPES.some((part) => description.scope.name.toLowerCase().includes(part));
  }
}

/** Scopes of receivers that scrape: what they send first is history. */
const SCRAPING_SCOPES: readonly string[] = [
  'prometheusreceiver',
  'haproxyreceiver',
  'nginxreceiver',
  'apachereceiver',
  'iisreceiver',
  'simpleprometheusreceiver',
];
