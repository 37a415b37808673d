import type { EpochMs } from '../base/units.ts';
import type { Silence } from '../model/mute.ts';

/** Silences, those that ended a while ago included. */
export interface SilenceStore {
  /** In the order of their ids. */
  list(): readonly Silence[];
  /**
   * Writes these, and lets go of those that ended before `forgetBefore`, in one transaction. Throws AppError
   * STORE_UNWRITABLE (retryable) when the disk refuses; then nothing was kept.
   */
  save(silences: readonly Silence[], forgetBefore: EpochMs): void;
}
