import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { IncidentStore, OutboxEntry } from '../store/store.ts';
import type { Notifier, SendResult } from './notifier.ts';
import { afterAttempt } from './retry.ts';

export interface SenderDeps {
  readonly store: IncidentStore;
  readonly notifiers: ReadonlyMap<string, Notifier>;
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads retries. */
  readonly random: () => number;
  readonly onAttempt?: (receiver: string, result: SendResult['kind'] | 'dead', error: string | null) => void;
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
/** However long a pause a receiver asks for, other messages of it are tried after this. */
const QUIET_MAX_MS = 60_000;

/** What goes out in one go: an entry, or all that a page budget held back together with it. */
interface Parcel {
  readonly entries: readonly OutboxEntry[];
  readonly payload: string;
  readonly eventId: string;
  readonly handle: string | null;
  /** A bundle stands for several episodes: what its receiver answers belongs to none of them. */
  readonly dropsHandle: boolean;
}

function toParcel(entry: OutboxEntry, store: IncidentStore, notifier: Notifier | undefined): Parcel {
  const { receiver, heldUntil } = entry;
  const held =
    heldUntil === null ? [] : store.heldSends(receiver, heldUntil).filter(({ state }) => state === 'pending');
  const [first] = held;
  if (held.length < 2 || first === undefined || notifier?.bundle === undefined) {
    const handle = entry.handle ?? latestHandle(entry, store);
    return { entries: [entry], payload: entry.payload, eventId: entry.eventId, handle, dropsHandle: false };
  }
  const eventId = `bundle-${held.length}-${first.eventId}`;
  const payload = notifier.bundle(
    held.map((one) => one.payload),
    eventId,
  );
  return { entries: held, payload, eventId, handle: null, dropsHandle: true };
}

/** What the receiver answered last about this episode. */
const latestHandle = ({ incident, episode, receiver }: OutboxEntry, store: IncidentStore): string | null =>
  store.sends(incident).findLast((one) => one.episode === episode && one.receiver === receiver && one.handle !== null)
    ?.handle ?? null;

/** Waits, or ends at once when it is aborted. */
const pause = (forMs: number, signal: AbortSignal): Promise<void> =>
  sleep(forMs, undefined, { signal, ref: false }).catch(() => undefined);

/**
 * Sends what the outbox holds: at most one message per receiver at a time, in order per incident; a receiver that is
 * down delays its own messages and nobody else's. All state is in the store, so a restart goes on where it was.
 */
export function createSender(deps: SenderDeps): Sender {
  const inFlight = new Map<string, Promise<void>>();
  /** Receivers that asked for a pause (Retry-After): none of their messages is tried before. */
  const quietUntil = new Map<string, EpochMs>();
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const send = async (entry: OutboxEntry): Promise<void> => {
    const notifier = deps.notifiers.get(entry.receiver);
    const parcel = toParcel(entry, deps.store, notifier);
    const result: SendResult =
      notifier === undefined
        ? { kind: 'rejected', error: `receiver ${entry.receiver} is no longer configured` }
        : await notifier.send(parcel.payload, parcel.eventId, abort.signal, parcel.handle);
    if (stopped && result.kind !== 'delivered') return;
    const now = deps.clock.now();
    const random = deps.random();
    const handle = result.kind === 'rejected' || parcel.dropsHandle ? null : (result.handle ?? null);
    if (result.kind === 'retry' && result.afterMs !== null) {
      quietUntil.set(entry.receiver, epochMs(now + Math.min(result.afterMs, QUIET_MAX_MS)));
    }
    for (const one of parcel.entries) {
      const attempt = afterAttempt(one, result, now, random);
      deps.store.recordAttempt(one.eventId, { at: now, handle, ...attempt });
      deps.onAttempt?.(one.receiver, attempt.state === 'dead' ? 'dead' : result.kind, attempt.error);
    }
  };

  /** Receivers that have a message on its way, or asked for a pause. */
  const engaged = (): readonly string[] => {
    const now = deps.clock.now();
    for (const [receiver, until] of quietUntil) if (until <= now) quietUntil.delete(receiver);
    return [...new Set([...inFlight.keys(), ...quietUntil.keys()])];
  };

  const nextDue = (): readonly OutboxEntry[] => deps.store.dueSends(deps.clock.now(), BATCH, engaged());

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
    const known = [deps.store.nextSendAt([...quietUntil.keys()]), ...quietUntil.values()].filter((at) => at !== null);
    if (known.length === 0) return;
    const next = Math.min(...known);
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
