import type { Owner, Severity } from '../model/alert.ts';

/** One detector's entry in `rules/detectors.yaml`: thresholds by name, durations in milliseconds. */
export interface DetectorSettings {
  readonly enabled: boolean;
  readonly severity: Severity;
  readonly owner: Owner;
  readonly runbook: string;
  /** Watchdog only: who gets the heartbeat; absent = nobody. */
  readonly receiver?: string;
  readonly thresholds: Readonly<Record<string, number>>;
}
