import { formatInstant } from '../../base/instant.ts';
import type { EpochMs, Ms } from '../../base/units.ts';
import { durationText } from '../../model/phrases.ts';
import { WEBHOOK_SCHEMA } from '../webhook/message.ts';

export interface Heartbeat {
  /** The same at each beat of one life of the process, with `seq` unique over all. */
  readonly startedAt: EpochMs;
  /** Counts the beats of this life from 1. */
  readonly seq: number;
  readonly at: EpochMs;
  readonly evaluatedAt: EpochMs;
  readonly every: Ms;
}

export const heartbeatId = ({ startedAt, seq }: Heartbeat): string => `heartbeat-${startedAt}-${seq}`;

/**
 * The body of a heartbeat: the frame of the generic webhook with the reason `heartbeat` and no incident. Only a sound
 * service sends one, so `storeWritable` is always true.
 */
export function toHeartbeatMessage(
  beat: Heartbeat,
  links: { readonly runbook: string; readonly dashboard: string },
): string {
  const [startedAt, evaluatedAt] = [formatInstant(beat.startedAt), formatInstant(beat.evaluatedAt)];
  return JSON.stringify({
    schema: WEBHOOK_SCHEMA,
    eventId: heartbeatId(beat),
    seq: beat.seq,
    at: formatInstant(beat.at),
    reason: 'heartbeat',
    severity: null,
    text:
      `HEARTBEAT slowburn runs since ${toSeconds(startedAt)}, evaluated everything at ${toSeconds(evaluatedAt)} and can ` +
      `write its store. ` +
      `The next one is due in ${durationText(beat.every)}: when it stays away, nobody is paged for anything.`,
    heartbeat: { startedAt, evaluatedAt, storeWritable: true, everySeconds: beat.every / 1000 },
    links,
  });
}

/** An instant as people read it: `2026-03-01 02:07:00 UTC`. */
const toSeconds = (instant: string): string => `${instant.slice(0, 19).replace('T', ' ')} UTC`;
