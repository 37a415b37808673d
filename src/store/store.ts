import type { EpochMs } from '../base/units.ts';
import type { Severity } from '../model/alert.ts';
import type { HookCall } from '../model/hook.ts';
import type { Incident, IncidentChange, NotificationReason } from '../model/incident.ts';
import type { HourlyFigures } from '../model/measure.ts';

/** Incidents resolved longer ago than this can no longer reopen, and are not loaded at start. */
export const REOPENABLE_MS = 86_400_000;

/** How long the figures of an hour are kept: a year, and a month to compare with. */
export const HOURLY_KEPT_MS = 400 * 86_400_000;

/** One message to one receiver, frozen when it was decided. `eventId` is the same at every attempt. */
export interface OutboxEntry {
  readonly eventId: string;
  readonly incident: number;
  readonly episode: number;
  readonly seq: number;
  readonly receiver: string;
  readonly reason: NotificationReason;
  readonly severity: Severity;
  readonly at: EpochMs;
  /**
   * A page budget holds it back until then, and it goes out in one message with all others of the same receiver and
   * time; null = on its own.
   */
  readonly heldUntil: EpochMs | null;
  /** JSON text of what is sent, made by the receiver's message builder. */
  readonly payload: string;
  readonly state: 'pending' | 'delivered' | 'dead';
  readonly attempts: number;
  readonly nextAttemptAt: EpochMs;
  readonly deliveredAt: EpochMs | null;
  readonly lastError: string | null;
  /** What the receiver answered that later messages need (SendResult); null = nothing. */
  readonly handle: string | null;
}

/** What an attempt came to, as the store keeps it. */
export interface AttemptRecord {
  readonly at: EpochMs;
  readonly state: OutboxEntry['state'];
  readonly nextAttemptAt: EpochMs;
  readonly error: string | null;
  /** Null or absent leaves the one that is there. */
  readonly handle?: string | null;
}

/** What waits for a receiver. */
export interface Backlog {
  readonly receiver: string;
  readonly pending: number;
  /** Of what is due and was not held back: when the oldest was decided; null when there is none. */
  readonly oldestAt: EpochMs | null;
}

/** What became of the last messages to a receiver that are not pending any more. */
export interface Outcomes {
  readonly receiver: string;
  readonly delivered: number;
  readonly dead: number;
  readonly lastDeliveredAt: EpochMs | null;
  /** When the newest message that was given up had been tried for the last time. */
  readonly lastDeadAt: EpochMs | null;
}

/** State of one alerting part under a stable key; `value` is JSON. Absent = inactive. */
export interface AlertStateRecord {
  readonly key: string;
  readonly value: string;
}

/** All that one tick (or one person's action) changed; written in one transaction before anything is sent. */
export interface Commit {
  readonly at: EpochMs;
  readonly alertStates: readonly AlertStateRecord[];
  readonly alertStatesRemoved: readonly string[];
  readonly incidents: readonly Incident[];
  readonly changes: readonly IncidentChange[];
  readonly outbox: readonly OutboxEntry[];
  /** New, or further on than before. */
  readonly hookCalls?: readonly HookCall[];
  /** Rows of hours that have just ended. One that is there already stays as it is; those older than 400 days go. */
  readonly hourly?: readonly HourlyFigures[];
}

export interface StoredState {
  readonly alertStates: readonly AlertStateRecord[];
  /** Incidents that are not resolved, and those resolved within the last 24 h (they can reopen). */
  readonly incidents: readonly Incident[];
  readonly nextIncidentId: number;
}

/** Incidents, alert states and the outbox. SQLite in production, memory in replay and tests: same contract tests. */
export interface IncidentStore {
  load(now: EpochMs): StoredState;
  /** Throws AppError STORE_UNWRITABLE (retryable) when the disk refuses; nothing of the commit is then kept. */
  commit(commit: Commit): void;
  incident(id: number): Incident | null;
  /** Newest first. `before` = only ids below it. */
  listIncidents(filter: {
    readonly states: readonly Incident['state'][];
    readonly before: number | null;
    readonly limit: number;
  }): readonly Incident[];
  timeline(incident: number): readonly IncidentChange[];
  sends(incident: number): readonly OutboxEntry[];
  /**
   * Pending entries due at `now`, those due for longest first, so that one that fails again and again keeps none waiting;
   * per incident and receiver only the first (order is kept). None to the receivers in `except`.
   */
  dueSends(now: EpochMs, limit: number, except?: readonly string[]): readonly OutboxEntry[];
  /** Entries to a receiver that were decided after `since`, oldest first. */
  sendsTo(receiver: string, since: EpochMs): readonly OutboxEntry[];
  /** Every entry of a receiver that is held until then, oldest first. */
  heldSends(receiver: string, heldUntil: EpochMs): readonly OutboxEntry[];
  /**
   * When something can be sent next: the earliest nextAttemptAt among the first pending entries per incident and
   * receiver, or null. Receivers in `except` are left out.
   */
  nextSendAt(except?: readonly string[]): EpochMs | null;
  recordAttempt(eventId: string, result: AttemptRecord): void;
  /** Receivers for which something waits. */
  backlogs(): readonly Backlog[];
  /** Reads the whole outbox: asked once, at start. */
  outcomes(): readonly Outcomes[];
  /** Of an incident, oldest first. */
  hookCalls(incident: number): readonly HookCall[];
  /** Of all incidents since then, oldest first. */
  hookCallsSince(at: EpochMs): readonly HookCall[];
  /** Hours that end in (from, to], oldest first. */
  hourly(from: EpochMs, to: EpochMs): readonly HourlyFigures[];
  /** End of the newest hour that has rows; null before the first. */
  newestHour(): EpochMs | null;
  /** Answers quickly whether a write would succeed; used by readiness. */
  writable(): boolean;
  close(): void;
}
