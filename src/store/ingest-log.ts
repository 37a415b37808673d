import type { EpochMs } from '../base/units.ts';

/** One accepted request, as it arrived. Replaying records in order rebuilds the state exactly. */
export interface IngestRecord {
  readonly receivedAt: EpochMs;
  readonly transport: 'http' | 'grpc';
  readonly encoding: 'protobuf' | 'json';
  readonly compression: 'none' | 'gzip';
  readonly peer: string;
  readonly identityHeader: string | null;
  /** The raw (still compressed) body. */
  readonly body: Uint8Array;
}

/** Position just behind a record: segment number and byte offset in it. Ordered. */
export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
}

/**
 * Append-only log of accepted requests (design section 12). An interface, so that another medium can take its place.
 */
export interface IngestLog {
  /**
   * Resolves with the position behind the record once it is on disk (several appends share one fdatasync), in append
   * order. Rejects with AppError STORE_UNWRITABLE (retryable).
   */
  append(record: IngestRecord): Promise<LogPosition>;
  /**
   * Records behind `from` (null = from the oldest kept), oldest first. Called at start, before the first append; when
   * the log ends before `from`, later appends get positions behind it all the same.
   */
  read(from: LogPosition | null): Iterable<{ readonly record: IngestRecord; readonly position: LogPosition }>;
  /** Removes whole segments that lie wholly at or before `upTo`. */
  trim(upTo: LogPosition): void;
  /** Behind the last record that is on disk. */
  end(): LogPosition;
  writable(): boolean;
  close(): Promise<void>;
}
