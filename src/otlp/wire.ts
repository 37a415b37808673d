import { AppError } from '../base/app-error.ts';

/** Protobuf wire types that occur in proto3. Groups (3, 4) are refused. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_FIXED32 = 5;

const VARINT_BYTES_MAX = 10;
/** A varint is summed up as its low 35 bits and the 29 above them. */
const TWO_29 = 2 ** 29;
const TWO_35 = 2 ** 35;
const EMPTY = new Uint8Array(0);

export const malformed = (message: string): AppError => new AppError('OTLP_MALFORMED', message);

/**
 * A bounded reader over one byte array. One instance is reused for all messages, so that reading allocates nothing.
 * Every read checks `limit`, the end of the message being read, and throws OTLP_MALFORMED where it would pass it.
 */
export class WireReader {
  bytes: Uint8Array = EMPTY;
  view: DataView = new DataView(EMPTY.buffer);
  position = 0;

  /** Subclasses of Uint8Array are viewed as plain ones, so that every read meets one hidden class. */
  open(bytes: Uint8Array): void {
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.position = 0;
  }

  /** A varint as a double: exact below 2^53, rounded once above; bits past the 64th are dropped. */
  varint(limit: number): number {
    const at = this.position;
    const first = this.bytes[at] as number;
    if (at < limit && first < 0x80) {
      this.position = at + 1;
      return first;
    }
    return this.#longVarint(limit);
  }

  /** The low 32 bits of a varint, as protobuf cuts a value that is too wide for its field. */
  uint32(limit: number): number {
    const { bytes } = this;
    let at = this.position;
    let low = 0;
    for (let shift = 0; shift < 7 * VARINT_BYTES_MAX; shift += 7) {
      if (at >= limit) throw malformed('a varint is cut short');
      const byte = bytes[at++] as number;
      if (shift < 32) low |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.position = at;
        return low >>> 0;
      }
    }
    throw malformed(`a varint is longer than ${VARINT_BYTES_MAX} bytes`);
  }

  /** A zigzag-encoded sint32. */
  sint32(limit: number): number {
    const raw = this.uint32(limit);
    return (raw >>> 1) ^ -(raw & 1);
  }

  /**
   * The next tag as an int32: `>>> 3` is the field, `& 7` the wire type. Field number 0 and those above 2^29 - 1 are
   * refused.
   */
  tag(limit: number): number {
    const at = this.position;
    const first = this.bytes[at] as number;
    if (at < limit && first < 0x80 && first >= 8) {
      this.position = at + 1;
      return first;
    }
    const tag = this.#longVarint(limit);
    if (tag < 8 || tag > 0xffffffff) throw malformed('a field number is out of range');
    return tag | 0;
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
    return this.view.getUint32(at, true);
  }

  highAt(at: number): number {
    return this.view.getUint32(at + 4, true);
  }

  doubleAt(at: number): number {
    return this.view.getFloat64(at, true);
  }

  /** An unsigned 64-bit number as a double; rounded above 2^53. */
  unsignedAt(at: number): number {
    return this.view.getUint32(at + 4, true) * 4_294_967_296 + this.view.getUint32(at, true);
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

  #longVarint(limit: number): number {
    const { bytes } = this;
    let at = this.position;
    let low = 0;
    let high = 0;
    let scale = 1;
    for (let length = 1; length <= VARINT_BYTES_MAX; length += 1) {
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
    throw malformed(`a varint is longer than ${VARINT_BYTES_MAX} bytes`);
  }
}

/** Throws unless a known field has the wire type that its definition asks for. */
export function expectWire(found: number, wanted: number, what: string): void {
  if (found !== wanted) throw malformed(`${what} has wire type ${found}, not ${wanted}`);
}
