import { type EpochMs, epochMs } from '../base/units.ts';
import { routeIncident } from '../correlate/route.ts';
import type { Incident, Notification, NotificationReason } from '../model/incident.ts';
import type { Receiver, Route } from '../model/receiver.ts';
import type { OutboxEntry } from '../store/store.ts';
import { effectOf, isClosing } from './effect.ts';
import { heldUntil } from './hold.ts';
import type { MessageContext, Notifier, Thread } from './notifier.ts';
import { threadOf } from './thread.ts';

export interface OutboxOptions {
  readonly routes: readonly Route[];
  readonly receivers: readonly Receiver[];
  readonly notifiers: ReadonlyMap<string, Notifier>;
  readonly context: (incident: Incident) => MessageContext;
  /** What has been put into the outbox for an incident before. */
  readonly sent: (incident: number) => readonly OutboxEntry[];
  /** What was put into the outbox for a receiver after a moment. */
  readonly sentTo: (receiver: string, since: EpochMs) => readonly OutboxEntry[];
}

/**
 * One entry per receiver that has to hear a notification. What was opened at a receiver is closed there exactly once
 * per episode: what closes goes to those with an open message, wherever routes lead by now; when a page falls to a
 * ticket, receivers of pages only are closed and the others are told.
 */
export function toOutboxEntries(
  notifications: readonly Notification[],
  options: OutboxOptions,
): readonly OutboxEntry[] {
  const entries: OutboxEntry[] = [];
  const sent = (incident: number): readonly OutboxEntry[] =>
    [...options.sent(incident), ...entries].filter((entry) => entry.incident === incident);
  const sentTo = (receiver: string, since: EpochMs): readonly OutboxEntry[] =>
    [...options.sentTo(receiver, since), ...entries].filter((entry) => entry.receiver === receiver && entry.at > since);
  for (const notification of notifications) {
    const { id, episode } = notification.incident;
    const before = sent(id).filter((said) => said.episode === episode);
    for (const recipient of recipients(notification, before, options)) {
      entries.push(toEntry(notification, recipient, { ...options, sent, sentTo }));
    }
  }
  return entries;
}

interface Recipient {
  readonly receiver: Receiver;
  readonly reason: NotificationReason;
}

function recipients(
  notification: Notification,
  before: readonly OutboxEntry[],
  options: OutboxOptions,
): readonly Recipient[] {
  const { incident, reason, severity, at } = notification;
  const isOpen = ({ name }: Receiver): boolean => {
    const last = before.findLast(({ receiver }) => receiver === name);
    return last !== undefined && !isClosing(last.reason);
  };
  const effect = effectOf(reason);
  const routed = routeIncident(incident, severity, options.routes, options.receivers, at);
  if (effect === 'rings') return routed.map((receiver) => ({ receiver, reason }));
  const told = options.receivers.filter(isOpen);
  if (effect === 'closes')
    return told.filter(({ sendResolved }) => sendResolved).map((receiver) => ({ receiver, reason }));
  const closed = told.filter((receiver) => !routed.includes(receiver) && receiver.sendResolved);
  return [
    ...closed.map((receiver): Recipient => ({ receiver, reason: 'resolved' })),
    ...routed.map((receiver): Recipient => ({ receiver, reason: isOpen(receiver) ? reason : 'opened' })),
  ];
}

function toEntry(notification: Notification, { receiver, reason }: Recipient, options: OutboxOptions): OutboxEntry {
  const { incident, seq, at, severity } = notification;
  // Sent as a header, so it holds no character that a header cannot.
  const eventId = `${incident.id}-${incident.episode}-${seq}-${encodeURIComponent(receiver.name)}`;
  const notifier = options.notifiers.get(receiver.name);
  if (notifier === undefined) throw new Error(`BUG: receiver ${receiver.name} has no notifier`);
  const said = { ...notification, reason };
  const held = heldUntil(said, receiver, options.sent(incident.id), (since) => options.sentTo(receiver.name, since));
  const thread: Thread = threadOf(said, receiver.name, held, options);
  return {
    eventId,
    incident: incident.id,
    episode: incident.episode,
    seq,
    receiver: receiver.name,
    reason,
    severity,
    at,
    heldUntil: held,
    payload: notifier.message(said, options.context(incident), eventId, thread),
    state: 'pending',
    attempts: 0,
    nextAttemptAt: epochMs(Math.max(at, held ?? 0)),
    deliveredAt: null,
    lastError: null,
    handle: null,
  };
}
