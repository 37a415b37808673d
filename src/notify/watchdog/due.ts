import type { EpochMs, Ms } from '../../base/units.ts';

/** An evaluation older than this proves nothing about now: three ticks. */
const LATE_MS = 30_000;

/** What is known right after an evaluation. */
export interface Pulse {
  readonly now: EpochMs;
  /** Time of the evaluation that has just been committed. */
  readonly evaluatedAt: EpochMs;
  /** Time of the evaluation behind the last beat; null before the first. */
  readonly lastBeatAt: EpochMs | null;
  readonly every: Ms;
  /** Store and ingest log take writes, and no commit waits. Asked last: probing a store costs a write. */
  readonly writable: () => boolean;
  readonly inFlight: boolean;
}

export type BeatDecision = 'beat' | 'not_due' | 'late' | 'unwritable' | 'in_flight';

/**
 * Whether a heartbeat is sent now. It must be the truth when it arrives: none is sent for an evaluation that is late or
 * could not be kept, and one that was left out is not made up for. After the clock was set back it beats at once.
 */
export function decideBeat({ now, evaluatedAt, lastBeatAt, every, writable, inFlight }: Pulse): BeatDecision {
  const isDue = lastBeatAt === null || evaluatedAt >= lastBeatAt + every || evaluatedAt < lastBeatAt;
  if (!isDue) return 'not_due';
  if (Math.abs(now - evaluatedAt) > LATE_MS) return 'late';
  if (inFlight) return 'in_flight';
  return writable() ? 'beat' : 'unwritable';
}
