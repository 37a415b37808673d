import { equalBytes } from '../base/equal-bytes.ts';
import { addAttribute, NotCanonical } from './attribute-run.ts';
import { type Staging, VALUE_DOUBLE, VALUE_INT, VALUE_NONE } from './staging.ts';
import { expectWire, malformed, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, type WireReader } from './wire.ts';

const NS_PER_MS = 1_000_000;
const TWO_32 = 4_294_967_296;
/** 2^32 ns in whole milliseconds and the rest, so that a 64-bit time splits without rounding. */
const MS_PER_HIGH = Math.floor(TWO_32 / NS_PER_MS);
const REST_PER_HIGH = TWO_32 % NS_PER_MS;

/** The last time that was split: nearly all points of a request share their time, and their start. */
interface SplitTime {
  high: number;
  low: number;
  ms: number;
  subNs: number;
}
const pointTime: SplitTime = { high: 0, low: 0, ms: 0, subNs: 0 };
const startTime: SplitTime = { high: 0, low: 0, ms: 0, subNs: 0 };

/** Splits a fixed64 of nanoseconds into whole milliseconds and the nanoseconds below, exactly. */
function split(reader: WireReader, limit: number, time: SplitTime): void {
  const at = reader.fixed64(limit);
  const high = reader.highAt(at);
  const low = reader.lowAt(at);
  if (high === time.high && low === time.low) return;
  const rest = high * REST_PER_HIGH + low;
  const carry = Math.floor(rest / NS_PER_MS);
  time.high = high;
  time.low = low;
  time.ms = high * MS_PER_HIGH + carry;
  time.subNs = rest - carry * NS_PER_MS;
}

function readTime(reader: WireReader, staging: Staging, point: number, limit: number): void {
  split(reader, limit, pointTime);
  staging.timeMs[point] = pointTime.ms;
  staging.timeSubNs[point] = pointTime.subNs;
}

function readStart(reader: WireReader, staging: Staging, point: number, limit: number): void {
  split(reader, limit, startTime);
  staging.startMs[point] = startTime.ms;
  staging.startSubNs[point] = startTime.subNs;
}

/** A row whose columns hold what a point without fields would have. */
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
  staging.countsFrom[point] = 0;
  staging.countsLength[point] = 0;
  staging.boundsFrom[point] = 0;
  staging.boundsLength[point] = 0;
  return point;
}

/**
 * A known field with another wire type is an error, an unknown field is passed. Start 2 and time 3 are known to all
 * points.
 */
function passField(reader: WireReader, tag: number, attributes: number, limit: number): void {
  const field = tag >>> 3;
  if (field === attributes) expectWire(tag & 7, WIRE_BYTES, 'attributes');
  if (field === 2 || field === 3) expectWire(tag & 7, WIRE_FIXED64, 'a time');
  reader.skip(tag & 7, limit);
}

/** NumberDataPoint: start 2, time 3, as_double 4, exemplars 5, as_int 6, attributes 7, flags 8. */
export function decodeNumberPoint(reader: WireReader, staging: Staging, metric: number, limit: number): void {
  const point = addPoint(staging, metric);
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    switch (tag) {
      case 0x11:
        readStart(reader, staging, point, limit);
        break;
      case 0x19:
        readTime(reader, staging, point, limit);
        break;
      case 0x21:
        staging.value[point] = reader.doubleAt(reader.fixed64(limit));
        staging.valueKind[point] = VALUE_DOUBLE;
        break;
      case 0x31: {
        const at = reader.fixed64(limit);
        const high = reader.highAt(at) | 0;
        const low = reader.lowAt(at);
        staging.intHigh[point] = high;
        staging.intLow[point] = low;
        staging.value[point] = high * TWO_32 + low;
        staging.valueKind[point] = VALUE_INT;
        break;
      }
      case 0x3a:
        addAttribute(reader, staging, point, from, limit);
        break;
      case 0x40:
        staging.flags[point] = reader.uint32(limit);
        break;
      default:
        passField(reader, tag, 7, limit);
    }
  }
}

