import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from './crc32.ts';
import { makeDirectory, syncDirectorySync } from './durable-directory.ts';
import type { LogPosition } from './ingest-log.ts';
import { unwritable } from './unwritable.ts';

/** State as of a position of the ingest log: everything behind it must be read again. */
export interface Snapshot {
  readonly position: LogPosition;
  readonly state: unknown;
}

interface SnapshotFile {
  readonly name: string;
  readonly number: number;
  /** Null in names that do not tell it. */
  readonly position: LogPosition | null;
}

const KEPT = 2;
const CHECKSUM_BYTES = 4;

/** The log position is in the name, so that the log can be trimmed without reading the older file. */
const NAME = /^state-(\d{12})(?:\.(\d{10})-(\d+))?\.snapshot$/;

/** Oldest first. */
function listSnapshots(directory: string): SnapshotFile[] {
  return readdirSync(directory)
    .flatMap((name) => {
      const [, number, segment, offset] = NAME.exec(name) ?? [];
      if (number === undefined) return [];
      const position = segment === undefined ? null : { segment: Number(segment), offset: Number(offset) };
      return [{ name, number: Number(number), position }];
    })
    .sort((a, b) => a.number - b.number);
}

/**
 * Writes a snapshot whole or not at all (temporary file, sync, rename) and keeps the last two. `state` is
 * structured-cloneable. Returns the position up to which no snapshot that is kept needs the log any more.
 * Throws STORE_UNWRITABLE (retryable); the older snapshots are then as they were.
 */
export function saveSnapshot(directory: string, snapshot: Snapshot): LogPosition {
  const body = serialize(snapshot);
  try {
    return writeSnapshot(directory, snapshot.position, body);
  } catch (error) {
    throw unwritable('snapshot', (error as Error).message, error);
  }
}

function writeSnapshot(directory: string, position: LogPosition, body: Buffer): LogPosition {
  makeDirectory(directory);
  const files = listSnapshots(directory);
  const number = String((files.at(-1)?.number ?? 0) + 1).padStart(12, '0');
  const name = `state-${number}.${String(position.segment).padStart(10, '0')}-${position.offset}.snapshot`;
  const temporary = join(directory, 'writing.tmp');
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(body));
  const descriptor = openSync(temporary, 'w');
  try {
    writeAll(descriptor, checksum);
    writeAll(descriptor, body);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, join(directory, name));
  syncDirectorySync(directory);
  const kept = files.slice(-(KEPT - 1));
  for (const old of files.slice(0, -kept.length)) rmSync(join(directory, old.name), { force: true });
  // Should the first one prove damaged, the whole log takes its place.
  return kept[0]?.position ?? { segment: 0, offset: 0 };
}

/**
 * The newest snapshot that can be read, or null when there is none. Damaged ones are named to `onDamage` and renamed to
 * `*.damaged`, so that they do not count among the two that are kept.
 */
export function loadNewestSnapshot(directory: string, onDamage?: (file: string) => void): Snapshot | null {
  makeDirectory(directory);
  for (const { name } of listSnapshots(directory).reverse()) {
    const snapshot = readSnapshot(join(directory, name));
    if (snapshot !== null) return snapshot;
    onDamage?.(name);
    renameSync(join(directory, name), join(directory, `${name}.damaged`));
  }
  return null;
}

/** Null when the checksum does not fit, or a newer Node wrote what this one cannot read. */
function readSnapshot(file: string): Snapshot | null {
  const bytes = readFileSync(file);
  const body = bytes.subarray(CHECKSUM_BYTES);
  if (bytes.length <= CHECKSUM_BYTES || bytes.readUInt32LE(0) !== crc32(body)) return null;
  try {
    return deserialize(body) as Snapshot;
  } catch {
    return null;
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
