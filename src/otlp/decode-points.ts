import { type Staging, VALUE_DOUBLE, VALUE_INT, VALUE_NONE } from './staging.ts';
import { expectWire, malformed, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, type WireReader } from './wire.ts';

/**
 * Thrown when attributes do not stand together or a singular message comes in pieces: the request is normalised and
 * read again.
 */
export class NotCanonical extends Error {}

const NS_PER_MS = 1_000_000;
const NS_PER_HIGH = 4_294_967_296;
/** 2^32 ns in whole milliseconds and the rest, so that a 64-bit time splits without rounding. */
const MS_PER_HIGH = Math.floor(NS_PER_HIGH / NS_PER_MS);
const REST_PER_HIGH = NS_PER_HIGH % NS_PER_MS;
/** An attribute must be this long before nesting can be too deep (four bytes a level); shorter ones are not walked. */
const DEEP_RUN_BYTES = 400;
const NESTING_MAX = 100;

const KIND_OF_ATTRIBUTES = { number: 7, histogram: 9, exponential: 1 } as const;

function addPoint(staging: Staging, metric: number): number {
  const point = staging.addPoint();
  staging.pointMetric[point] = metric;
  staging.attributesFrom[point] = 0;
  staging.attributesTo[point] = 0;
  staging.timeMs[point] = 0;
  staging.timeSubNs[point] = 0;
  staging.startMs[point] = 0;
  staging.startSubNs[point] = 0;
  staging.flags[point] = 0;
  staging.valueKind[point] = VALUE_NONE;
  staging.count[point] = 0;
  staging.hasSum[point] = 0;
  staging.sum[point] = 0;
  staging.countsLength[point] = 0;
  staging.boundsLength[point] = 0;
  return point;
}

/** Splits a fixed64 of nanoseconds into whole milliseconds and the nanoseconds below, exactly. */
function setTime(reader: WireReader, at: number, msColumn: Float64Array, nsColumn: Int32Array, point: number): void {
  const high = reader.highAt(at);
  const low = reader.lowAt(at);
  const rest = high * REST_PER_HIGH + low;
  const carry = Math.floor(rest / NS_PER_MS);
  msColumn[point] = high * MS_PER_HIGH + carry;
  nsColumn[point] = rest - carry * NS_PER_MS;
}

/** Takes one more KeyValue of a point into its run; `from` is where its tag starts. */
function addAttribute(reader: WireReader, staging: Staging, point: number, from: number, limit: number): void {
  const end = reader.endOfBytes(limit);
  const runTo = staging.attributesTo[point] as number;
  if (runTo === 0) staging.attributesFrom[point] = from;
  else if (runTo !== from) throw new NotCanonical();
  staging.attributesTo[point] = end;
  if (end - from >= DEEP_RUN_BYTES) checkKeyValue(reader, end, 0);
  reader.position = end;
}

/** KeyValue: key 1, value 2 (AnyValue). */
function checkKeyValue(reader: WireReader, limit: number, depth: number): void {
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x12) checkAnyValue(reader, reader.endOfBytes(limit), depth);
    else reader.skip(tag & 7, limit);
  }
}

/** AnyValue: array_value 5 (values 1: AnyValue), kvlist_value 6 (values 1: KeyValue). Throws past the depth limit. */
function checkAnyValue(reader: WireReader, limit: number, depth: number): void {
  if (depth > NESTING_MAX) throw malformed(`an attribute is nested deeper than ${NESTING_MAX}`);
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag !== 0x2a && tag !== 0x32) {
      reader.skip(tag & 7, limit);
      continue;
    }
    const end = reader.endOfBytes(limit);
    while (reader.position < end) {
      const inner = reader.tag(end);
      if (inner !== 0x0a) reader.skip(inner & 7, end);
      else if (tag === 0x2a) checkAnyValue(reader, reader.endOfBytes(end), depth + 1);
      else checkKeyValue(reader, reader.endOfBytes(end), depth + 1);
    }
  }
}

