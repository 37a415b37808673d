import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { IncidentStore, OutboxEntry } from '../store/store.ts';
import type { Notifier, SendResult } from './notifier.ts';
import { afterAttempt } from './retry.ts';

export interface SenderDeps {
  readonly store: IncidentStore;
  readonly notifiers: ReadonlyMap<string, Notifier>;
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads retries. */
  readonly random: () => number;
  readonly onAttempt?: (receiver: string, result: SendResult['kind'] | 'dead') => void;
  readonly onError?: (error: unknown) => void;
}

export interface Sender {
  /** Looks for due entries now; called after each commit and at start. */
  wake(): void;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
  /** Aborts what is in flight (it is sent again after the next start) and sends no more. */
  stop(): Promise<void>;
}

const BATCH = 100;
const PAUSE_MS = 5000;

/** Waits, or ends at once when it is aborted. */
const pause = (forMs: number, signal: AbortSignal): Promise<void> =>
  sleep(forMs, undefined, { signal, ref: false }).catch(() => undefined);

/**
 * Sends what the outbox holds: at most one message per receiver at a time, in order per incident; a receiver that is
 * down
 * delays its own messages and nobody else's. All state is in the store, so a restart goes on where it was.
 */
export function createSender(deps: SenderDeps): Sender {
  const inFlight = new Map<string, Promise<void>>();
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const send = async (entry: OutboxEntry): Promise<void> => {
    const notifier = deps.notifiers.get(entry.receiver);
    const result: SendResult =
      notifier === undefined
        ? { kind: 'rejected', error: `receiver ${entry.receiver} is no longer configured` }
        : await notifier.send(entry.payload, entry.eventId, abort.signal);
    if (stopped && result.kind !== 'delivered') return;
    const now = deps.clock.now();
    const attempt = afterAttempt(entry, result, now, deps.random());
    deps.store.recordAttempt(entry.eventId, { at: now, ...attempt });
    deps.onAttempt?.(entry.receiver, attempt.state === 'dead' ? 'dead' : result.kind);
  };

  const nextDue = (): readonly OutboxEntry[] => deps.store.dueSends(deps.clock.now(), BATCH, [...inFlight.keys()]);

  const start = (entry: OutboxEntry): void => {
    const sending = send(entry)
      .catch((error: unknown) => {
        deps.onError?.(error);
        // The entry is still due: trying at once would send it in a loop.
        return pause(PAUSE_MS, abort.signal);
      })
      .finally(() => {
        inFlight.delete(entry.receiver);
        wake();
      });
    inFlight.set(entry.receiver, sending);
  };

  const wake = (): void => {
    if (stopped) return;
    clearTimeout(timer);
    try {
      // Receivers at work are left out: however much waits for one of them, the others have their turn.
      for (let due = nextDue(); due.length > 0; due = nextDue()) {
        for (const entry of due) if (!inFlight.has(entry.receiver)) start(entry);
      }
      schedule();
    } catch (error) {
      // The store cannot be read just now; the next tick wakes us again.
      deps.onError?.(error);
    }
  };

  const schedule = (): void => {
    const next = deps.store.nextSendAt();
    if (next === null) return;
    // A due entry behind one in flight waits for that one to end.
    const waitMs = Math.max(inFlight.size > 0 ? 1000 : 10, next - deps.clock.now());
    timer = setTimeout(wake, Math.min(waitMs, 60_000));
    timer.unref();
  };

  return {
    wake,
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight.values());
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      abort.abort();
      while (inFlight.size > 0) await Promise.all(inFlight.values());
    },
  };
}
