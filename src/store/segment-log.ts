import { readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppError } from '../base/app-error.ts';
import { makeDirectory, syncDirectory } from './durable-directory.ts';
import type { IngestLog, IngestRecord, LogPosition } from './ingest-log.ts';
import { encodeRecord } from './log-record.ts';
import { readSegment, type SegmentEnd } from './segment-reader.ts';
import { unwritable } from './unwritable.ts';

const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_AFTER_MS = 1000;
const PROBE_BYTES = 64 * 1024;

/**
 * Bytes that are no record. `torn_tail`: the start of a record that a crash cut short; `corrupt`: whatever else cannot
 * be read, left on disk and passed over; `missing`: the log ends before a position that it has had.
 */
export interface LogDamage {
  readonly segment: number;
  readonly offset: number;
  /** What it cost; 0 where that cannot be known. */
  readonly bytes: number;
  readonly kind: 'torn_tail' | 'corrupt' | 'missing';
}

export interface SegmentLogOptions {
  readonly directory: string;
  readonly segmentBytesMax?: number;
  /** Opens a file for appending; replaced in tests by one that fails. */
  readonly openFile?: (path: string) => Promise<FileHandle>;
  /** Told after each sync: bytes and appends that shared it. */
  readonly onSync?: (bytes: number, appends: number) => void;
  /** Told of a torn tail when the log is opened, and of other damage each time that it is read over. */
  readonly onDamage?: (damage: LogDamage) => void;
}

interface Waiting {
  readonly bytes: Buffer;
  readonly done: (position: LogPosition) => void;
  readonly failed: (error: Error) => void;
}

const segmentName = (segment: number): string => `ingest-${String(segment).padStart(10, '0')}.log`;

/**
 * Opens the log of a directory. A tail torn by a crash is cut off; a tail with whole records in it is never cut:
 * appends then go to a fresh segment. What is found is on disk when this resolves. Throws STORE_UNWRITABLE (retryable).
 */
export async function openIngestLog(options: SegmentLogOptions): Promise<IngestLog> {
  try {
    makeDirectory(options.directory);
    const segments = listSegments(options.directory);
    const last = segments.at(-1);
    const end = last === undefined ? { segment: 0, offset: 0 } : await settleTail(options, last);
    return new SegmentLog(options, segments, end);
  } catch (error) {
    throw logUnwritable(error);
  }
}