/**
 * HistogramDataPoint: start 2, time 3, count 4, sum 5, bucket_counts 6, explicit_bounds 7, exemplars 8, attributes 9,
 * flags 10.
 */
export function decodeHistogramPoint(reader: WireReader, staging: Staging, metric: number, limit: number): void {
  const point = addPoint(staging, metric);
  const start = reader.position;
  let inPieces = false;
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    switch (tag) {
      case 0x11:
        readStart(reader, staging, point, limit);
        break;
      case 0x19:
        readTime(reader, staging, point, limit);
        break;
      case 0x21:
        staging.count[point] = reader.unsignedAt(reader.fixed64(limit));
        break;
      case 0x29:
        staging.sum[point] = reader.doubleAt(reader.fixed64(limit));
        staging.hasSum[point] = 1;
        break;
      case 0x32:
        if (staging.countsLength[point] !== 0) inPieces = true;
        staging.countsFrom[point] = staging.numberCount;
        staging.countsLength[point] = readCounts(reader, staging, point, limit);
        break;
      case 0x3a:
        if (staging.boundsLength[point] !== 0) inPieces = true;
        readBounds(reader, staging, point, limit);
        break;
      case 0x31:
      case 0x39:
        inPieces = true;
        reader.fixed64(limit);
        break;
      case 0x4a:
        addAttribute(reader, staging, point, from, limit);
        break;
      case 0x50:
        staging.flags[point] = reader.uint32(limit);
        break;
      default:
        if (tag >>> 3 === 6 || tag >>> 3 === 7) expectWire(tag & 7, WIRE_FIXED64, 'a bucket field');
        passField(reader, tag, 9, limit);
    }
  }
  if (inPieces) gatherPieces(reader, staging, point, start, limit);
}

/** Bounds, which nearly always are those of a point just before: then the two share their place in the pool. */
function readBounds(reader: WireReader, staging: Staging, point: number, limit: number): void {
  const start = reader.position;
  const end = reader.endOfBytes(limit);
  const from = reader.position;
  const length = end - from;
  const { lastBounds } = staging;
  if (length === lastBounds.length && equalBytes(reader.view, lastBounds.bytesFrom, reader.view, from, length)) {
    reader.position = end;
  } else {
    reader.position = start;
    lastBounds.from = staging.numberCount;
    readDoubles(reader, staging, limit);
    lastBounds.bytesFrom = from;
    lastBounds.length = length;
  }
  staging.boundsFrom[point] = lastBounds.from;
  staging.boundsLength[point] = length / 8;
}

/** The range of a packed field of 64-bit numbers, from the reader's position on. */
function endOfPacked(reader: WireReader, limit: number): number {
  const end = reader.endOfBytes(limit);
  if (((end - reader.position) & 7) !== 0) throw malformed('a packed field of 64-bit numbers is cut short');
  return end;
}

/** Packed bucket counts into the pool, and their sum; returns how many there are. */
function readCounts(reader: WireReader, staging: Staging, point: number, limit: number): number {
  const end = endOfPacked(reader, limit);
  const from = reader.position;
  const length = (end - from) >> 3;
  let place = staging.addNumbers(length);
  const { numbers } = staging;
  const { view } = reader;
  let sum = 0;
  for (let at = from; at < end; at += 8) {
    const count = view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true);
    numbers[place] = count;
    sum += count;
    place += 1;
  }
  staging.countsSum[point] = sum;
  reader.position = end;
  return length;
}

/** Packed bounds into the pool; returns how many there are. */
function readDoubles(reader: WireReader, staging: Staging, limit: number): number {
  const end = endOfPacked(reader, limit);
  const from = reader.position;
  const length = (end - from) >> 3;
  const first = staging.addNumbers(length);
  for (let index = 0; index < length; index += 1) staging.numbers[first + index] = reader.doubleAt(from + index * 8);
  reader.position = end;
  return length;
}

