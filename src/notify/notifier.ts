import type { Notification } from '../model/incident.ts';
import type { RunbookStep } from '../model/runbook-step.ts';

export type SendResult =
  | { readonly kind: 'delivered' }
  /** Try again: 408, 429, 5xx, network errors and time-outs. `afterMs` from Retry-After where sent. */
  | { readonly kind: 'retry'; readonly error: string; readonly afterMs: number | null }
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

/** One receiver. `message` is pure; `send` is the only IO. */
export interface Notifier {
  readonly name: string;
  readonly sendResolved: boolean;
  /** The payload as text, frozen in the outbox when the notification is decided. */
  message(notification: Notification, context: MessageContext, eventId: string): string;
  send(payload: string, eventId: string, signal: AbortSignal): Promise<SendResult>;
}
