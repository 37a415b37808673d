import type { Prng } from '../../src/base/prng.ts';
import { concat, varint } from './wire-bytes.ts';

/** A field as it stands on the wire; what its bytes hold as fields again, where they can be read so. */
interface Field {
  number: number;
  wire: number;
  /** Of wire types other than 2, the value as written. */
  raw: Uint8Array;
  children: Field[] | null;
  /** Instead of the true length. */
  length?: Uint8Array;
}

const DEPTH_MAX = 12;
const ALL_ONES = new Uint8Array(10).fill(0xff);
/** Ways to write a number that is wrong or odd: unending, eleven bytes, the largest, zero written long. */
const ODD_VARINTS = [
  ALL_ONES,
  concat(ALL_ONES, Uint8Array.of(1)),
  concat(ALL_ONES.subarray(1), Uint8Array.of(1)),
].concat([Uint8Array.of(0x80, 0x80, 0), varint(2 ** 31), varint(2 ** 32 - 1), varint(2 ** 53 - 1), Uint8Array.of()]);

/** Other bytes that are nearly the same message: one to three faults at the level of fields. */
export function mutateProto(bytes: Uint8Array, prng: Prng): Uint8Array {
  const root: Field = { number: 0, wire: 2, raw: bytes, children: parse(bytes, 0) };
  for (let faults = 1 + prng.below(3); faults > 0; faults -= 1) {
    const parents = withChildren(root);
    const parent = parents[prng.below(parents.length)];
    if (parent !== undefined) mutateOne(parent, root, prng);
  }
  const body = write(root.children ?? []);
  if (prng.below(8) === 0) return body.subarray(0, prng.below(body.length + 1));
  if (prng.below(8) === 0 && body.length > 0) body[prng.below(body.length)] = prng.below(256);
  return body;
}

function parse(bytes: Uint8Array, depth: number): Field[] | null {
  const fields: Field[] = [];
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[at++] ?? -1;
      if (byte < 0) return -1;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return -1;
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const [number, wire] = [Math.floor(tag / 8), tag & 7];
    if (tag < 8) return null;
    const from = at;
    if (wire === 0) {
      while ((bytes[at] ?? 0) >= 0x80) at += 1;
      at += 1;
    } else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 2) {
      const length = readVarint();
      if (length < 0 || at + length > bytes.length) return null;
      const raw = bytes.subarray(at, at + length);
      at += length;
      fields.push({ number, wire, raw, children: depth < DEPTH_MAX ? parse(raw, depth + 1) : null });
      continue;
    } else return null;
    if (at > bytes.length) return null;
    fields.push({ number, wire, raw: bytes.subarray(from, at), children: null });
  }
  return fields;
}

function withChildren(field: Field): Field[] {
  return field.children === null || field.children.length === 0
    ? []
    : [field, ...field.children.flatMap((child) => withChildren(child))];
}

function write(fields: readonly Field[]): Uint8Array {
  return concat(
    ...fields.flatMap(({ number, wire, raw, children, length }) => {
      const tag = varint(number * 8 + wire);
      if (wire !== 2) return [tag, raw];
      const body = children === null ? raw : write(children);
      return [tag, length ?? varint(body.length), body];
    }),
  );
}

function mutateOne(parent: Field, root: Field, prng: Prng): void {
  const children = parent.children ?? [];
  const index = prng.below(children.length);
  const field = children[index];
  if (field === undefined) return;
  const pick = <T>(values: readonly T[]): T => values[prng.below(values.length)] as T;
  const copy = (): Field => structuredClone(field);
  switch (prng.below(14)) {
    case 0:
      field.length = pick(ODD_VARINTS);
      return;
    case 1: {
      const size = field.children === null ? field.raw.length : write(field.children).length;
      field.length = varint(Math.max(0, size + pick([-8, -2, -1, 1, 2, 8, 1000])));
      return;
    }
    case 2:
      field.wire = pick([0, 1, 2, 3, 4, 5, 6, 7]);
      return;
    case 3:
      field.number = pick([0, 1, 2, 3, 5, 6, 7, 9, 10, 11, 14, 536_870_911]);
      return;
    case 4:
      if (field.wire === 0) field.raw = pick(ODD_VARINTS);
      else if (field.children === null) field.raw = randomBytes(prng, field.raw.length);
      return;
    case 5:
      children.splice(prng.below(children.length + 1), 0, copy());
      return;
    case 6:
      children.splice(index, 1);
      return;
    case 7:
      children.splice(index, 1);
      children.splice(prng.below(children.length + 1), 0, field);
      return;
    case 8:
      pick(withChildren(root))?.children?.push(copy());
      return;
    case 9:
      children.splice(index, 0, ...Array.from({ length: pick([2, 20, 200]) }, copy));
      return;
    case 10:
      field.raw = nested(pick([1, 49, 50, 51, 99, 100, 101, 1000, 10_000]), pick([0x2a, 0x32]));
      field.children = null;
      field.wire = 2;
      return;
    case 11:
      field.raw = randomBytes(prng, prng.below(64));
      field.children = null;
      return;
    case 12:
      children.splice(index, 0, { number: 1000 + prng.below(9), wire: 2, raw: randomBytes(prng, 9), children: null });
      return;
    default:
      children.reverse();
  }
}

export const randomBytes = (prng: Prng, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => prng.below(256));

/** Attribute values inside each other: arrays (tag 0x2a) or lists of pairs (0x32). */
function nested(depth: number, tag: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let level = 0; level < depth; level += 1) {
    const heads = tag === 0x2a ? [0x0a, 0x2a] : [0x12, 0x0a, 0x32];
    for (const head of heads) {
      const part = concat(Uint8Array.of(head), varint(size));
      parts.push(part);
      size += part.length;
    }
  }
  return concat(Uint8Array.of(0x12), varint(size), ...parts.reverse());
}
