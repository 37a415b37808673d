import type { EpochMs, Ms } from '../base/units.ts';
import type { Backlog, Outcomes } from '../store/store.ts';

const DAY_MS = 86_400_000;

/** How a receiver is doing. */
export interface ReceiverHealth {
  readonly receiver: string;
  readonly pending: number;
  /** When the oldest message that waits for it was decided; null when none does. */
  readonly oldestPendingAt: EpochMs | null;
  readonly lastDeliveredAt: EpochMs | null;
  /** When a message to it was last given up. */
  readonly lastDeadAt: EpochMs | null;
  readonly lastError: string | null;
  /** Why it counts as failing; null when it does not. */
  readonly failing: 'waits' | 'given_up' | null;
}

export interface DeliveryBook {
  /** One attempt to send has ended. */
  attempt(
    receiver: string,
    result: 'delivered' | 'retry' | 'rejected' | 'dead',
    error: string | null,
    at: EpochMs,
  ): void;
  health(now: EpochMs): readonly ReceiverHealth[];
}

interface Known {
  readonly lastDeliveredAt: EpochMs | null;
  readonly lastDeadAt: EpochMs | null;
  readonly lastError: string | null;
}

const NOTHING: Known = { lastDeliveredAt: null, lastDeadAt: null, lastError: null };

/**
 * What has become of messages, per receiver. It fails when a message has waited for `after`, or when it was the last
 * that one was given up, for a day.
 */
export function createDeliveryBook(deps: {
  readonly receivers: readonly string[];
  /** As the store had them at start. */
  readonly outcomes: readonly Outcomes[];
  readonly backlogs: () => readonly Backlog[];
  readonly after: Ms;
}): DeliveryBook {
  const known = new Map<string, Known>(deps.receivers.map((receiver) => [receiver, NOTHING]));
  for (const { receiver, lastDeliveredAt, lastDeadAt } of deps.outcomes) {
    if (known.has(receiver)) known.set(receiver, { lastDeliveredAt, lastDeadAt, lastError: null });
  }
  return {
    attempt(receiver, result, error, at) {
      const before = known.get(receiver);
      if (before === undefined) return;
      if (result === 'delivered') known.set(receiver, { ...before, lastDeliveredAt: at, lastError: error });
      else known.set(receiver, { ...before, lastError: error, ...(result === 'dead' ? { lastDeadAt: at } : {}) });
    },
    health(now) {
      const backlogs = new Map(deps.backlogs().map((backlog) => [backlog.receiver, backlog]));
      return [...known].map(([receiver, { lastDeliveredAt, lastDeadAt, lastError }]) => {
        const { pending = 0, oldestAt = null } = backlogs.get(receiver) ?? {};
        const gaveUp = lastDeadAt !== null && lastDeadAt >= (lastDeliveredAt ?? 0) && now - lastDeadAt < DAY_MS;
        const waits = oldestAt !== null && now - oldestAt >= deps.after;
        const failing = gaveUp ? 'given_up' : waits ? 'waits' : null;
        return { receiver, pending, oldestPendingAt: oldestAt, lastDeliveredAt, lastDeadAt, lastError, failing };
      });
    },
  };
}
