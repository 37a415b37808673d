import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../base/app-error.ts';

export interface DataDirectory {
  readonly incidentsFile: string;
  readonly logDirectory: string;
  readonly snapshotDirectory: string;
  release(): void;
}

/**
 * Takes a data directory for this process alone. The lock is an exclusive SQLite lock, which the system drops when the
 * process dies, however it dies. Throws STORE_DATA_DIR_LOCKED when another process holds it, STORE_DATA_DIR_UNUSABLE
 * when it cannot be made.
 */
export function openDataDirectory(path: string): DataDirectory {
  let lock: Database.Database;
  try {
    mkdirSync(path, { recursive: true });
    lock = new Database(join(path, 'lock.sqlite'), { timeout: 0 });
  } catch (error) {
    throw new AppError(
      'STORE_DATA_DIR_UNUSABLE',
      `the data directory ${path} cannot be used: ${(error as Error).message}`,
      {
        hint: 'make it writable, or name another with --data',
        cause: error,
      },
    );
  }
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (pid INTEGER); COMMIT');
  } catch (error) {
    lock.close();
    throw new AppError('STORE_DATA_DIR_LOCKED', `another slowburn uses the data directory ${path}`, {
      hint: 'stop it, or name another directory with --data',
      cause: error,
    });
  }
  return {
    incidentsFile: join(path, 'incidents.sqlite'),
    logDirectory: join(path, 'ingest'),
    snapshotDirectory: join(path, 'snapshots'),
    release: () => {
      lock.close();
    },
  };
}
