import type { Notification } from '../model/incident.ts';
import type { RunbookStep } from '../model/runbook-step.ts';

/**
 * `handle` is what the receiver answered that later messages about the episode need, and how far a message of several
 * requests has come; the next attempt, or the next message, is given the latest.
 */
export type SendResult =
  /** `note`: delivered, but a person should know this. */
  | { readonly kind: 'delivered'; readonly handle?: string; readonly note?: string }
  /** Try again: 408, 429, 5xx, network errors and time-outs. `afterMs` from Retry-After where sent. */
  | { readonly kind: 'retry'; readonly error: string; readonly afterMs: number | null; readonly handle?: string }
  /** Never try again: any other answer. */
  | { readonly kind: 'rejected'; readonly error: string };

/** Links that a message carries, all absolute. */
export interface MessageLinks {
  readonly incident: string;
  /** At the first step of its diagnosis, where the runbook is one of ours. */
  readonly runbook: string;
  /** Where the figures are seen. */
  readonly dashboard: string;
}

/** What a message says beside its incident. */
export interface MessageContext {
  readonly links: MessageLinks;
  /** The first step of the runbook; null when the runbook is elsewhere or has none. */
  readonly step: RunbookStep | null;
}

/** Where a message stands among those to the same receiver about the same episode. */
export interface Thread {
  /** `<incident>/<episode>`. */
  readonly episode: string;
  readonly isFirst: boolean;
  /** Names one call of a person and what is told about it until it ends; a new one rings anew. */
  readonly key: string;
  /** Keys of earlier calls that end with this message. */
  readonly ends: readonly string[];
}

/** One receiver. `message` is pure; `send` is the only IO. */
export interface Notifier {
  readonly name: string;
  readonly sendResolved: boolean;
  /** The payload as text, frozen in the outbox when the notification is decided. */
  message(notification: Notification, context: MessageContext, eventId: string, thread: Thread): string;
  send(payload: string, eventId: string, signal: AbortSignal, handle?: string | null): Promise<SendResult>;
  /** One payload in place of several that were held back; absent where nothing is ever held back. */
  bundle?(payloads: readonly string[], eventId: string): string;
  /** Says once more that what `payload` told goes on; absent where once is enough. */
  repeat?(payload: string, signal: AbortSignal): Promise<SendResult>;
}
