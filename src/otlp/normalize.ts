import { malformed, WIRE_BYTES, WireReader } from './wire.ts';

/**
 * Rewrites a request so that the fast decoder can express it as ranges: singular messages that come in pieces are
 * merged
 * (which for protobuf is putting their bytes one behind the other), of several members of Metric's oneof the last stays, and
 * fields stand in the order of their numbers, so that the attributes of a point are one run.
 */
interface MessageShape {
  /** Singular messages, merged; value = their shape. */
  readonly merged: Readonly<Record<number, MessageShape>>;
  /** Repeated messages, each rewritten. */
  readonly repeated: Readonly<Record<number, MessageShape>>;
  /** Members of a oneof: only the last on the wire stays. */
  readonly oneOf: readonly number[];
}

const LEAF: MessageShape = { merged: {}, repeated: {}, oneOf: [] };
const EXPONENTIAL_POINT: MessageShape = { merged: { 8: LEAF, 9: LEAF }, repeated: {}, oneOf: [] };
const data = (point: MessageShape): MessageShape => ({ merged: {}, repeated: { 1: point }, oneOf: [] });
const METRIC: MessageShape = {
  merged: { 5: data(LEAF), 7: data(LEAF), 9: data(LEAF), 10: data(EXPONENTIAL_POINT), 11: data(LEAF) },
  repeated: {},
  oneOf: [5, 7, 9, 10, 11],
};
const SCOPE_METRICS: MessageShape = { merged: { 1: LEAF }, repeated: { 2: METRIC }, oneOf: [] };
const RESOURCE_METRICS: MessageShape = { merged: { 1: LEAF }, repeated: { 2: SCOPE_METRICS }, oneOf: [] };
const REQUEST: MessageShape = { merged: {}, repeated: { 1: RESOURCE_METRICS }, oneOf: [] };

interface Field {
  readonly number: number;
  /** Tag, length and all; for messages that are rewritten the body alone, in `body`. */
  readonly whole: Uint8Array;
  readonly body: Uint8Array | null;
}

/** Canonical bytes of the same message. Throws OTLP_MALFORMED where the bytes are none. */
export const normalizeMetrics = (bytes: Uint8Array): Uint8Array => rewrite(bytes, REQUEST);

function rewrite(bytes: Uint8Array, shape: MessageShape): Uint8Array {
  let fields = readFields(bytes);
  const lastOfOneOf = fields.findLast(({ number }) => shape.oneOf.includes(number))?.number;
  fields = fields.filter(({ number }) => !shape.oneOf.includes(number) || number === lastOfOneOf);
  const pieces: Uint8Array[] = [];
  const numbers = [...new Set(fields.map(({ number }) => number))].sort((a, b) => a - b);
  for (const number of numbers) {
    const own = fields.filter((field) => field.number === number);
    const merged = shape.merged[number];
    const repeated = shape.repeated[number];
    if (merged !== undefined) pieces.push(message(number, rewrite(join(bodies(own)), merged)));
    else if (repeated !== undefined)
      for (const body of bodies(own)) pieces.push(message(number, rewrite(body, repeated)));
    else for (const field of own) pieces.push(field.whole);
  }
  return join(pieces);
}

function readFields(bytes: Uint8Array): Field[] {
  const reader = new WireReader();
  reader.open(bytes);
  const fields: Field[] = [];
  while (reader.position < bytes.length) {
    const from = reader.position;
    const tag = reader.tag(bytes.length);
    let body: Uint8Array | null = null;
    if ((tag & 7) === WIRE_BYTES) {
      const end = reader.endOfBytes(bytes.length);
      body = bytes.subarray(reader.position, end);
      reader.position = end;
    } else reader.skip(tag & 7, bytes.length);
    fields.push({ number: tag >>> 3, whole: bytes.subarray(from, reader.position), body });
  }
  return fields;
}

const bodies = (fields: readonly Field[]): Uint8Array[] =>
  fields.map(({ number, body }) => {
    if (body === null) throw malformed(`field ${number} is not the message that it should be`);
    return body;
  });

function message(number: number, body: Uint8Array): Uint8Array {
  const head: number[] = [(number << 3) | WIRE_BYTES];
  let length = body.length;
  while (length >= 0x80) {
    head.push((length % 128) | 0x80);
    length = Math.floor(length / 128);
  }
  head.push(length);
  return join([Uint8Array.from(head), body]);
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
