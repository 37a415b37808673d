import type { Clock } from '../../base/clock.ts';
import type { EpochMs, Ms } from '../../base/units.ts';
import type { Notifier } from '../notifier.ts';
import { type BeatDecision, decideBeat } from './due.ts';
import { heartbeatId, toHeartbeatMessage } from './message.ts';

const GIVE_UP_MS = 10_000;

export interface HeartbeatDeps {
  /** The receiver's; only its `send` is used. */
  readonly notifier: Notifier;
  readonly every: Ms;
  readonly clock: Clock;
  readonly links: () => { readonly runbook: string; readonly dashboard: string };
  /** Store and ingest log take writes, and no commit waits. */
  readonly writable: () => boolean;
  /** A beat that has not arrived after this is given up; 10 s. */
  readonly giveUpAfter?: Ms;
  readonly onAttempt?: (receiver: string, result: 'delivered' | 'dead') => void;
  readonly onError?: (error: unknown) => void;
}

export interface Heartbeats {
  /** Called after each evaluation that was committed; sends when a beat is due and true. */
  evaluated(at: EpochMs): BeatDecision;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
  /** Aborts what is in flight and beats no more. */
  stop(): Promise<void>;
}

/**
 * Beats at the pace of evaluations, so that no evaluation means no beat. Nothing is kept: a beat that fails is not sent
 * again, the next one comes when it is due.
 */
export function createHeartbeats(deps: HeartbeatDeps): Heartbeats {
  const startedAt = deps.clock.now();
  const abort = new AbortController();
  let lastBeatAt: EpochMs | null = null;
  let seq = 0;
  let sending: Promise<void> | null = null;

  const send = async (evaluatedAt: EpochMs): Promise<void> => {
    seq += 1;
    const beat = { startedAt, seq, at: deps.clock.now(), evaluatedAt, every: deps.every };
    const limit = AbortSignal.any([abort.signal, AbortSignal.timeout(deps.giveUpAfter ?? GIVE_UP_MS)]);
    const { kind } = await deps.notifier.send(toHeartbeatMessage(beat, deps.links()), heartbeatId(beat), limit);
    if (abort.signal.aborted && kind !== 'delivered') return;
    deps.onAttempt?.(deps.notifier.name, kind === 'delivered' ? 'delivered' : 'dead');
  };

  return {
    evaluated(at) {
      const { clock, every, writable } = deps;
      if (abort.signal.aborted) return 'not_due';
      const pulse = { now: clock.now(), evaluatedAt: at, lastBeatAt, every, writable, inFlight: sending !== null };
      const decision = decideBeat(pulse);
      if (decision !== 'beat') return decision;
      lastBeatAt = at;
      sending = send(at)
        .catch((error: unknown) => deps.onError?.(error))
        .finally(() => {
          sending = null;
        });
      return 'beat';
    },
    async idle() {
      await sending;
    },
    async stop() {
      abort.abort();
      await sending;
    },
  };
}
