import { malformed, WIRE_BYTES, WireReader } from './wire.ts';
import { WireWriter } from './wire-writer.ts';

/**
 * Rewrites a request so that the fast decoder can express it as ranges: singular messages that come in pieces are
 * merged (which for protobuf is putting their bytes one behind the other), of the members of Metric's oneof the last
 * on the wire stays, and fields stand in the order of their numbers, so that the attributes of a point are one run.
 */
interface MessageShape {
  /** Singular messages, merged; value = their shape. */
  readonly merged: ReadonlyMap<number, MessageShape>;
  /** Repeated messages, each rewritten. */
  readonly repeated: ReadonlyMap<number, MessageShape>;
  /** Members of a oneof. */
  readonly oneOf: readonly number[];
}

type Members = readonly (readonly [number, MessageShape])[];
const shape = (merged: Members, repeated: Members, oneOf: readonly number[] = []): MessageShape => ({
  merged: new Map(merged),
  repeated: new Map(repeated),
  oneOf,
});

const LEAF = shape([], []);
const POINTS = shape([], [[1, LEAF]]);
const EXPONENTIAL_POINT = shape(
  [
    [8, LEAF],
    [9, LEAF],
  ],
  [],
);
const METRIC = shape(
  [
    [5, POINTS],
    [7, POINTS],
    [9, POINTS],
    [10, shape([], [[1, EXPONENTIAL_POINT]])],
    [11, POINTS],
  ],
  [],
  [5, 7, 9, 10, 11],
);
const SCOPE_METRICS = shape([[1, LEAF]], [[2, METRIC]]);
const RESOURCE_METRICS = shape([[1, LEAF]], [[2, SCOPE_METRICS]]);
const REQUEST = shape([], [[1, RESOURCE_METRICS]]);

/** One field of a message as offsets; `bodyFrom` is -1 where it is not length-delimited. */
interface Field {
  readonly number: number;
  readonly from: number;
  readonly bodyFrom: number;
  readonly to: number;
}

/** More fields in one message than any request of 64 MiB needs; bounds the memory of rewriting. */
const FIELDS_MAX = 1 << 21;

/** Canonical bytes of the same message. Throws OTLP_MALFORMED where the bytes are none. */
export function normalizeMetrics(bytes: Uint8Array): Uint8Array {
  const writer = new WireWriter(bytes.length + 1024);
  rewrite(bytes, REQUEST, writer);
  return writer.finish();
}

function rewrite(bytes: Uint8Array, { merged, repeated, oneOf }: MessageShape, writer: WireWriter): void {
  const fields = lastMember(readFields(bytes), oneOf).sort((a, b) => a.number - b.number);
  for (let index = 0; index < fields.length; ) {
    const field = fields[index] as Field;
    const inner = repeated.get(field.number);
    const singular = merged.get(field.number);
    let next = index + 1;
    if (field.bodyFrom >= 0 && singular !== undefined) {
      while (fields[next]?.number === field.number) next += 1;
      nest(joinBodies(bytes, fields, index, next), field.number, singular, writer);
    } else if (field.bodyFrom >= 0 && inner !== undefined) {
      nest(bytes.subarray(field.bodyFrom, field.to), field.number, inner, writer);
    } else {
      writer.copy(bytes, field.from, field.to);
    }
    index = next;
  }
}

function nest(body: Uint8Array, number: number, inner: MessageShape, writer: WireWriter): void {
  writer.tag(number, WIRE_BYTES);
  const mark = writer.begin();
  rewrite(body, inner, writer);
  writer.end(mark);
}

/** The bodies of the fields [from, to) one behind the other. */
function joinBodies(bytes: Uint8Array, fields: readonly Field[], from: number, to: number): Uint8Array {
  const first = fields[from] as Field;
  if (to === from + 1) return bytes.subarray(first.bodyFrom, first.to);
  const joined = new WireWriter();
  for (let index = from; index < to; index += 1) {
    const { bodyFrom, to: end } = fields[index] as Field;
    if (bodyFrom < 0) throw malformed('a message has the wire type of a number');
    joined.copy(bytes, bodyFrom, end);
  }
  return joined.finish();
}

/** A member of a oneof clears the others, also earlier pieces of itself in front of them. */
function lastMember(fields: Field[], oneOf: readonly number[]): Field[] {
  const last = fields.findLast(({ number }) => oneOf.includes(number))?.number;
  if (last === undefined) return fields;
  const cleared = fields.findLastIndex(({ number }) => oneOf.includes(number) && number !== last);
  return fields.filter(({ number }, index) => !oneOf.includes(number) || index > cleared);
}

function readFields(bytes: Uint8Array): Field[] {
  const reader = new WireReader();
  reader.open(bytes);
  const limit = bytes.length;
  const fields: Field[] = [];
  while (reader.position < limit) {
    const from = reader.position;
    const tag = reader.tag(limit);
    let bodyFrom = -1;
    if ((tag & 7) === WIRE_BYTES) {
      const end = reader.endOfBytes(limit);
      bodyFrom = reader.position;
      reader.position = end;
    } else reader.skip(tag & 7, limit);
    if (fields.length === FIELDS_MAX) throw malformed(`a message may hold ${FIELDS_MAX} fields`);
    fields.push({ number: tag >>> 3, from, bodyFrom, to: reader.position });
  }
  return fields;
}
