import { AppError } from '../base/app-error.ts';
import { unwritable } from './unwritable.ts';

/** Turns what SQLite says of the disk into STORE_UNWRITABLE or STORE_DAMAGED; anything else is passed on. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    if (/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY)/.test(code)) throw unwritable('incident store', code, error);
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code)) throw error;
    throw new AppError('STORE_DAMAGED', `the incident store is damaged (${code})`, {
      hint: 'put back a copy of incidents.sqlite, or move it and its -wal and -shm files away to start without history',
      cause: error,
    });
  }
}
