import type { Clock } from '../base/clock.ts';
import { epochMs } from '../base/units.ts';

/** The machine's wall clock. The only place that reads it. */
export const systemClock: Clock = { now: () => epochMs(Date.now()) };
