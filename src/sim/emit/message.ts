import { TEMPORALITY_CUMULATIVE } from '../../otlp/staging.ts';
import { WIRE_FIXED64, WIRE_LENGTH, WireWriter } from '../../otlp/wire-writer.ts';
import type { Attributes, BalancerSeries, EmittedSeries, HistogramSeries } from './series.ts';

const TWO_32 = 4_294_967_296;
const NS_PER_MS = 1_000_000n;

/** Where a point's changing bytes lie. `sum` and `counts` only of histograms, whose `value` is their count. */
interface PointPlace {
  readonly series: EmittedSeries;
  time: number;
  value: number;
  sum: number;
  counts: number;
}

/** Encoded fields with the places of what changes in them. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly places: readonly PointPlace[];
}

/**
 * A balancer's export request, encoded once: later exports of the same series only overwrite times and values, all of
 * which have eight bytes. The bytes are reused; whoever keeps them must copy.
 */
export class MessageTemplate {
  readonly bytes: Uint8Array;
  readonly #places: readonly PointPlace[];
  readonly #view: DataView;

  /** `startMs` is the cumulative series' start, ms since 1970. */
  constructor({ resource, scope }: BalancerSeries, series: readonly EmittedSeries[], startMs: number) {
    const start = nanoseconds(startMs);
    const metrics = byMetric(series).map((of) => nested(2, metricOf(of, start)));
    const scopeFields = fields((writer) => {
      writer.stringField(1, scope.name);
      if (scope.version !== '') writer.stringField(2, scope.version);
    });
    const scopeMetrics = nested(2, joined([nested(1, scopeFields), ...metrics]));
    const resourceFields = fields((writer) => writeAttributes(writer, 1, resource));
    const request = nested(1, joined([nested(1, resourceFields), scopeMetrics]));
    this.bytes = request.bytes;
    this.#places = request.places;
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
  }

  get points(): number {
    return this.#places.length;
  }

  /** Writes the series' present values, as of `atMs` since 1970. */
  fill(atMs: number): Uint8Array {
    const [high, low] = nanoseconds(atMs);
    for (const place of this.#places) {
      this.#view.setUint32(place.time, low, true);
      this.#view.setUint32(place.time + 4, high, true);
      const { series } = place;
      if (series.kind === 'histogram') this.#fillHistogram(place, series);
      else {
        const value = series.value.column[series.value.index] ?? 0;
        if (series.kind === 'gauge' && !series.whole) this.#view.setFloat64(place.value, value, true);
        else this.#putWhole(place.value, value);
      }
    }
    return this.bytes;
  }

  #fillHistogram(place: PointPlace, { counts, sum, sumFactor, bounds }: HistogramSeries): void {
    let total = 0;
    for (let bucket = 0; bucket <= bounds.length; bucket += 1) {
      const count = counts.column[counts.index + bucket] ?? 0;
      total += count;
      this.#putWhole(place.counts + 8 * bucket, count);
    }
    this.#putWhole(place.value, total);
    this.#view.setFloat64(place.sum, (sum.column[sum.index] ?? 0) * sumFactor, true);
  }

  #putWhole(offset: number, value: number): void {
    this.#view.setUint32(offset, value % TWO_32, true);
    this.#view.setUint32(offset + 4, value / TWO_32, true);
  }
}

/** High and low half of nanoseconds since 1970. */
function nanoseconds(ms: number): readonly [high: number, low: number] {
  const ns = BigInt(Math.round(ms)) * NS_PER_MS;
  return [Number(ns >> 32n), Number(ns & 0xffff_ffffn)];
}

/** Series of one metric next to each other, in the order in which the metrics first come. */
function byMetric(series: readonly EmittedSeries[]): readonly (readonly EmittedSeries[])[] {
  const metrics = new Map<string, EmittedSeries[]>();
  for (const one of series) {
    const of = metrics.get(one.metric);
    if (of === undefined) metrics.set(one.metric, [one]);
    else of.push(one);
  }
  return [...metrics.values()];
}

const DATA_FIELD = { gauge: 5, counter: 7, histogram: 9 } as const;

function metricOf(series: readonly EmittedSeries[], start: readonly [number, number]): Piece {
  const [first] = series;
  if (first === undefined) throw new Error('BUG: a metric without series');
  const head = fields((writer) => {
    writer.stringField(1, first.metric);
    if (first.unit !== '') writer.stringField(3, first.unit);
  });
  const tail = fields((writer) => {
    if (first.kind !== 'gauge') writer.varintField(2, TEMPORALITY_CUMULATIVE);
    if (first.kind === 'counter') writer.varintField(3, 1);
  });
  const points = series.map((one) => nested(1, pointOf(one, start)));
  return joined([head, nested(DATA_FIELD[first.kind], joined([...points, tail]))]);
}

function pointOf(series: EmittedSeries, [startHigh, startLow]: readonly [number, number]): Piece {
  const writer = new WireWriter(512);
  const place: PointPlace = { series, time: 0, value: 0, sum: 0, counts: 0 };
  const hole = (field: number): number => {
    writer.tag(field, WIRE_FIXED64);
    writer.fixed64(0, 0);
    return writer.length - 8;
  };
  if (series.kind !== 'gauge') {
    writer.tag(2, WIRE_FIXED64);
    writer.fixed64(startHigh, startLow);
  }
  place.time = hole(3);
  if (series.kind === 'histogram') {
    place.value = hole(4);
    place.sum = hole(5);
    writer.tag(6, WIRE_LENGTH);
    writer.varint(8 * (series.bounds.length + 1));
    place.counts = writer.length;
    for (let bucket = 0; bucket <= series.bounds.length; bucket += 1) writer.fixed64(0, 0);
    writer.tag(7, WIRE_LENGTH);
    writer.varint(8 * series.bounds.length);
    for (const bound of series.bounds) writer.double(bound);
    writeAttributes(writer, 9, series.attributes);
  } else {
    place.value = hole(series.kind === 'gauge' && !series.whole ? 4 : 6);
    writeAttributes(writer, 7, series.attributes);
  }
  return { bytes: writer.finish(), places: [place] };
}

function writeAttributes(writer: WireWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    writer.tag(field, WIRE_LENGTH);
    const pair = writer.begin();
    writer.stringField(1, key);
    writer.tag(2, WIRE_LENGTH);
    const any = writer.begin();
    if (typeof value === 'string') writer.stringField(1, value);
    else writer.varintField(2, value ? 1 : 0);
    writer.end(any);
    writer.end(pair);
  }
}

function fields(write: (writer: WireWriter) => void): Piece {
  const writer = new WireWriter(256);
  write(writer);
  return { bytes: writer.finish(), places: [] };
}

/** The piece as the body of a nested message. Moves its places. */
function nested(field: number, { bytes, places }: Piece): Piece {
  const head = fields((writer) => {
    writer.tag(field, WIRE_LENGTH);
    writer.varint(bytes.length);
  });
  return joined([head, { bytes, places }]);
}

/** One after the other. Moves their places. */
function joined(pieces: readonly Piece[]): Piece {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.bytes.length, 0));
  const places: PointPlace[] = [];
  let from = 0;
  for (const piece of pieces) {
    bytes.set(piece.bytes, from);
    for (const place of piece.places) {
      place.time += from;
      place.value += from;
      place.sum += from;
      place.counts += from;
      places.push(place);
    }
    from += piece.bytes.length;
  }
  return { bytes, places };
}
