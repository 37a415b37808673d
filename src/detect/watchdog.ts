import { type Ms, ms } from '../base/units.ts';
import { ALERT } from '../model/conventions.ts';
import type { DetectorSettings } from './settings.ts';

/** Where the heartbeat goes, and how often. */
export interface WatchdogSettings {
  readonly receiver: string;
  readonly every: Ms;
  readonly runbook: string;
}

/** The heartbeat that the rules ask for; null when it is disabled or names no receiver. */
export function watchdogOf(detectors: ReadonlyMap<string, DetectorSettings>): WatchdogSettings | null {
  const settings = detectors.get(ALERT.watchdog);
  const every = settings?.thresholds['every'];
  if (settings?.enabled !== true || settings.receiver === undefined || every === undefined) return null;
  return { receiver: settings.receiver, every: ms(every), runbook: settings.runbook };
}
