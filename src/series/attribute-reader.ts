import type { Attributes, AttributeValue, SeriesDescription } from './binding.ts';

/** Decoding of attributes from their bytes; for the first point of a series, and when all series are bound again. */

const NESTING_MAX = 100;
/** Field number 2^29 - 1, wire type 7. */
const TAG_MAX = 2 ** 32 - 1;
const INT_EXACT_MAX = 2 ** 53;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Thrown for what cannot be read: cut short, not UTF-8, nested too deep. The points that it belongs to are refused.
 */
export class UnreadableAttributes extends Error {}

class Cursor {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** A varint; rounded above 2^53. */
  varint(limit: number): number {
    let value = 0;
    let scale = 1;
    for (let length = 1; length <= 10; length += 1) {
      if (this.at >= limit) throw new UnreadableAttributes('a varint is cut short');
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new UnreadableAttributes('a varint is longer than 10 bytes');
  }

  tag(limit: number): number {
    const tag = this.varint(limit);
    if (tag < 8 || tag > TAG_MAX) throw new UnreadableAttributes('a field number is out of range');
    return tag;
  }

  /** An int64 as decimal text, exact over all 64 bits. */
  int64Text(limit: number): string {
    const from = this.at;
    const value = this.varint(limit);
    if (value < INT_EXACT_MAX) return String(value);
    let exact = 0n;
    for (let at = this.at - 1; at >= from; at -= 1) exact = (exact << 7n) | BigInt((this.bytes[at] as number) & 0x7f);
    return String(BigInt.asIntN(64, exact));
  }

  doubleText(limit: number): string {
    if (this.at + 8 > limit) throw new UnreadableAttributes('a double is cut short');
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8);
    this.at += 8;
    return String(view.getFloat64(0, true));
  }

  end(limit: number): number {
    const length = this.varint(limit);
    const end = this.at + length;
    if (end > limit) throw new UnreadableAttributes('a length reaches beyond its message');
    return end;
  }

  /** A string field's text; the cursor stands behind it afterwards. */
  text(limit: number): string {
    const end = this.end(limit);
    const value = decodeText(this.bytes, this.at, end);
    this.at = end;
    return value;
  }

  skip(wire: number, limit: number): void {
    if (wire === 0) this.varint(limit);
    else if (wire === 1) this.at += 8;
    else if (wire === 2) this.at = this.end(limit);
    else if (wire === 5) this.at += 4;
    else throw new UnreadableAttributes(`wire type ${wire} is not used by protobuf 3`);
    if (this.at > limit) throw new UnreadableAttributes('a field is cut short');
  }
}

const SHORT_BYTES_MAX = 40;
/** Texts seen lately, by a hash of their bytes: keys and most values of attributes come again and again. */
const seen: string[] = Array.from({ length: 4096 }, () => '');

/** Text from UTF-8 bytes. Throws UnreadableAttributes where they are none. */
export function decodeText(bytes: Uint8Array, from: number, to: number): string {
  const length = to - from;
  if (length > SHORT_BYTES_MAX) return decodeUtf8(bytes, from, to);
  let hash = length;
  let either = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    either |= byte;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  if (either >= 0x80) return decodeUtf8(bytes, from, to);
  const slot = (hash ^ (hash >>> 12)) & (seen.length - 1);
  const known = seen[slot] as string;
  if (known.length === length && isText(known, bytes, from)) return known;
  const text = String.fromCharCode(...bytes.subarray(from, to));
  seen[slot] = text;
  return text;
}

function isText(text: string, bytes: Uint8Array, from: number): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) !== bytes[from + index]) return false;
  return true;
}

function decodeUtf8(bytes: Uint8Array, from: number, to: number): string {
  try {
    return utf8.decode(bytes.subarray(from, to));
  } catch {
    throw new UnreadableAttributes('text is not UTF-8');
  }
}

/**
 * Reads the KeyValue fields with the given tag in [from, to); the last of two with one key wins. Other fields are
 * passed.
 */
export function decodeAttributes(bytes: Uint8Array, from: number, to: number, attributeTag: number): Attributes {
  const cursor = new Cursor(bytes, from);
  const attributes = new Map<string, AttributeValue>();
  while (cursor.at < to) {
    const tag = cursor.tag(to);
    if (tag === attributeTag) decodeKeyValue(cursor, cursor.end(to), 0, (key, value) => attributes.set(key, value));
    else cursor.skip(tag % 8, to);
  }
  return attributes;
}

