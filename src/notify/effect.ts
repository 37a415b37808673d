import type { NotificationReason } from '../model/incident.ts';

/** What a notification does at its receiver: calls a person, tells more about what is open, or closes it. */
export type Effect = 'rings' | 'tells' | 'closes';

const EFFECTS: Readonly<Record<NotificationReason, Effect>> = {
  opened: 'rings',
  escalated: 'rings',
  new_failure_domain: 'rings',
  still_burning: 'rings',
  ack_lapsed: 'rings',
  unmuted: 'rings',
  deescalated: 'tells',
  resolved: 'closes',
  merged: 'closes',
};

export const effectOf = (reason: NotificationReason): Effect => EFFECTS[reason];

export const isClosing = (reason: NotificationReason): boolean => effectOf(reason) === 'closes';
