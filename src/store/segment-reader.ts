import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { IngestRecord } from './ingest-log.ts';
import { decodeRecord, HEADER_BYTES, MAGIC_BYTES, payloadLength } from './log-record.ts';

/** A good record with the offset behind it, or bytes that are none. */
export type SegmentItem =
  | { readonly kind: 'record'; readonly record: IngestRecord; readonly offset: number }
  | { readonly kind: 'damage'; readonly offset: number; readonly bytes: number };

/** How a segment ends: `torn` = with the start of a record and nothing whole behind it, as a crash leaves it. */
export interface SegmentEnd {
  readonly kind: 'whole' | 'torn' | 'corrupt';
  /** Offset behind the last record that was read. */
  readonly goodBytes: number;
  readonly totalBytes: number;
}

/** A body can be full of what looks like headers: looking into them costs at most so much per search. */
const SEARCH_BYTES_MAX = 256 * 1024 * 1024;
/** What looking at one costs at least, in bytes read. */
const LOOK_BYTES = 4096;
const WINDOW_BYTES = 1024 * 1024;

/**
 * Yields the records of one segment file from `offset` on, and the bytes in between that are none. The generator's
 * return value says how the segment ends.
 *
 * The end that a damaged record gives is believed first, so that nothing inside its body is taken for a record; only
 * where nothing whole starts there are its bytes searched. A record that says it goes on behind the end of the file was
 * most likely cut short by a crash: what its body holds is never read as records, but where that could be some (its
 * length may be what is broken) the tail counts as corrupt, so that nobody cuts it off.
 */
export function* readSegment(file: string, offset: number): Generator<SegmentItem, SegmentEnd> {
  const descriptor = openSync(file, 'r');
  try {
    const totalBytes = fstatSync(descriptor).size;
    let at = offset;
    while (at < totalBytes) {
      const found = readAt(descriptor, at, totalBytes);
      if (found.kind === 'record') {
        yield { kind: 'record', record: found.record, offset: found.end };
        at = found.end;
        continue;
      }
      const next = found.kind === 'cut' ? null : nextRecord(descriptor, at, found.end, totalBytes);
      if (next === null) break;
      yield { kind: 'damage', offset: at, bytes: next - at };
      at = next;
    }
    if (at >= totalBytes) return { kind: 'whole', goodBytes: at, totalBytes };
    const kind = searchRecord(descriptor, at + 1, totalBytes) === 'none' ? 'torn' : 'corrupt';
    return { kind, goodBytes: at, totalBytes };
  } finally {
    closeSync(descriptor);
  }
}

/** What starts at an offset. `cut`: a header whose record ends behind the file; `bad`: all else that is no record. */
type Found =
  | { readonly kind: 'record'; readonly record: IngestRecord; readonly end: number }
  | { readonly kind: 'bad'; readonly end: number | null }
  | { readonly kind: 'cut' };

function readAt(descriptor: number, at: number, totalBytes: number): Found {
  if (at + HEADER_BYTES > totalBytes) return { kind: 'bad', end: null };
  const header = readBytes(descriptor, at, HEADER_BYTES);
  const length = payloadLength(header);
  if (length === null) return { kind: 'bad', end: null };
  const end = at + HEADER_BYTES + length;
  if (end > totalBytes) return { kind: 'cut' };
  const record = decodeRecord(header, readBytes(descriptor, at + HEADER_BYTES, length));
  return record === null ? { kind: 'bad', end } : { kind: 'record', record, end };
}

/** Where the next whole record starts behind a damaged one at `at` that claims to end at `end`; null if nowhere. */
function nextRecord(descriptor: number, at: number, end: number | null, totalBytes: number): number | null {
  for (let next = end; next !== null && next < totalBytes; ) {
    const found = readAt(descriptor, next, totalBytes);
    if (found.kind === 'record') return next;
    next = found.kind === 'bad' ? found.end : null;
  }
  // A broken last record has nothing behind it: what is inside its body is not searched.
  if (end === totalBytes) return null;
  const found = searchRecord(descriptor, at + 1, totalBytes);
  return typeof found === 'number' ? found : null;
}

/** The first whole record at or behind `from`, wherever it starts; `unknown` when looking for it takes too long. */
function searchRecord(descriptor: number, from: number, totalBytes: number): number | 'none' | 'unknown' {
  let checkedBytes = 0;
  for (let start = from; start < totalBytes; start += WINDOW_BYTES) {
    const windowBytes = WINDOW_BYTES + MAGIC_BYTES.length - 1;
    const window = readBytes(descriptor, start, Math.min(windowBytes, totalBytes - start));
    for (let found = window.indexOf(MAGIC_BYTES); found >= 0; found = window.indexOf(MAGIC_BYTES, found + 1)) {
      const candidate = readAt(descriptor, start + found, totalBytes);
      if (candidate.kind === 'record') return start + found;
      const payloadEnd = candidate.kind === 'bad' && candidate.end !== null ? candidate.end : 0;
      checkedBytes += Math.max(LOOK_BYTES, payloadEnd - start - found);
      if (checkedBytes > SEARCH_BYTES_MAX) return 'unknown';
    }
  }
  return 'none';
}

function readBytes(descriptor: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    const count = readSync(descriptor, bytes, done, length - done, at + done);
    if (count === 0) throw new Error(`the file ends at ${at + done}, inside a read of ${length} bytes at ${at}`);
    done += count;
  }
  return bytes;
}
