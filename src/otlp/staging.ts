import { malformed } from './wire.ts';

/**
 * A decoded request, as columns. The decoder fills it, `series` reads it; nothing is allocated per point in steady
 * state (columns grow by doubling and are reused). Ranges are [from, to) byte offsets into `bytes`; names, attributes
 * and resources are never turned into strings here.
 */
export const KIND_GAUGE = 1;
export const KIND_SUM = 2;
export const KIND_HISTOGRAM = 3;
export const KIND_EXPONENTIAL_HISTOGRAM = 4;
export const KIND_SUMMARY = 5;

export const VALUE_NONE = 0;
export const VALUE_INT = 1;
export const VALUE_DOUBLE = 2;

/** OTLP AggregationTemporality. */
export const TEMPORALITY_UNSPECIFIED = 0;
export const TEMPORALITY_DELTA = 1;
export const TEMPORALITY_CUMULATIVE = 2;

/** DataPointFlags bit 0. */
export const FLAG_NO_RECORDED_VALUE = 1;

/**
 * A point takes at least two bytes on the wire but some 150 in the columns, a bucket one and eight: what a request may
 * hold is bounded, so that 64 MiB of empty points cannot take gigabytes. Real points of 64 MiB are less than half of
 * this.
 */
const ROWS_MAX = 1 << 21;
const NUMBERS_MAX = 1 << 25;

type Column = Int32Array | Uint8Array | Uint32Array | Float64Array;

function grown<T extends Column>(column: T, length: number): T {
  if (length <= column.length) return column;
  const Type = column.constructor as new (size: number) => T;
  const larger = new Type(Math.max(length, column.length * 2));
  larger.set(column as never);
  return larger;
}

/** Thrown when a request holds more than a staging that was made small may take; a larger one may take it. */
export class StagingFull extends Error {}

export interface StagingLimits {
  /** Scopes, metrics, data points: so many of each. */
  readonly rowsMax: number;
  /** Bucket counts and bounds. */
  readonly numbersMax: number;
}

export class Staging {
  readonly #rowsMax: number;
  readonly #numbersMax: number;
  /** Scopes and metrics of the request so far, whether they hold points or not. */
  #messages = 0;
  /** The request's bytes (inflated protobuf, fields in canonical nesting). */
  bytes: Uint8Array = new Uint8Array(0);
  /** The same bytes, for reads of more than one byte. */
  view: DataView = new DataView(new ArrayBuffer(0));

  /**
   * One context per ScopeMetrics. Ranges of the Resource message's and the InstrumentationScope message's bodies, and
   * of the scope's schema URL.
   */
  contextCount = 0;
  resourceFrom = new Int32Array(8);
  resourceTo = new Int32Array(8);
  scopeFrom = new Int32Array(8);
  scopeTo = new Int32Array(8);
  schemaFrom = new Int32Array(8);
  schemaTo = new Int32Array(8);

  /** One entry per Metric message. */
  metricCount = 0;
  metricContext = new Int32Array(64);
  nameFrom = new Int32Array(64);
  nameTo = new Int32Array(64);
  unitFrom = new Int32Array(64);
  unitTo = new Int32Array(64);
  metricKind = new Uint8Array(64);
  temporality = new Uint8Array(64);
  monotonic = new Uint8Array(64);

  /** One entry per data point. */
  pointCount = 0;
  pointMetric = new Int32Array(256);
  /** Range of the run of KeyValue fields, tags and lengths included. */
  attributesFrom = new Int32Array(256);
  attributesTo = new Int32Array(256);
  /** Whole milliseconds, floored, and the nanoseconds below them (0 to 999,999). 0 = not set. */
  timeMs = new Float64Array(256);
  timeSubNs = new Int32Array(256);
  startMs = new Float64Array(256);
  startSubNs = new Int32Array(256);
  flags = new Uint32Array(256);
  /** Numbers: VALUE_*. Ints also exactly, as two halves of the two's complement. */
  valueKind = new Uint8Array(256);
  value = new Float64Array(256);
  intHigh = new Int32Array(256);
  intLow = new Uint32Array(256);
  /** Histograms, exponential histograms, summaries. */
  count = new Float64Array(256);
  hasSum = new Uint8Array(256);
  sum = new Float64Array(256);
  /** Explicit buckets in `numbers`. */
  countsFrom = new Int32Array(256);
  countsLength = new Int32Array(256);
  /** Sum of the explicit bucket counts. */
  countsSum = new Float64Array(256);
  boundsFrom = new Int32Array(256);
  boundsLength = new Int32Array(256);
  /** Exponential buckets: positive counts use countsFrom/countsLength, negative ones boundsFrom/boundsLength. */
  scale = new Int32Array(256);
  zeroCount = new Float64Array(256);
  zeroThreshold = new Float64Array(256);
  positiveOffset = new Int32Array(256);
  negativeOffset = new Int32Array(256);

  /** Pool of bucket counts and bounds. */
  numberCount = 0;
  numbers = new Float64Array(1024);
  /** The packed bounds read last: their bytes in the body, how many bytes, and their place in the pool. */
  readonly lastBounds = { bytesFrom: 0, length: -1, from: 0 };
  /** Place of the bounds last found to be in order, which many points may share; -1 = none in this request. */
  orderedBounds = -1;

