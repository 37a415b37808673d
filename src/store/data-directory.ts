import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../base/app-error.ts';
import { makeDirectory } from './durable-directory.ts';

export interface DataDirectory {
  readonly incidentsFile: string;
  readonly logDirectory: string;
  readonly snapshotDirectory: string;
  release(): void;
}

/** Also read by who does not hold the directory. */
export const incidentsFileIn = (path: string): string => join(path, 'incidents.sqlite');

/**
 * Takes a data directory for this process alone. The lock is an exclusive SQLite lock, which the system drops when the
 * process dies, however it dies; `lock.pid` only tells a person who holds it. Throws STORE_DATA_DIR_LOCKED when another
 * process holds it, STORE_DATA_DIR_UNUSABLE when it cannot be made or written.
 */
export function openDataDirectory(path: string): DataDirectory {
  const pidFile = join(path, 'lock.pid');
  let lock: Database.Database | null = null;
  try {
    makeDirectory(path);
    lock = new Database(join(path, 'lock.sqlite'), { timeout: 0 });
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (pid INTEGER); COMMIT');
    writeFileSync(pidFile, String(process.pid));
  } catch (error) {
    lock?.close();
    throw isBusy(error) ? locked(path, pidFile, error) : unusable(path, error);
  }
  const held = lock;
  return {
    incidentsFile: incidentsFileIn(path),
    logDirectory: join(path, 'ingest'),
    snapshotDirectory: join(path, 'snapshots'),
    release() {
      if (!held.open) return;
      rmSync(pidFile, { force: true });
      held.close();
    },
  };
}

const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test((error as { code?: string }).code ?? '');

function locked(path: string, pidFile: string, cause: unknown): AppError {
  const pid = readPid(pidFile);
  const holder = pid === null ? 'another slowburn' : `another slowburn (process ${pid})`;
  return new AppError('STORE_DATA_DIR_LOCKED', `${holder} uses the data directory ${path}`, {
    hint: 'stop it, or name another directory with --data',
    cause,
  });
}

/** Null when the holder has not written it yet. */
function readPid(file: string): string | null {
  try {
    return /^\d+$/.exec(readFileSync(file, 'utf8'))?.[0] ?? null;
  } catch {
    return null;
  }
}

const unusable = (path: string, cause: unknown): AppError =>
  new AppError('STORE_DATA_DIR_UNUSABLE', `the data directory ${path} cannot be used: ${(cause as Error).message}`, {
    hint: 'make it writable, or name another with --data',
    cause,
  });
