import type { Clock } from '../base/clock.ts';
import { type EpochMs, epochMs } from '../base/units.ts';

/** Ticks lie at epoch multiples of this, in serve and in replay alike. */
export const TICK_MS = 10_000;

/** The first tick at or after `at`. */
export const tickAtOrAfter = (at: EpochMs): EpochMs => epochMs(Math.ceil(at / TICK_MS) * TICK_MS);

export interface Ticker {
  start(): void;
  stop(): void;
}

/** How ticks come about: by timers in service, by hand where time is moved by hand. */
export type CreateTicker = (clock: Clock, tick: (now: EpochMs) => Promise<void>) => Ticker;

/**
 * Calls `tick` at each epoch multiple of 10 s. Ticks never overlap; one that is late is run once, at its newest due time,
 * not caught up one by one. A timer may fire a millisecond before the clock says so: no tick is run twice for that. A
 * clock that is set back goes on from where it is, since nobody must wait for it to catch up. `tick` must not reject.
 */
export function createTicker(clock: Clock, tick: (now: EpochMs) => Promise<void>): Ticker {
  let timer: NodeJS.Timeout | undefined;
  let stopped = true;
  let last = Number.NEGATIVE_INFINITY;
  const schedule = (): void => {
    if (stopped) return;
    const now = clock.now();
    const next = Math.floor(now / TICK_MS) * TICK_MS + TICK_MS;
    timer = setTimeout(run, next - now);
  };
  const run = (): void => {
    const due = epochMs(Math.floor(clock.now() / TICK_MS) * TICK_MS);
    if (due === last) schedule();
    else {
      last = due;
      void tick(due).then(schedule);
    }
  };
  return {
    start() {
      stopped = false;
      last = Math.floor(clock.now() / TICK_MS) * TICK_MS;
      schedule();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
