import type { EpochMs } from '../base/units.ts';
import type { AlertChange } from '../model/alert.ts';
import type { Incident, IncidentAction, IncidentChange, Notification } from '../model/incident.ts';
import type { Apart } from './apart.ts';
import type { MuteSource } from './mute.ts';

/** What one tick or one action did to incidents. Order: as decided. */
export interface CorrelationResult {
  /** Every incident touched, as it is now. */
  readonly incidents: readonly Incident[];
  readonly changes: readonly IncidentChange[];
  readonly notifications: readonly Notification[];
  /** All that splits have taught, where it changed. */
  readonly apart?: readonly Apart[];
}

export type ActionResult =
  | { readonly kind: 'done'; readonly result: CorrelationResult }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'conflict'; readonly message: string };

/** What the correlator has to know of the fleet. Clusters of the alerts that it is given count as well. */
export interface KnownFleet {
  /** Names of all clusters that telemetry has told of; asked for only where many alerts start together. */
  clusters(): Iterable<string>;
}

/** What decides beside the alerts of a tick. */
export interface Surroundings {
  readonly fleet: KnownFleet;
  /** What it mutes is part of its incident like anything else, only that nobody is told. */
  readonly mutesOf: MuteSource;
}

/** Alerts to incidents. Holds the incidents that can still change; no IO, no clock. */
export interface Correlator {
  restore(incidents: readonly Incident[], nextIncidentId: number, apart?: readonly Apart[]): void;
  /**
   * The same changes in any order give the same result. Also advances timers (resolve hold, lapses) to `now`. Without
   * `surroundings` no fleet is known and nothing is muted.
   */
  correlate(changes: readonly AlertChange[], now: EpochMs, surroundings?: Surroundings): CorrelationResult;
  act(incident: number | 'newest_open', action: IncidentAction, now: EpochMs): ActionResult;
  /** Incidents held: not resolved, or still able to reopen. */
  incidents(): readonly Incident[];
}