/** InstrumentationScope: name 1, version 2, attributes 3. */
export function decodeScope(bytes: Uint8Array, from: number, to: number): SeriesDescription['scope'] {
  const cursor = new Cursor(bytes, from);
  let name = '';
  let version = '';
  while (cursor.at < to) {
    const tag = cursor.tag(to);
    if (tag === 0x0a) name = cursor.text(to);
    else if (tag === 0x12) version = cursor.text(to);
    else cursor.skip(tag % 8, to);
  }
  return { name, version, attributes: decodeAttributes(bytes, from, to, 0x1a) };
}

/**
 * A value while it is read. The last member on the wire wins; pieces of one list are joined, which must not cost more
 * with each piece.
 */
interface Draft {
  type: AttributeValue['type'];
  text: string;
  /** Elements of an array or a list of pairs. */
  parts: string[];
}

const newDraft = (): Draft => ({ type: 'empty', text: '', parts: [] });

const set = (draft: Draft, type: AttributeValue['type'], text: string): void => {
  draft.type = type;
  draft.text = text;
  draft.parts = [];
};

const isList = (type: AttributeValue['type']): boolean => type === 'array' || type === 'kvlist';

/** Lists as JSON text that keeps the types. */
const finished = ({ type, text, parts }: Draft): AttributeValue => ({
  type,
  text: isList(type) ? `[${parts.join(',')}]` : text,
});

/** KeyValue: key 1, value 2. */
function decodeKeyValue(
  cursor: Cursor,
  limit: number,
  depth: number,
  take: (key: string, value: AttributeValue) => void,
): void {
  let key = '';
  const draft = newDraft();
  while (cursor.at < limit) {
    const tag = cursor.tag(limit);
    if (tag === 0x0a) key = cursor.text(limit);
    else if (tag === 0x12) decodeAnyValue(cursor, cursor.end(limit), depth + 1, draft);
    else cursor.skip(tag % 8, limit);
  }
  take(key, finished(draft));
}

/** AnyValue: string 1, bool 2, int 3, double 4, array 5, kvlist 6, bytes 7. A piece of a value, into its draft. */
function decodeAnyValue(cursor: Cursor, limit: number, depth: number, draft: Draft): void {
  if (depth > NESTING_MAX) throw new UnreadableAttributes(`nested deeper than ${NESTING_MAX} levels`);
  while (cursor.at < limit) {
    const tag = cursor.tag(limit);
    switch (tag) {
      case 0x0a:
        set(draft, 'string', cursor.text(limit));
        break;
      case 0x10:
        set(draft, 'bool', cursor.varint(limit) === 0 ? 'false' : 'true');
        break;
      case 0x18:
        set(draft, 'int', cursor.int64Text(limit));
        break;
      case 0x21:
        set(draft, 'double', cursor.doubleText(limit));
        break;
      case 0x2a:
      case 0x32:
        decodeList(cursor, tag, cursor.end(limit), depth, draft);
        break;
      case 0x3a: {
        const end = cursor.end(limit);
        set(draft, 'bytes', cursor.bytes.subarray(cursor.at, end).join(' '));
        cursor.at = end;
        break;
      }
      default:
        cursor.skip(tag % 8, limit);
    }
  }
}

/**
 * ArrayValue: values 1 (AnyValue). KeyValueList: values 1 (KeyValue). Lists inside stand in the text as JSON
 * themselves, since text quoted again at every level would double with each.
 */
function decodeList(cursor: Cursor, kind: number, end: number, depth: number, draft: Draft): void {
  const type = kind === 0x2a ? 'array' : 'kvlist';
  if (draft.type !== type) set(draft, type, '');
  const { parts } = draft;
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    if (tag !== 0x0a) cursor.skip(tag % 8, end);
    else if (kind === 0x2a) {
      const element = newDraft();
      decodeAnyValue(cursor, cursor.end(end), depth + 1, element);
      parts.push(`[${typedText(finished(element))}]`);
    } else {
      decodeKeyValue(cursor, cursor.end(end), depth, (key, inner) =>
        parts.push(`[${JSON.stringify(key)},${typedText(inner)}]`),
      );
    }
  }
}

const typedText = ({ type, text }: AttributeValue): string => `"${type}",${isList(type) ? text : JSON.stringify(text)}`;