/** Bucket fields that are unpacked, or packed in several pieces, are read again, each into one run of the pool. */
function gatherPieces(reader: WireReader, staging: Staging, point: number, start: number, limit: number): void {
  for (const field of [6, 7]) {
    const from = staging.numberCount;
    reader.position = start;
    while (reader.position < limit) {
      const tag = reader.tag(limit);
      if (tag >>> 3 !== field) reader.skip(tag & 7, limit);
      else if ((tag & 7) === WIRE_BYTES) {
        if (field === 7) readDoubles(reader, staging, limit);
        else readCounts(reader, staging, point, limit);
      } else {
        const at = reader.fixed64(limit);
        const place = staging.addNumbers(1);
        staging.numbers[place] = field === 7 ? reader.doubleAt(at) : reader.unsignedAt(at);
      }
    }
    const length = staging.numberCount - from;
    if (field === 6) {
      staging.countsFrom[point] = from;
      staging.countsLength[point] = length;
      let sum = 0;
      for (let place = from; place < from + length; place += 1) sum += staging.numbers[place] as number;
      staging.countsSum[point] = sum;
    } else {
      staging.boundsFrom[point] = from;
      staging.boundsLength[point] = length;
    }
  }
}

/**
 * ExponentialHistogramDataPoint: attributes 1, start 2, time 3, count 4, sum 5, scale 6, zero_count 7, positive 8,
 * negative 9, flags 10, exemplars 11, min 12, max 13, zero_threshold 14.
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
        readStart(reader, staging, point, limit);
        break;
      case 0x19:
        readTime(reader, staging, point, limit);
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
        decodeBuckets(reader, staging, point, reader.endOfBytes(limit), true);
        break;
      case 0x4a:
        decodeBuckets(reader, staging, point, reader.endOfBytes(limit), false);
        break;
      case 0x50:
        staging.flags[point] = reader.uint32(limit);
        break;
      case 0x71:
        staging.zeroThreshold[point] = reader.doubleAt(reader.fixed64(limit));
        break;
      default:
        passField(reader, tag, 1, limit);
    }
  }
}

/**
 * Buckets: offset 1 (sint32), bucket_counts 2 (uint64 varints, packed or not). A second piece would have to merge:
 * normalised.
 */
function decodeBuckets(reader: WireReader, staging: Staging, point: number, limit: number, isPositive: boolean): void {
  const fromColumn = isPositive ? staging.countsFrom : staging.boundsFrom;
  const lengthColumn = isPositive ? staging.countsLength : staging.boundsLength;
  if (lengthColumn[point] !== 0) throw new NotCanonical();
  const first = staging.numberCount;
  fromColumn[point] = first;
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x08) {
      const offset = reader.sint32(limit);
      if (isPositive) staging.positiveOffset[point] = offset;
      else staging.negativeOffset[point] = offset;
    } else if (tag === 0x12) {
      const end = reader.endOfBytes(limit);
      while (reader.position < end) addBucket(staging, reader.varint(end));
    } else if (tag === 0x10) {
      addBucket(staging, reader.varint(limit));
    } else {
      if (tag >>> 3 === 2) expectWire(tag & 7, WIRE_VARINT, 'bucket_counts');
      reader.skip(tag & 7, limit);
    }
  }
  lengthColumn[point] = staging.numberCount - first;
}

function addBucket(staging: Staging, count: number): void {
  const at = staging.addNumbers(1);
  staging.numbers[at] = count;
}

/**
 * SummaryDataPoint: start 2, time 3, count 4, sum 5, quantile_values 6, attributes 7, flags 8. Only what tells who
 * sent it is kept.
 */
export function decodeSummaryPoint(reader: WireReader, staging: Staging, metric: number, limit: number): void {
  const point = addPoint(staging, metric);
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    if (tag === 0x11) readStart(reader, staging, point, limit);
    else if (tag === 0x19) readTime(reader, staging, point, limit);
    else if (tag === 0x3a) addAttribute(reader, staging, point, from, limit);
    else if (tag === 0x40) staging.flags[point] = reader.uint32(limit);
    else passField(reader, tag, 7, limit);
  }
}