/** NumberDataPoint: start 2, time 3, as_double 4, exemplars 5, as_int 6, attributes 7, flags 8. */
export function decodeNumberPoint(reader: WireReader, staging: Staging, metric: number, limit: number): void {
  const point = addPoint(staging, metric);
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    switch (tag) {
      case 0x11:
        setTime(reader, reader.fixed64(limit), staging.startMs, staging.startSubNs, point);
        break;
      case 0x19:
        setTime(reader, reader.fixed64(limit), staging.timeMs, staging.timeSubNs, point);
        break;
      case 0x21: {
        staging.value[point] = reader.doubleAt(reader.fixed64(limit));
        staging.valueKind[point] = VALUE_DOUBLE;
        break;
      }
      case 0x31: {
        const at = reader.fixed64(limit);
        const high = reader.highAt(at) | 0;
        const low = reader.lowAt(at);
        staging.intHigh[point] = high;
        staging.intLow[point] = low;
        staging.value[point] = high * NS_PER_HIGH + low;
        staging.valueKind[point] = VALUE_INT;
        break;
      }
      case 0x3a:
        addAttribute(reader, staging, point, from, limit);
        break;
      case 0x40:
        staging.flags[point] = reader.varint(limit);
        break;
      default:
        refuseKnown(tag, KIND_OF_ATTRIBUTES.number);
        reader.skip(tag & 7, limit);
    }
  }
}

/**
 * A known field with another wire type is an error, an unknown field is passed. Field numbers up to 8 are known to
 * all points.
 */
function refuseKnown(tag: number, attributes: number): void {
  if (tag >>> 3 === attributes) expectWire(tag & 7, WIRE_BYTES, 'attributes');
  if (tag >>> 3 === 2 || tag >>> 3 === 3) expectWire(tag & 7, WIRE_FIXED64, 'a time');
}

/**
 * HistogramDataPoint: start 2, time 3, count 4, sum 5, bucket_counts 6, explicit_bounds 7, exemplars 8, attributes
 * 9, flags 10.
 */
export function decodeHistogramPoint(reader: WireReader, staging: Staging, metric: number, limit: number): void {
  const point = addPoint(staging, metric);
  const start = reader.position;
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    switch (tag) {
      case 0x11:
        setTime(reader, reader.fixed64(limit), staging.startMs, staging.startSubNs, point);
        break;
      case 0x19:
        setTime(reader, reader.fixed64(limit), staging.timeMs, staging.timeSubNs, point);
        break;
      case 0x21:
        staging.count[point] = reader.unsignedAt(reader.fixed64(limit));
        break;
      case 0x29:
        staging.sum[point] = reader.doubleAt(reader.fixed64(limit));
        staging.hasSum[point] = 1;
        break;
      case 0x4a:
        addAttribute(reader, staging, point, from, limit);
        break;
      case 0x50:
        staging.flags[point] = reader.varint(limit);
        break;
      default:
        refuseKnown(tag, KIND_OF_ATTRIBUTES.histogram);
        reader.skip(tag & 7, limit);
    }
  }
  staging.countsLength[point] = collectFixed64(reader, staging, start, limit, 6, staging.countsFrom, point, false);
  staging.boundsLength[point] = collectFixed64(reader, staging, start, limit, 7, staging.boundsFrom, point, true);
  reader.position = limit;
}

/**
 * Gathers a repeated 64-bit field, packed or not, in any number of pieces, into the pool of numbers. Returns how
 * many there
 * are and writes where they start into `fromColumn`.
 */
function collectFixed64(
  reader: WireReader,
  staging: Staging,
  start: number,
  limit: number,
  field: number,
  fromColumn: Int32Array,
  point: number,
  isDouble: boolean,
): number {
  const from = staging.numberCount;
  fromColumn[point] = from;
  reader.position = start;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag >>> 3 !== field) {
      reader.skip(tag & 7, limit);
      continue;
    }
    const packed = (tag & 7) === WIRE_BYTES;
    if (!packed) expectWire(tag & 7, WIRE_FIXED64, 'a bucket field');
    const end = packed ? reader.endOfBytes(limit) : reader.position + 8;
    if (packed && (end - reader.position) % 8 !== 0) throw malformed('a packed field of 64-bit numbers is cut short');
    let at = staging.addNumbers((end - reader.position) / 8);
    while (reader.position < end) {
      const place = reader.fixed64(limit);
      staging.numbers[at++] = isDouble ? reader.doubleAt(place) : reader.unsignedAt(place);
    }
  }
  return staging.numberCount - from;
}

