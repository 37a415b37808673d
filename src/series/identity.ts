import type { Attributes, AttributeValue } from './binding.ts';

/** Decoding of attributes, and the canonical text that two layouts of the same set share. Used on a series' first point only. */

const text = new TextDecoder('utf-8', { fatal: true });
const NESTING_MAX = 100;

/** Thrown for attributes that cannot be read: truncated, not UTF-8, nested too deep. The point is refused. */
export class UnreadableAttributes extends Error {}

class Cursor {
  readonly bytes: Uint8Array;
  at: number;
  readonly view: DataView;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** A varint as BigInt: ints of attributes are 64 bits wide. */
  varint(limit: number): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.at >= limit) throw new UnreadableAttributes('a varint is cut short');
      const byte = this.bytes[this.at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new UnreadableAttributes('a varint is longer than 10 bytes');
  }

  end(limit: number): number {
    const length = Number(this.varint(limit));
    const end = this.at + length;
    if (end > limit) throw new UnreadableAttributes('a length reaches beyond its message');
    return end;
  }

  skip(wire: number, limit: number): void {
    if (wire === 0) this.varint(limit);
    else if (wire === 1) this.at += 8;
    else if (wire === 2) this.at = this.end(limit);
    else if (wire === 5) this.at += 4;
    else throw new UnreadableAttributes(`wire type ${wire}`);
    if (this.at > limit) throw new UnreadableAttributes('a field is cut short');
  }
}

export function decodeText(bytes: Uint8Array, from: number, to: number): string {
  try {
    return text.decode(bytes.subarray(from, to));
  } catch {
    throw new UnreadableAttributes('text is not UTF-8');
  }
}

/**
 * Reads KeyValue fields with the given tag in [from, to); the last of two with one key wins. Other fields are
 * passed.
 */
export function decodeAttributes(bytes: Uint8Array, from: number, to: number, attributeTag: number): Attributes {
  const cursor = new Cursor(bytes, from);
  const attributes = new Map<string, AttributeValue>();
  while (cursor.at < to) {
    const tag = Number(cursor.varint(to));
    if (tag !== attributeTag) {
      cursor.skip(tag & 7, to);
      continue;
    }
    const end = cursor.end(to);
    const [key, value] = decodeKeyValue(cursor, end, 0);
    attributes.set(key, value);
    cursor.at = end;
  }
  return attributes;
}

function decodeKeyValue(cursor: Cursor, limit: number, depth: number): readonly [string, AttributeValue] {
  let key = '';
  let value: AttributeValue = { type: 'empty', text: '' };
  while (cursor.at < limit) {
    const tag = Number(cursor.varint(limit));
    if (tag === 0x0a || tag === 0x12) {
      const end = cursor.end(limit);
      if (tag === 0x0a) key = decodeText(cursor.bytes, cursor.at, end);
      else value = decodeAnyValue(cursor, end, depth + 1);
      cursor.at = end;
    } else cursor.skip(tag & 7, limit);
  }
  return [key, value];
}

/** AnyValue: string 1, bool 2, int 3, double 4, array 5, kvlist 6, bytes 7. */
function decodeAnyValue(cursor: Cursor, limit: number, depth: number): AttributeValue {
  if (depth > NESTING_MAX) throw new UnreadableAttributes(`nested deeper than ${NESTING_MAX}`);
  let value: AttributeValue = { type: 'empty', text: '' };
  while (cursor.at < limit) {
    const tag = Number(cursor.varint(limit));
    switch (tag) {
      case 0x10:
        value = { type: 'bool', text: cursor.varint(limit) === 0n ? 'false' : 'true' };
        break;
      case 0x18:
        value = { type: 'int', text: String(BigInt.asIntN(64, cursor.varint(limit))) };
        break;
      case 0x21:
        if (cursor.at + 8 > limit) throw new UnreadableAttributes('a double is cut short');
        value = { type: 'double', text: String(cursor.view.getFloat64(cursor.at, true)) };
        cursor.at += 8;
        break;
      case 0x0a:
      case 0x2a:
      case 0x32:
      case 0x3a: {
        const end = cursor.end(limit);
        value = decodeCompound(cursor, tag, end, depth);
        cursor.at = end;
        break;
      }
      default:
        cursor.skip(tag & 7, limit);
    }
  }
  return value;
}

function decodeCompound(cursor: Cursor, tag: number, end: number, depth: number): AttributeValue {
  if (tag === 0x0a) return { type: 'string', text: decodeText(cursor.bytes, cursor.at, end) };
  if (tag === 0x3a) return { type: 'bytes', text: [...cursor.bytes.subarray(cursor.at, end)].join(' ') };
  const parts: unknown[] = [];
  while (cursor.at < end) {
    const inner = Number(cursor.varint(end));
    if (inner !== 0x0a) {
      cursor.skip(inner & 7, end);
      continue;
    }
    const innerEnd = cursor.end(end);
    parts.push(
      tag === 0x2a ? decodeAnyValue(cursor, innerEnd, depth + 1) : decodeKeyValue(cursor, innerEnd, depth + 1),
    );
    cursor.at = innerEnd;
  }
  return { type: tag === 0x2a ? 'array' : 'kvlist', text: JSON.stringify(parts) };
}

/** The same text for the same set of typed attributes, in whatever order they were sent. */
export function attributesKey(attributes: Attributes): string {
  const sorted = [...attributes].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return JSON.stringify(sorted.map(([name, { type, text: value }]) => [name, type, value]));
}

/**
 * Who sent this (design section 7): the resource's own word, else the identity header, else the peer's address.
 * `own` tells whether the resource named itself.
 */
export function balancerOf(
  resource: Attributes,
  source: { readonly peer: string; readonly identityHeader: string | null },
): { readonly id: string; readonly own: boolean } {
  const of = (name: string): string | undefined => resource.get(name)?.text || undefined;
  const host = of('host.name');
  const pid = of('process.pid');
  const named =
    of('service.instance.id') ??
    of('k8s.pod.uid') ??
    of('k8s.pod.name') ??
    (host === undefined || pid === undefined ? host : `${host}/${pid}`) ??
    of('container.id');
  return named === undefined ? { id: source.identityHeader ?? source.peer, own: false } : { id: named, own: true };
}
