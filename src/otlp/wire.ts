import { AppError } from '../base/app-error.ts';

/** Protobuf wire types that occur in proto3. Groups (3, 4) are refused. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_FIXED32 = 5;

/** A varint is summed up as its low 35 bits and the 29 above them. */
const TWO_29 = 2 ** 29;
const TWO_35 = 2 ** 35;

export const malformed = (message: string): AppError => new AppError('OTLP_MALFORMED', message);

/**
 * A bounded reader over one byte array. One instance is reused for all messages, so that reading allocates nothing.
 * Every read
 * checks `limit`, the end of the message being read.
 */
export class WireReader {
  bytes: Uint8Array = new Uint8Array(0);
  position = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));

  open(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.position = 0;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** A varint as a double: exact below 2^53, rounded once above; bits past the 64th are dropped. */
  varint(limit: number): number {
    const { bytes } = this;
    let at = this.position;
    const first = bytes[at] as number;
    if (at < limit && first < 0x80) {
      this.position = at + 1;
      return first;
    }
    let low = 0;
    let high = 0;
    let scale = 1;
    for (let length = 1; length <= 10; length += 1) {
      if (at >= limit) throw malformed('a varint is cut short');
      const byte = bytes[at++] as number;
      if (length <= 5) low += (byte & 0x7f) * scale;
      else high += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.position = at;
        return length <= 5 ? low : (high % TWO_29) * TWO_35 + low;
      }
      scale = length === 5 ? 1 : scale * 128;
    }
    throw malformed('a varint is longer than 10 bytes');
  }

  /** A zigzag-encoded sint32. */
  sint32(limit: number): number {
    const raw = this.varint(limit) >>> 0;
    return (raw >>> 1) ^ -(raw & 1);
  }

  /** The next tag. Field numbers below 1 are refused. */
  tag(limit: number): number {
    const tag = this.varint(limit);
    if (tag < 8 || tag > 0xffffffff) throw malformed('a field number is out of range');
    return tag;
  }

  /** Reads a length and returns the end of what it covers, which must lie within `limit`. */
  endOfBytes(limit: number): number {
    const length = this.varint(limit);
    const end = this.position + length;
    if (end > limit) throw malformed('a length reaches beyond its message');
    return end;
  }

  /** Position of eight bytes, which are then passed. */
  fixed64(limit: number): number {
    const at = this.position;
    if (at + 8 > limit) throw malformed('a 64-bit field is cut short');
    this.position = at + 8;
    return at;
  }

  lowAt(at: number): number {
    return this.#view.getUint32(at, true);
  }

  highAt(at: number): number {
    return this.#view.getUint32(at + 4, true);
  }

  doubleAt(at: number): number {
    return this.#view.getFloat64(at, true);
  }

  /** An unsigned 64-bit number as a double; rounded above 2^53. */
  unsignedAt(at: number): number {
    return this.#view.getUint32(at + 4, true) * 4_294_967_296 + this.#view.getUint32(at, true);
  }

  /** Passes one field of any wire type. */
  skip(wireType: number, limit: number): void {
    switch (wireType) {
      case WIRE_VARINT:
        this.varint(limit);
        return;
      case WIRE_FIXED64:
        this.fixed64(limit);
        return;
      case WIRE_BYTES:
        this.position = this.endOfBytes(limit);
        return;
      case WIRE_FIXED32:
        if (this.position + 4 > limit) throw malformed('a 32-bit field is cut short');
        this.position += 4;
        return;
      default:
        throw malformed(`wire type ${wireType} is not used by protobuf 3`);
    }
  }
}

/** Throws unless a known field has the wire type that its definition asks for. */
export function expectWire(found: number, wanted: number, what: string): void {
  if (found !== wanted) throw malformed(`${what} has wire type ${found}, not ${wanted}`);
}