/**
 * ExponentialHistogramDataPoint: attributes 1, start 2, time 3, count 4, sum 5, scale 6, zero_count 7, positive 8,
 * negative 9,
 * flags 10, exemplars 11, min 12, max 13, zero_threshold 14.
 */
export function decodeExponentialPoint(reader: WireReader, staging: Staging, metric: number, limit: number): void {
  const point = addPoint(staging, metric);
  staging.scale[point] = 0;
  staging.zeroCount[point] = 0;
  staging.zeroThreshold[point] = 0;
  staging.positiveOffset[point] = 0;
  staging.negativeOffset[point] = 0;
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    switch (tag) {
      case 0x0a:
        addAttribute(reader, staging, point, from, limit);
        break;
      case 0x11:
        setTime(reader, reader.fixed64(limit), staging.startMs, staging.startSubNs, point);
        break;
      case 0x19:
        setTime(reader, reader.fixed64(limit), staging.timeMs, staging.timeSubNs, point);
        break;
      case 0x21:
        staging.count[point] = reader.unsignedAt(reader.fixed64(limit));
        break;
      case 0x29:
        staging.sum[point] = reader.doubleAt(reader.fixed64(limit));
        staging.hasSum[point] = 1;
        break;
      case 0x30:
        staging.scale[point] = reader.sint32(limit);
        break;
      case 0x39:
        staging.zeroCount[point] = reader.unsignedAt(reader.fixed64(limit));
        break;
      case 0x42:
        decodeBuckets(reader, staging, point, reader.endOfBytes(limit), 'positive');
        break;
      case 0x4a:
        decodeBuckets(reader, staging, point, reader.endOfBytes(limit), 'negative');
        break;
      case 0x50:
        staging.flags[point] = reader.varint(limit);
        break;
      case 0x71:
        staging.zeroThreshold[point] = reader.doubleAt(reader.fixed64(limit));
        break;
      default:
        refuseKnown(tag, KIND_OF_ATTRIBUTES.exponential);
        reader.skip(tag & 7, limit);
    }
  }
}

/**
 * Buckets: offset 1 (sint32), bucket_counts 2 (uint64 varints, packed or not). A second piece would have to merge:
 * normalised.
 */
function decodeBuckets(
  reader: WireReader,
  staging: Staging,
  point: number,
  limit: number,
  side: 'positive' | 'negative',
): void {
  const fromColumn = side === 'positive' ? staging.countsFrom : staging.boundsFrom;
  const lengthColumn = side === 'positive' ? staging.countsLength : staging.boundsLength;
  if (lengthColumn[point] !== 0) throw new NotCanonical();
  fromColumn[point] = staging.numberCount;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x08) {
      (side === 'positive' ? staging.positiveOffset : staging.negativeOffset)[point] = reader.sint32(limit);
    } else if (tag === 0x12) {
      const end = reader.endOfBytes(limit);
      while (reader.position < end) {
        // The place first: making it may put a larger pool in place of the old one.
        const at = staging.addNumbers(1);
        staging.numbers[at] = reader.varint(end);
      }
    } else if (tag === 0x10) {
      const at = staging.addNumbers(1);
      staging.numbers[at] = reader.varint(limit);
    } else {
      if (tag >>> 3 === 2) expectWire(tag & 7, WIRE_VARINT, 'bucket_counts');
      reader.skip(tag & 7, limit);
    }
  }
  lengthColumn[point] = staging.numberCount - (fromColumn[point] as number);
}

/** SummaryDataPoint: start 2, time 3, count 4, sum 5, quantile_values 6, attributes 7, flags 8. */
export function decodeSummaryPoint(reader: WireReader, staging: Staging, metric: number, limit: number): void {
  const point = addPoint(staging, metric);
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    if (tag === 0x11) setTime(reader, reader.fixed64(limit), staging.startMs, staging.startSubNs, point);
    else if (tag === 0x19) setTime(reader, reader.fixed64(limit), staging.timeMs, staging.timeSubNs, point);
    else if (tag === 0x3a) addAttribute(reader, staging, point, from, limit);
    else if (tag === 0x40) staging.flags[point] = reader.varint(limit);
    else reader.skip(tag & 7, limit);
  }
}
