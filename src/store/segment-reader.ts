import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { IngestRecord } from './ingest-log.ts';
import { decodeRecord, HEADER_BYTES, MAGIC_BYTES, payloadLength } from './log-record.ts';

/** What reading a segment found behind its last good record. */
export interface SegmentEnd {
  /** Offset behind the last good record. */
  readonly goodBytes: number;
  readonly totalBytes: number;
}

export interface SegmentRecord {
  readonly record: IngestRecord;
  /** Offset behind the record. */
  readonly offset: number;
  /** Bytes between the last good record and this one that are none. */
  readonly skipped: number;
}

/**
 * Yields the good records of one segment file from `offset` on. Bytes in between that are no record are passed over; the
 * generator's return value says how much lies behind the last good one.
 */
export function* readSegment(file: string, offset: number): Generator<SegmentRecord, SegmentEnd> {
  const descriptor = openSync(file, 'r');
  try {
    const totalBytes = fstatSync(descriptor).size;
    let goodBytes = offset;
    let at: number | null = offset;
    while (at !== null && at + HEADER_BYTES <= totalBytes) {
      const found = recordAt(descriptor, at, totalBytes);
      if (found.record === null) {
        at = found.end === null ? null : nextRecord(descriptor, at, found.end, totalBytes);
        continue;
      }
      yield { record: found.record, offset: found.end, skipped: at - goodBytes };
      goodBytes = found.end;
      at = found.end;
    }
    return { goodBytes, totalBytes };
  } finally {
    closeSync(descriptor);
  }
}

/** What starts at an offset. `end` = where it says that it ends: its own start for no header, null for behind the file. */
type Found =
  | { readonly record: IngestRecord; readonly end: number }
  | { readonly record: null; readonly end: number | null };

function recordAt(descriptor: number, at: number, totalBytes: number): Found {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(descriptor, header, 0, HEADER_BYTES, at);
  const length = payloadLength(header);
  if (length === null) return { record: null, end: at };
  const end = at + HEADER_BYTES + length;
  if (end > totalBytes) return { record: null, end: null };
  const payload = Buffer.alloc(length);
  readSync(descriptor, payload, 0, length, at + HEADER_BYTES);
  return { record: decodeRecord(header, payload), end };
}

/**
 * Where the next good record starts. The end that a damaged one gives is believed first, so that nothing inside a body
 * is taken for a record; only where nothing good starts there its bytes are searched.
 */
function nextRecord(descriptor: number, at: number, end: number, totalBytes: number): number | null {
  if (end > at && (end === totalBytes || recordAt(descriptor, end, totalBytes).record !== null)) return end;
  const rest = Buffer.alloc(totalBytes - at);
  readSync(descriptor, rest, 0, rest.length, at);
  for (let found = rest.indexOf(MAGIC_BYTES, 1); found >= 0; found = rest.indexOf(MAGIC_BYTES, found + 1)) {
    const start = at + found;
    if (start + HEADER_BYTES <= totalBytes && recordAt(descriptor, start, totalBytes).record !== null) return start;
  }
  return null;
}
