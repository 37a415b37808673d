/** Protobuf wire types that slowburn writes. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_LENGTH = 2;

const TWO_32 = 4_294_967_296;
const encoder = new TextEncoder();
const doubles = new Float64Array(1);
const doubleHalves = new Uint32Array(doubles.buffer);
// A typed array holds numbers in the machine's byte order; the wire is little-endian.
doubles[0] = 1;
const LOW_HALF = doubleHalves[0] === 0 ? 0 : 1;

/** A 64-bit value as a caller may hold it: exact as bigint or decimal text, a whole number only up to 2^53. */
export type Integer64 = bigint | number | string;

/**
 * Appends protobuf fields to a growing buffer. Nested messages are written between `begin` and `end`; their length is
 * put in front afterwards, so that nothing is measured twice.
 */
export class WireWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacityBytes = 1024) {
    this.#bytes = new Uint8Array(capacityBytes);
  }

  get length(): number {
    return this.#length;
  }

  /** The bytes written so far, as a copy of their own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Forgets everything written behind `length`. */
  truncate(length: number): void {
    this.#length = length;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  /** A varint of a whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= TWO_32) {
      this.#bytes[this.#length++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A varint of 64 bits given as two unsigned halves (two's complement when negative). */
  varint64(high: number, low: number): void {
    this.#reserve(10);
    let upper = high >>> 0;
    let lower = low >>> 0;
    while (upper !== 0) {
      this.#bytes[this.#length++] = (lower & 0x7f) | 0x80;
      lower = ((lower >>> 7) | (upper << 25)) >>> 0;
      upper >>>= 7;
    }
    this.varint(lower);
  }

  fixed64(high: number, low: number): void {
    this.#reserve(8);
    const bytes = this.#bytes;
    const at = this.#length;
    bytes[at] = low;
    bytes[at + 1] = low >>> 8;
    bytes[at + 2] = low >>> 16;
    bytes[at + 3] = low >>> 24;
    bytes[at + 4] = high;
    bytes[at + 5] = high >>> 8;
    bytes[at + 6] = high >>> 16;
    bytes[at + 7] = high >>> 24;
    this.#length = at + 8;
  }

  /** Eight bytes of a double; the payload of a NaN is not kept. */
  double(value: number): void {
    doubles[0] = value;
    this.fixed64(doubleHalves[1 - LOW_HALF] as number, doubleHalves[LOW_HALF] as number);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Copies bytes [from, to) of `source`. */
  copy(source: Uint8Array, from: number, to: number): void {
    const size = to - from;
    this.#reserve(size);
    const bytes = this.#bytes;
    const shift = this.#length - from;
    // A view costs more than copying a short string byte by byte.
    if (size > 48) bytes.set(source.subarray(from, to), this.#length);
    else for (let at = from; at < to; at++) bytes[at + shift] = source[at] as number;
    this.#length += size;
  }

  /** UTF-8 without a length in front; lone surrogates become U+FFFD. */
  text(value: string): void {
    this.#reserve(value.length * 3);
    const from = this.#length;
    for (let index = 0; index < value.length; index++) {
      const unit = value.charCodeAt(index);
      if (unit >= 0x80) {
        this.#length = from + encoder.encodeInto(value, this.#bytes.subarray(from)).written;
        return;
      }
      this.#bytes[from + index] = unit;
    }
    this.#length = from + value.length;
  }

  /** Leaves room for a length; `end` fills it in. Returns the mark that `end` wants. */
  begin(): number {
    this.byte(0);
    return this.#length;
  }

  /** Writes the length of everything behind `mark` in front of it, moving it up where one byte is too short. */
  end(mark: number): void {
    const size = this.#length - mark;
    if (size < 128) {
      this.#bytes[mark - 1] = size;
      return;
    }
    let extra = 1;
    for (let rest = size / 128; rest >= 128; rest /= 128) extra += 1;
    this.#reserve(extra);
    this.#bytes.copyWithin(mark + extra, mark, mark + size);
    this.#length = mark - 1;
    this.varint(size);
    this.#length = mark + extra + size;
  }

  stringField(field: number, value: string): void {
    this.tag(field, WIRE_LENGTH);
    const mark = this.begin();
    this.text(value);
    this.end(mark);
  }

  bytesField(field: number, value: Uint8Array): void {
    this.tag(field, WIRE_LENGTH);
    this.varint(value.length);
    this.raw(value);
  }

  /** A varint field of a whole number from 0 to 2^53 - 1. */
  varintField(field: number, value: number): void {
    this.tag(field, WIRE_VARINT);
    this.varint(value);
  }

  doubleField(field: number, value: number): void {
    this.tag(field, WIRE_FIXED64);
    this.double(value);
  }

  /** fixed64 and sfixed64 alike: the low 64 bits of the two's complement. */
  fixed64Field(field: number, value: Integer64): void {
    this.tag(field, WIRE_FIXED64);
    this.fixed64Value(value);
  }

  fixed64Value(value: Integer64): void {
    const exact = toExact(value);
    if (typeof exact === 'number') this.fixed64(Math.floor(exact / TWO_32), exact % TWO_32);
    else this.fixed64(Number(BigInt.asIntN(32, exact >> 32n)), Number(BigInt.asIntN(32, exact)));
  }

  /** int64 and uint64 alike: a varint of the low 64 bits of the two's complement. */
  varint64Value(value: Integer64): void {
    const exact = toExact(value);
    if (typeof exact === 'number' && exact >= 0) this.varint(exact);
    else this.varint64(Number(BigInt.asUintN(32, BigInt(exact) >> 32n)), Number(BigInt.asUintN(32, BigInt(exact))));
  }
}

function toExact(value: Integer64): number | bigint {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no whole number that a double holds exactly`);
    return value;
  }
  return typeof value === 'string' ? BigInt(value) : value;
}

/** Maps a signed 32-bit number to the unsigned one that sint32 writes as a varint. */
export const zigzag32 = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;
