import type { EpochMs } from '../base/units.ts';
import type { IncidentStore, OutboxEntry } from '../store/store.ts';
import { isClosing } from './effect.ts';
import type { Notifier } from './notifier.ts';

const EVERY_MS = 60_000;
const GIVE_UP_MS = 10_000;
const OPEN_MAX = 1000;

export interface Repeats {
  /** Called after each evaluation that was committed; repeats what is due. */
  evaluated(at: EpochMs): void;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Says once a minute what goes on to receivers that forget (an Alertmanager ends an alert that it does not hear of). A
 * repeat that fails is not tried again: the next one comes in a minute. What is still on its way is left to the sender.
 */
export function createRepeats(deps: {
  readonly store: IncidentStore;
  readonly notifiers: ReadonlyMap<string, Notifier>;
}): Repeats {
  const forgetful = [...deps.notifiers.values()].filter(({ repeat }) => repeat !== undefined);
  const abort = new AbortController();
  let lastAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;

  const repeatAll = async (): Promise<void> => {
    const open = deps.store.listIncidents({ states: ['open', 'acknowledged'], before: null, limit: OPEN_MAX });
    for (const { id, episode } of open) {
      const sends = deps.store.sends(id).filter((entry) => entry.episode === episode);
      for (const notifier of forgetful) {
        const payload = standing(sends.filter(({ receiver }) => receiver === notifier.name));
        if (abort.signal.aborted) return;
        if (payload === null) continue;
        await notifier.repeat?.(payload, AbortSignal.any([abort.signal, AbortSignal.timeout(GIVE_UP_MS)]));
      }
    }
  };

  return {
    evaluated(at) {
      if (forgetful.length === 0 || running !== null || abort.signal.aborted || at - lastAt < EVERY_MS) return;
      lastAt = at;
      running = repeatAll()
        .catch(() => undefined)
        .finally(() => {
          running = null;
        });
    },
    async idle() {
      await running;
    },
    async stop() {
      abort.abort();
      await running;
    },
  };
}

/** What was delivered last and not followed by anything; null when that closed it, or more is to come. */
function standing(sends: readonly OutboxEntry[]): string | null {
  const last = sends.at(-1);
  return last === undefined || last.state !== 'delivered' || isClosing(last.reason) ? null : last.payload;
}
