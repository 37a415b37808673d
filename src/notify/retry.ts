import { type EpochMs, epochMs } from '../base/units.ts';
import type { OutboxEntry } from '../store/store.ts';
import type { SendResult } from './notifier.ts';

const FIRST_MS = 1000;
const LONGEST_MS = 300_000;
const GIVE_UP_MS = 86_400_000;

export interface Attempt {
  readonly state: OutboxEntry['state'];
  readonly nextAttemptAt: EpochMs;
  readonly error: string | null;
}

/**
 * What an attempt came to. Retries wait 1 s doubling to 5 min with full jitter (`random` in [0, 1)), at least as long as
 * the receiver asked; a day after the message was decided there is a last one. Then, or when the receiver refuses for
 * good, the entry is dead. Times are whole milliseconds: the store keeps no others.
 */
export function afterAttempt(entry: OutboxEntry, result: SendResult, now: EpochMs, random: number): Attempt {
  if (result.kind === 'delivered') return { state: 'delivered', nextAttemptAt: now, error: result.note ?? null };
  if (result.kind === 'rejected') return { state: 'dead', nextAttemptAt: now, error: result.error };
  const giveUpAt = entry.at + GIVE_UP_MS;
  if (now >= giveUpAt) return { state: 'dead', nextAttemptAt: now, error: `given up after a day: ${result.error}` };
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(entry.attempts, 20));
  const wait = Math.max(result.afterMs ?? 0, FIRST_MS / 2 + random * longest);
  return { state: 'pending', nextAttemptAt: epochMs(Math.min(giveUpAt, Math.round(now + wait))), error: result.error };
}
