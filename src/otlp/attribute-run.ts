import type { Staging } from './staging.ts';
import { malformed, type WireReader } from './wire.ts';

/**
 * Thrown when attributes do not stand together or a singular message comes in pieces: the request is normalised and
 * read again.
 */
export class NotCanonical extends Error {}

const NESTING_MAX = 100;
/** A value must be this long before it can nest too deep (four bytes a level); shorter ones are not walked. */
const DEEP_BYTES_MIN = 4 * NESTING_MAX;

/** Takes one more KeyValue of a point into its run; `from` is where its tag starts. */
export function addAttribute(reader: WireReader, staging: Staging, point: number, from: number, limit: number): void {
  const end = reader.endOfBytes(limit);
  const runTo = staging.attributesTo[point] as number;
  if (runTo === 0) staging.attributesFrom[point] = from;
  else if (runTo !== from) throw new NotCanonical();
  staging.attributesTo[point] = end;
  if (end - from >= DEEP_BYTES_MIN) checkKeyValue(reader, end, 0);
  reader.position = end;
}

/** Passes a KeyValue that is not kept, unless it nests too deep. */
export function passKeyValue(reader: WireReader, limit: number): void {
  const end = reader.endOfBytes(limit);
  if (end - reader.position >= DEEP_BYTES_MIN) checkKeyValue(reader, end, 0);
  reader.position = end;
}

/**
 * Walks the KeyValue fields with this tag in the message up to `limit` where they are long enough to nest too deep.
 */
export function checkNesting(reader: WireReader, limit: number, attributeTag: number): void {
  if (limit - reader.position >= DEEP_BYTES_MIN) {
    while (reader.position < limit) {
      const tag = reader.tag(limit);
      if (tag === attributeTag) checkKeyValue(reader, reader.endOfBytes(limit), 0);
      else reader.skip(tag & 7, limit);
    }
  }
  reader.position = limit;
}

/** KeyValue: key 1, value 2 (AnyValue). */
function checkKeyValue(reader: WireReader, limit: number, depth: number): void {
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag === 0x12) checkAnyValue(reader, reader.endOfBytes(limit), depth + 1);
    else reader.skip(tag & 7, limit);
  }
}

/** AnyValue: array_value 5 (values 1: AnyValue), kvlist_value 6 (values 1: KeyValue). Throws past the depth limit. */
function checkAnyValue(reader: WireReader, limit: number, depth: number): void {
  if (depth > NESTING_MAX) throw malformed(`an attribute value is nested deeper than ${NESTING_MAX} levels`);
  while (reader.position < limit) {
    const tag = reader.tag(limit);
    if (tag !== 0x2a && tag !== 0x32) {
      reader.skip(tag & 7, limit);
      continue;
    }
    const end = reader.endOfBytes(limit);
    while (reader.position < end) {
      const inner = reader.tag(end);
      if (inner !== 0x0a) reader.skip(inner & 7, end);
      else if (tag === 0x2a) checkAnyValue(reader, reader.endOfBytes(end), depth + 1);
      else checkKeyValue(reader, reader.endOfBytes(end), depth);
    }
  }
}
