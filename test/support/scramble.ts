import type { Prng } from '../../src/base/prng.ts';
import { WIRE_BYTES, WireReader } from '../../src/otlp/wire.ts';
import { WireWriter } from '../../src/otlp/wire-writer.ts';

/**
 * Messages by field: which fields hold messages, which of those are singular, which are packed 64-bit numbers or
 * varints.
 */
interface Shape {
  readonly singular?: Readonly<Record<number, Shape>>;
  readonly repeated?: Readonly<Record<number, Shape>>;
  readonly packed64?: readonly number[];
  readonly packedVarint?: readonly number[];
}

const LEAF: Shape = {};
const BUCKETS: Shape = { packedVarint: [2] };
const points = (point: Shape): Shape => ({ repeated: { 1: point } });
const REQUEST: Shape = {
  repeated: {
    1: {
      singular: { 1: LEAF },
      repeated: {
        2: {
          singular: { 1: LEAF },
          repeated: {
            2: {
              singular: {
                5: points(LEAF),
                7: points(LEAF),
                9: points({ packed64: [6, 7] }),
                10: points({ singular: { 8: BUCKETS, 9: BUCKETS } }),
                11: points(LEAF),
              },
            },
          },
        },
      },
    },
  },
};

/**
 * Other bytes of the same message: fields in any order (repeated ones keep theirs among themselves), singular messages
 * in several pieces, packed fields in pieces or unpacked, unknown fields of every wire type in between, lengths
 * written too long.
 */
export const scramble = (bytes: Uint8Array, prng: Prng): Uint8Array => rewrite(bytes, REQUEST, prng);

function rewrite(bytes: Uint8Array, shape: Shape, prng: Prng): Uint8Array {
  const byField = new Map<number, Uint8Array[]>();
  const reader = new WireReader();
  reader.open(bytes);
  while (reader.position < bytes.length) {
    const from = reader.position;
    const tag = reader.tag(bytes.length);
    const field = tag >>> 3;
    let pieces: Uint8Array[];
    if ((tag & 7) === WIRE_BYTES) {
      const end = reader.endOfBytes(bytes.length);
      const body = bytes.subarray(reader.position, end);
      reader.position = end;
      pieces = piecesOf(field, body, shape, prng);
    } else {
      reader.skip(tag & 7, bytes.length);
      pieces = [bytes.subarray(from, reader.position)];
    }
    byField.set(field, [...(byField.get(field) ?? []), ...pieces]);
  }
  const unknown = prng.below(3) === 0 ? unknownFields() : [];
  const queues = [...byField.values(), ...unknown.map((piece) => [piece])];
  const writer = new WireWriter();
  while (queues.length > 0) {
    const index = prng.below(queues.length);
    const piece = queues[index]?.shift();
    if (piece === undefined) queues.splice(index, 1);
    else writer.raw(piece);
  }
  return writer.finish();
}

function piecesOf(field: number, body: Uint8Array, shape: Shape, prng: Prng): Uint8Array[] {
  const singular = shape.singular?.[field];
  const repeated = shape.repeated?.[field];
  if (repeated !== undefined) return [message(field, rewrite(body, repeated, prng), prng)];
  if (singular !== undefined) {
    const inner = rewrite(body, singular, prng);
    return (prng.below(3) === 0 ? splitMessage(inner) : [inner]).map((piece) => message(field, piece, prng));
  }
  if (shape.packed64?.includes(field) === true && prng.below(2) === 0) return unpack(field, 1, body, 8);
  if (shape.packedVarint?.includes(field) === true && prng.below(2) === 0) return unpackVarints(field, body);
  return [message(field, body, prng)];
}

/** The first half of a message's fields, and the rest. */
function splitMessage(bytes: Uint8Array): Uint8Array[] {
  const reader = new WireReader();
  reader.open(bytes);
  const edges = [0];
  while (reader.position < bytes.length) {
    reader.skip(reader.tag(bytes.length) & 7, bytes.length);
    edges.push(reader.position);
  }
  const middle = edges[edges.length >> 1] ?? 0;
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

function unpack(field: number, wire: number, body: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += size) {
    const writer = new WireWriter();
    writer.tag(field, wire);
    writer.raw(body.subarray(at, at + size));
    pieces.push(writer.finish());
  }
  return pieces;
}

function unpackVarints(field: number, body: Uint8Array): Uint8Array[] {
  const reader = new WireReader();
  reader.open(body);
  const pieces: Uint8Array[] = [];
  while (reader.position < body.length) {
    const from = reader.position;
    reader.varint(body.length);
    const writer = new WireWriter();
    writer.tag(field, 0);
    writer.raw(body.subarray(from, reader.position));
    pieces.push(writer.finish());
  }
  return pieces;
}

function message(field: number, body: Uint8Array, prng: Prng): Uint8Array {
  const writer = new WireWriter();
  writer.tag(field, WIRE_BYTES);
  if (prng.below(4) === 0 && body.length < 128) {
    writer.byte(body.length | 0x80);
    writer.byte(0);
  } else writer.varint(body.length);
  writer.raw(body);
  return writer.finish();
}

/** Field 1000 as each wire type that protobuf 3 has. */
function unknownFields(): Uint8Array[] {
  const varint = new WireWriter();
  varint.varintField(1000, 300);
  const fixed64 = new WireWriter();
  fixed64.doubleField(1001, 1.5);
  const bytes = new WireWriter();
  bytes.bytesField(1002, Uint8Array.of(0xff, 0, 0x80));
  const fixed32 = new WireWriter();
  fixed32.tag(1003, 5);
  fixed32.raw(Uint8Array.of(1, 2, 3, 4));
  return [varint, fixed64, bytes, fixed32].map((writer) => writer.finish());
}