  /**
   * The points in the order of their times, where that is not the order in which they stand. Only in a staging that
   * was filled away from the event loop, where sorting blocks nobody.
   */
  order: Int32Array | null = null;

  /** Without limits it takes whatever a request may hold. */
  constructor({ rowsMax, numbersMax }: StagingLimits = { rowsMax: ROWS_MAX, numbersMax: NUMBERS_MAX }) {
    this.#rowsMax = rowsMax;
    this.#numbersMax = numbersMax;
  }

  reset(bytes: Uint8Array): void {
    this.order = null;
    this.#messages = 0;
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.contextCount = 0;
    this.metricCount = 0;
    this.pointCount = 0;
    this.numberCount = 0;
    this.lastBounds.length = -1;
    this.orderedBounds = -1;
  }

  /** Appends a context and returns its index; the caller fills its columns. */
  addContext(): number {
    this.#countMessage();
    const index = this.contextCount++;
    if (index >= this.resourceFrom.length) {
      const size = this.#boundedRows(index + 1, 'scopes');
      this.resourceFrom = grown(this.resourceFrom, size);
      this.resourceTo = grown(this.resourceTo, size);
      this.scopeFrom = grown(this.scopeFrom, size);
      this.scopeTo = grown(this.scopeTo, size);
      this.schemaFrom = grown(this.schemaFrom, size);
      this.schemaTo = grown(this.schemaTo, size);
    }
    return index;
  }

  addMetric(): number {
    this.#countMessage();
    const index = this.metricCount++;
    if (index >= this.metricContext.length) {
      const size = this.#boundedRows(index + 1, 'metrics');
      this.metricContext = grown(this.metricContext, size);
      this.nameFrom = grown(this.nameFrom, size);
      this.nameTo = grown(this.nameTo, size);
      this.unitFrom = grown(this.unitFrom, size);
      this.unitTo = grown(this.unitTo, size);
      this.metricKind = grown(this.metricKind, size);
      this.temporality = grown(this.temporality, size);
      this.monotonic = grown(this.monotonic, size);
    }
    return index;
  }

  addPoint(): number {
    const index = this.pointCount++;
    if (index >= this.pointMetric.length) this.#growPoints(this.#boundedRows(index + 1, 'data points'));
    return index;
  }

  /** Reserves `length` places in `numbers` and returns the first. */
  addNumbers(length: number): number {
    const from = this.numberCount;
    this.numberCount += length;
    if (this.numberCount > this.numbers.length) this.#growNumbers();
    return from;
  }

  /** Scopes and metrics without points leave no row, but reading them takes its time. */
  #countMessage(): void {
    this.#messages += 1;
    if (this.#messages > this.#rowsMax && this.#rowsMax < ROWS_MAX) throw new StagingFull();
  }

  #boundedRows(rows: number, what: string): number {
    if (rows > ROWS_MAX) throw malformed(`a request may hold ${ROWS_MAX} ${what}`);
    if (rows > this.#rowsMax) throw new StagingFull();
    return rows;
  }

  #growNumbers(): void {
    if (this.numberCount > NUMBERS_MAX) throw malformed(`a request may hold ${NUMBERS_MAX} bucket counts and bounds`);
    if (this.numberCount > this.#numbersMax) throw new StagingFull();
    this.numbers = grown(this.numbers, this.numberCount);
  }

  #growPoints(size: number): void {
    this.pointMetric = grown(this.pointMetric, size);
    this.attributesFrom = grown(this.attributesFrom, size);
    this.attributesTo = grown(this.attributesTo, size);
    this.timeMs = grown(this.timeMs, size);
    this.timeSubNs = grown(this.timeSubNs, size);
    this.startMs = grown(this.startMs, size);
    this.startSubNs = grown(this.startSubNs, size);
    this.flags = grown(this.flags, size);
    this.valueKind = grown(this.valueKind, size);
    this.value = grown(this.value, size);
    this.intHigh = grown(this.intHigh, size);
    this.intLow = grown(this.intLow, size);
    this.count = grown(this.count, size);
    this.hasSum = grown(this.hasSum, size);
    this.sum = grown(this.sum, size);
    this.countsFrom = grown(this.countsFrom, size);
    this.countsLength = grown(this.countsLength, size);
    this.countsSum = grown(this.countsSum, size);
    this.boundsFrom = grown(this.boundsFrom, size);
    this.boundsLength = grown(this.boundsLength, size);
    this.scale = grown(this.scale, size);
    this.zeroCount = grown(this.zeroCount, size);
    this.zeroThreshold = grown(this.zeroThreshold, size);
    this.positiveOffset = grown(this.positiveOffset, size);
    this.negativeOffset = grown(this.negativeOffset, size);
  }
}

/** The points of a request in the order of their times, those of one time as they stand; null when they stand so. */
export function timeOrder({ pointCount, timeMs, timeSubNs }: Staging): Int32Array | null {
  const compare = (a: number, b: number): number =>
    (timeMs[a] as number) - (timeMs[b] as number) || (timeSubNs[a] as number) - (timeSubNs[b] as number) || a - b;
  let point = 1;
  while (point < pointCount && compare(point - 1, point) < 0) point += 1;
  if (point >= pointCount) return null;
  return Int32Array.from({ length: pointCount }, (_, index) => index).sort(compare);
}