function listSegments(directory: string): number[] {
  const numbers = readdirSync(directory).map((file) => /^ingest-(\d{10})\.log$/.exec(file)?.[1]);
  return numbers
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Cuts a torn tail, makes the rest durable, and returns where the next append goes. */
async function settleTail({ directory, onDamage }: SegmentLogOptions, segment: number): Promise<LogPosition> {
  const path = join(directory, segmentName(segment));
  const { kind, goodBytes, totalBytes } = endOf(path);
  if (kind === 'corrupt') return { segment: segment + 1, offset: 0 };
  const handle = await open(path, 'r+');
  try {
    if (kind === 'torn') await handle.truncate(goodBytes);
    // A process that was killed may have left records in the page cache only; a snapshot must not outlive them.
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (kind === 'torn') onDamage?.({ segment, offset: goodBytes, bytes: totalBytes - goodBytes, kind: 'torn_tail' });
  return { segment, offset: goodBytes };
}

function endOf(path: string): SegmentEnd {
  const items = readSegment(path, 0);
  let next = items.next();
  while (next.done !== true) next = items.next();
  return next.value;
}

class SegmentLog implements IngestLog {
  readonly #options: SegmentLogOptions;
  /** Segments on disk, oldest first. */
  readonly #segments: number[];
  readonly #waiting: Waiting[] = [];
  #handle: FileHandle | null = null;
  /** The segment that is appended to and the durable bytes in it; its file may not exist yet. */
  #segment: number;
  #offset: number;
  /** Behind the last durable record. */
  #end: LogPosition;
  #running: Promise<void> | null = null;
  /** When writing last failed, and how; null while it works. */
  #failedAt: number | null = null;
  #failure: AppError | null = null;
  #closed = false;

  constructor(options: SegmentLogOptions, segments: number[], end: LogPosition) {
    this.#options = options;
    this.#segments = segments;
    this.#segment = end.segment;
    this.#offset = end.offset;
    this.#end = end;
  }

  append(record: IngestRecord): Promise<LogPosition> {
    if (this.#closed) return Promise.reject(logUnwritable(new Error('the log is closed')));
    if (this.#failure !== null && !this.#isRetryDue()) return Promise.reject(this.#failure);
    return new Promise((done, failed) => {
      this.#waiting.push({ bytes: encodeRecord(record), done, failed });
      this.#running ??= this.#flushAll();
    });
  }

  *read(from: LogPosition | null): Generator<{ readonly record: IngestRecord; readonly position: LogPosition }> {
    if (from !== null) this.#startBehind(from);
    for (const segment of [...this.#segments]) {
      if (from !== null && segment < from.segment) continue;
      const offset = from !== null && segment === from.segment ? from.offset : 0;
      yield* this.#readSegment(segment, offset);
    }
  }

  trim(upTo: LogPosition): void {
    while (this.#segments.length > 1 && (this.#segments[0] ?? 0) < upTo.segment) {
      rmSync(this.#path(this.#segments.shift() ?? 0), { force: true });
    }
  }

  end(): LogPosition {
    return this.#end;
  }

  writable(): boolean {
    // Without traffic nothing else would find out that the disk is back.
    if (!this.#closed && this.#failedAt !== null && this.#isRetryDue()) this.#running ??= this.#probe();
    return !this.#closed && this.#failedAt === null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#handle?.close();
    this.#handle = null;
  }

  #path(segment: number): string {
    return join(this.#options.directory, segmentName(segment));
  }

  #isRetryDue(): boolean {
    return this.#failedAt === null || performance.now() - this.#failedAt >= RETRY_AFTER_MS;
  }

  *#readSegment(segment: number, from: number) {
    const items = readSegment(this.#path(segment), from);
    let next = items.next();
    for (; next.done !== true; next = items.next()) {
      const { value } = next;
      if (value.kind === 'record') yield { record: value.record, position: { segment, offset: value.offset } };
      else this.#options.onDamage?.({ segment, offset: value.offset, bytes: value.bytes, kind: 'corrupt' });
    }
    const { kind, goodBytes, totalBytes } = next.value;
    if (kind === 'whole') return;
    const bytes = totalBytes - goodBytes;
    this.#options.onDamage?.({ segment, offset: goodBytes, bytes, kind: kind === 'torn' ? 'torn_tail' : 'corrupt' });
  }

  /**
   * A snapshot may know a position that the files do not reach (they were lost or moved away). A record appended before
   * that position would not be read at the next start.
   */
  #startBehind(from: LogPosition): void {
    const { segment, offset } = this.#end;
    if (from.segment < segment || (from.segment === segment && from.offset <= offset)) return;
    const bytes = from.segment === segment ? from.offset - offset : 0;
    this.#options.onDamage?.({ segment, offset, bytes, kind: 'missing' });
    this.#end = from;
    if (this.#handle !== null || this.#segment > from.segment) return;
    this.#segment = from.segment + 1;
    this.#offset = 0;
  }

  /** Sets #running back before it ends, so that no append can fall between the last look and the end. */
  async #flushAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        await this.#write(batch);
      } catch (error) {
        const failure = await this.#abandonSegment(error);
        for (const { failed } of [...batch, ...this.#waiting.splice(0)]) failed(failure);
      }
    }
    this.#running = null;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const handle = await this.#openSegment();
    const buffers = batch.map((one) => one.bytes);
    const bytes = await writeAll(handle, buffers);
    await handle.datasync();
    this.#failedAt = null;
    this.#failure = null;
    for (const { bytes: own, done } of batch) {
      this.#offset += own.length;
      this.#end = { segment: this.#segment, offset: this.#offset };
      done(this.#end);
    }
    this.#options.onSync?.(bytes, batch.length);
  }

  async #openSegment(): Promise<FileHandle> {
    if (this.#handle !== null && this.#offset >= (this.#options.segmentBytesMax ?? SEGMENT_BYTES_MAX)) {
      const full = this.#handle;
      this.#handle = null;
      this.#segment += 1;
      this.#offset = 0;
      await full.close();
    }
    if (this.#handle !== null) return this.#handle;
    this.#handle = await this.#openFile(this.#path(this.#segment));
    if (this.#segments.at(-1) !== this.#segment) this.#segments.push(this.#segment);
    await syncDirectory(this.#options.directory);
    return this.#handle;
  }

  #openFile(path: string): Promise<FileHandle> {
    return this.#options.openFile?.(path) ?? open(path, 'a');
  }

  /**
   * What a failed write or sync left on disk is unknown, and a second sync of the same file may say that all is well:
   * it is not written again. Its senders are told to send again, so what they sent is cut off where that is possible.
   */
  async #abandonSegment(error: unknown): Promise<AppError> {
    const handle = this.#handle;
    this.#handle = null;
    if (handle !== null) {
      await handle.truncate(this.#offset).catch(() => undefined);
      await handle.close().catch(() => undefined);
    }
    this.#segment += 1;
    this.#offset = 0;
    return this.#fail(error);
  }

  #fail(error: unknown): AppError {
    this.#failedAt = performance.now();
    this.#failure = logUnwritable(error);
    return this.#failure;
  }

  /** Writes and syncs a small file of its own: the disk takes writes again when that works. */
  async #probe(): Promise<void> {
    const path = join(this.#options.directory, 'probe.tmp');
    try {
      const handle = await this.#openFile(path);
      try {
        await writeAll(handle, [Buffer.alloc(PROBE_BYTES)]);
        await handle.datasync();
      } finally {
        await handle.close();
      }
      this.#failedAt = null;
      this.#failure = null;
    } catch (error) {
      this.#fail(error);
    }
    await rm(path, { force: true }).catch(() => undefined);
    await this.#flushAll();
  }
}

/** Writes all of it or throws. A disk that fills up takes a part and says so only in the count. */
async function writeAll(handle: FileHandle, buffers: readonly Buffer[]): Promise<number> {
  const total = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  const { bytesWritten } = await handle.writev(buffers);
  if (bytesWritten !== total) throw new Error(`only ${bytesWritten} of ${total} bytes were taken`);
  return total;
}

const logUnwritable = (error: unknown): AppError => unwritable('ingest log', (error as Error).message, error);
