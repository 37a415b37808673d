import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { IngestRecord } from './ingest-log.ts';
import { decodeRecord, HEADER_BYTES, payloadLength } from './log-record.ts';

/** What reading a segment found behind its last good record. */
export interface SegmentEnd {
  /** Offset behind the last good record. */
  readonly goodBytes: number;
  readonly totalBytes: number;
}

/**
 * Yields the good records of one segment file from `offset` on, each with the offset behind it. Stops at the first byte that
 * is no record; the generator's return value says how much lies behind it.
 */
export function* readSegment(
  file: string,
  offset: number,
): Generator<{ readonly record: IngestRecord; readonly offset: number }, SegmentEnd> {
  const descriptor = openSync(file, 'r');
  try {
    const totalBytes = fstatSync(descriptor).size;
    const header = Buffer.alloc(HEADER_BYTES);
    let at = offset;
    while (at + HEADER_BYTES <= totalBytes) {
      readSync(descriptor, header, 0, HEADER_BYTES, at);
      const length = payloadLength(header);
      if (length === null || at + HEADER_BYTES + length > totalBytes) break;
      const payload = Buffer.alloc(length);
      readSync(descriptor, payload, 0, length, at + HEADER_BYTES);
      const record = decodeRecord(header, payload);
      if (record === null) break;
      at += HEADER_BYTES + length;
      yield { record, offset: at };
    }
    return { goodBytes: at, totalBytes };
  } finally {
    closeSync(descriptor);
  }
}
