import { routeIncident } from '../correlate/route.ts';
import type { Incident, Notification, NotificationReason } from '../model/incident.ts';
import type { Receiver, Route } from '../model/receiver.ts';
import type { OutboxEntry } from '../store/store.ts';
import type { MessageContext, Notifier } from './notifier.ts';

export interface OutboxOptions {
  readonly routes: readonly Route[];
  readonly receivers: readonly Receiver[];
  readonly notifiers: ReadonlyMap<string, Notifier>;
  readonly context: (incident: Incident) => MessageContext;
  /** What has been put into the outbox for an incident before. */
  readonly sent: (incident: number) => readonly OutboxEntry[];
}

type Said = Pick<OutboxEntry, 'incident' | 'episode' | 'receiver' | 'reason'>;

/**
 * One entry per receiver that has to hear a notification. What was opened at a receiver is closed there exactly once
 * per episode: `resolved` or `merged` goes to those with an open message, wherever routes lead by now; when a page falls to a ticket,
 * receivers of pages only are closed and the others are told.
 */
export function toOutboxEntries(
  notifications: readonly Notification[],
  options: OutboxOptions,
): readonly OutboxEntry[] {
  const entries: OutboxEntry[] = [];
  for (const notification of notifications) {
    const { id, episode } = notification.incident;
    const before: Said[] = [...options.sent(id), ...entries].filter(
      (said) => said.incident === id && said.episode === episode,
    );
    for (const { receiver, reason } of recipients(notification, before, options)) {
      entries.push(toEntry(notification, receiver, reason, options));
    }
  }
  return entries;
}

interface Recipient {
  readonly receiver: Receiver;
  readonly reason: NotificationReason;
}

function recipients(notification: Notification, before: readonly Said[], options: OutboxOptions): readonly Recipient[] {
  const { incident, reason, severity } = notification;
  const isOpen = ({ name }: Receiver): boolean => {
    const last = before.findLast(({ receiver }) => receiver === name);
    return last !== undefined && !isEnd(last.reason);
  };
  const routed = routeIncident(incident, severity, options.routes, options.receivers);
  if (!isEnd(reason) && reason !== 'deescalated') return routed.map((receiver) => ({ receiver, reason }));
  const told = options.receivers.filter(isOpen);
  if (isEnd(reason)) return told.filter(({ sendResolved }) => sendResolved).map((receiver) => ({ receiver, reason }));
  const closed = told.filter((receiver) => !routed.includes(receiver) && receiver.sendResolved);
  return [
    ...closed.map((receiver): Recipient => ({ receiver, reason: 'resolved' })),
    ...routed.map((receiver): Recipient => ({ receiver, reason: isOpen(receiver) ? 'deescalated' : 'opened' })),
  ];
}

/** After these a receiver holds no open message of the episode. */
const isEnd = (reason: NotificationReason): boolean => reason === 'resolved' || reason === 'merged';

function toEntry(
  notification: Notification,
  receiver: Receiver,
  reason: NotificationReason,
  options: OutboxOptions,
): OutboxEntry {
  const { incident, seq, at } = notification;
  // Sent as a header, so it holds no character that a header cannot.
  const eventId = `${incident.id}-${incident.episode}-${seq}-${encodeURIComponent(receiver.name)}`;
  const notifier = options.notifiers.get(receiver.name);
  if (notifier === undefined) throw new Error(`BUG: receiver ${receiver.name} has no notifier`);
  return {
    eventId,
    incident: incident.id,
    episode: incident.episode,
    seq,
    receiver: receiver.name,
    reason,
    at,
    payload: notifier.message({ ...notification, reason }, options.context(incident), eventId),
    state: 'pending',
    attempts: 0,
    nextAttemptAt: at,
    deliveredAt: null,
    lastError: null,
  };
}
