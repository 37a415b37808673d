import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from './crc32.ts';
import type { LogPosition } from './ingest-log.ts';

/** State as of a position of the ingest log: everything behind it must be read again. */
export interface Snapshot {
  readonly position: LogPosition;
  readonly state: unknown;
}

const KEPT = 2;
const CHECKSUM_BYTES = 4;

const snapshotFiles = (directory: string): string[] =>
  readdirSync(directory)
    .filter((file) => /^state-\d{12}\.snapshot$/.test(file))
    .sort();

/** Writes a snapshot whole or not at all (temporary file, sync, rename) and keeps the last two. `state` is structured-cloneable. */
export function saveSnapshot(directory: string, snapshot: Snapshot): void {
  mkdirSync(directory, { recursive: true });
  const files = snapshotFiles(directory);
  const last = Number(/\d{12}/.exec(files.at(-1) ?? '000000000000')?.[0]);
  const name = `state-${String(last + 1).padStart(12, '0')}.snapshot`;
  const body = serialize(snapshot);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(body));
  const temporary = join(directory, 'writing.tmp');
  const descriptor = openSync(temporary, 'w');
  try {
    writeAll(descriptor, checksum);
    writeAll(descriptor, body);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, join(directory, name));
  syncDirectory(directory);
  for (const old of files.slice(0, Math.max(0, files.length - KEPT + 1))) rmSync(join(directory, old), { force: true });
}

/** The newest snapshot whose checksum fits; damaged ones are passed over and named to `onDamage`. Null when there is none. */
export function loadNewestSnapshot(directory: string, onDamage?: (file: string) => void): Snapshot | null {
  mkdirSync(directory, { recursive: true });
  for (const file of snapshotFiles(directory).reverse()) {
    const bytes = readFileSync(join(directory, file));
    const body = bytes.subarray(CHECKSUM_BYTES);
    if (bytes.length > CHECKSUM_BYTES && bytes.readUInt32LE(0) === crc32(body)) return deserialize(body) as Snapshot;
    onDamage?.(file);
  }
  return null;
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
