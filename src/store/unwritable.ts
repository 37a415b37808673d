import { AppError } from '../base/app-error.ts';

/** STORE_UNWRITABLE: the disk refuses. `what` names the part, `reason` is what the system said. Retryable. */
export const unwritable = (what: string, reason: string, cause?: unknown): AppError =>
  new AppError('STORE_UNWRITABLE', `the ${what} cannot be written: ${reason}`, {
    hint: 'free space or make the data directory writable; it goes on by itself',
    retryable: true,
    cause,
  });
