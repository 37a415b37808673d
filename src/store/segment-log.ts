import { mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../base/app-error.ts';
import type { IngestLog, IngestRecord, LogPosition } from './ingest-log.ts';
import { encodeRecord } from './log-record.ts';
import { readSegment } from './segment-reader.ts';

const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_AFTER_MS = 1000;

/** Bytes that are no record: a tail torn by a crash is cut; anything in the middle is passed over and named here. */
export interface LogDamage {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
  readonly kind: 'torn_tail' | 'corrupt';
}

export interface SegmentLogOptions {
  readonly directory: string;
  readonly segmentBytesMax?: number;
  /** Opens a segment for appending; replaced in tests by one that fails. */
  readonly openFile?: (path: string) => Promise<FileHandle>;
  /** Told after each sync: bytes and appends that shared it. */
  readonly onSync?: (bytes: number, appends: number) => void;
  readonly onDamage?: (damage: LogDamage) => void;
}

interface Waiting {
  readonly bytes: Buffer;
  readonly done: (position: LogPosition) => void;
  readonly failed: (error: Error) => void;
}

const segmentName = (segment: number): string => `ingest-${String(segment).padStart(10, '0')}.log`;

/** Opens the log of a directory, cutting a torn tail. Appends that arrive while a sync runs share the next one. */
export async function openIngestLog(options: SegmentLogOptions): Promise<IngestLog> {
  mkdirSync(options.directory, { recursive: true });
  return new SegmentLog(options, listSegments(options.directory));
}

function listSegments(directory: string): number[] {
  const numbers = readdirSync(directory).map((file) => /^ingest-(\d{10})\.log$/.exec(file)?.[1]);
  return numbers
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

class SegmentLog implements IngestLog {
  readonly #options: SegmentLogOptions;
  readonly #segments: number[];
  readonly #waiting: Waiting[] = [];
  #handle: FileHandle | null = null;
  #segment: number;
  #offset: number;
  #flushing: Promise<void> | null = null;
  #failedAt: number | null = null;
  #closed = false;

  constructor(options: SegmentLogOptions, segments: number[]) {
    this.#options = options;
    this.#segments = segments;
    this.#segment = segments.at(-1) ?? 0;
    this.#offset = segments.length === 0 ? 0 : this.#cutTornTail(this.#segment);
  }

  append(record: IngestRecord): Promise<LogPosition> {
    if (this.#closed) return Promise.reject(unwritable('the log is closed', undefined));
    return new Promise((done, failed) => {
      this.#waiting.push({ bytes: encodeRecord(record), done, failed });
      this.#flushing ??= this.#flushAll().finally(() => {
        this.#flushing = null;
      });
    });
  }

  *read(from: LogPosition | null): Generator<{ readonly record: IngestRecord; readonly position: LogPosition }> {
    for (const segment of [...this.#segments]) {
      if (from !== null && segment < from.segment) continue;
      const offset = from !== null && segment === from.segment ? from.offset : 0;
      const records = readSegment(this.#path(segment), offset);
      let good = offset;
      let next = records.next();
      for (; next.done !== true; next = records.next()) {
        const { record, offset: end, skipped } = next.value;
        if (skipped > 0) this.#options.onDamage?.({ segment, offset: good, bytes: skipped, kind: 'corrupt' });
        good = end;
        yield { record, position: { segment, offset: end } };
      }
      const { goodBytes, totalBytes } = next.value;
      if (goodBytes < totalBytes) {
        this.#options.onDamage?.({ segment, offset: goodBytes, bytes: totalBytes - goodBytes, kind: 'corrupt' });
      }
    }
  }

  trim(upTo: LogPosition): void {
    while (this.#segments.length > 1 && (this.#segments[0] ?? 0) < upTo.segment) {
      rmSync(this.#path(this.#segments.shift() ?? 0), { force: true });
    }
  }

  end(): LogPosition {
    return { segment: this.#segment, offset: this.#offset };
  }

  writable(): boolean {
    return !this.#closed && this.#failedAt === null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    await this.#handle?.close();
    this.#handle = null;
  }

  #path(segment: number): string {
    return join(this.#options.directory, segmentName(segment));
  }

  #cutTornTail(segment: number): number {
    const records = readSegment(this.#path(segment), 0);
    let next = records.next();
    while (next.done !== true) next = records.next();
    const { goodBytes, totalBytes } = next.value;
    if (goodBytes < totalBytes) {
      truncateSync(this.#path(segment), goodBytes);
      this.#options.onDamage?.({ segment, offset: goodBytes, bytes: totalBytes - goodBytes, kind: 'torn_tail' });
    }
    return goodBytes;
  }

  async #flushAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        await this.#write(batch);
      } catch (error) {
        // What a failed write or sync left on disk is unknown: this file is not written again.
        this.#failedAt = performance.now();
        await this.#handle?.close().catch(() => undefined);
        this.#handle = null;
        this.#segment += 1;
        this.#offset = 0;
        for (const { failed } of batch) failed(unwritable((error as Error).message, error));
      }
    }
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    if (this.#failedAt !== null && performance.now() - this.#failedAt < RETRY_AFTER_MS) {
      throw new Error('the last write failed less than a second ago');
    }
    const handle = await this.#openSegment();
    const bytes = batch.reduce((sum, one) => sum + one.bytes.length, 0);
    const { bytesWritten } = await handle.writev(batch.map((one) => one.bytes));
    // A full disk may take a part and say so only here.
    if (bytesWritten !== bytes) throw new Error(`only ${bytesWritten} of ${bytes} bytes were taken`);
    await handle.datasync();
    this.#failedAt = null;
    for (const { bytes: own, done } of batch) {
      this.#offset += own.length;
      done({ segment: this.#segment, offset: this.#offset });
    }
    this.#options.onSync?.(bytes, batch.length);
  }

  async #openSegment(): Promise<FileHandle> {
    if (this.#handle !== null && this.#offset >= (this.#options.segmentBytesMax ?? SEGMENT_BYTES_MAX)) {
      await this.#handle.close();
      this.#handle = null;
      this.#segment += 1;
      this.#offset = 0;
    }
    if (this.#handle !== null) return this.#handle;
    const openFile = this.#options.openFile ?? ((path: string) => open(path, 'a'));
    const handle = await openFile(this.#path(this.#segment));
    this.#handle = handle;
    await syncDirectory(this.#options.directory);
    if (this.#segments.at(-1) !== this.#segment) this.#segments.push(this.#segment);
    return handle;
  }
}

/** Makes the name of a new file durable, not only its contents. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const unwritable = (reason: string, cause: unknown): AppError =>
  new AppError('STORE_UNWRITABLE', `the ingest log cannot be written: ${reason}`, {
    hint: 'free space or make the data directory writable; it goes on by itself',
    retryable: true,
    cause,
  });
