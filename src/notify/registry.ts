import { assertNever } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { Receiver } from '../model/receiver.ts';
import { createAlertmanagerNotifier } from './alertmanager/notifier.ts';
import { createAlertmanagerWebhookNotifier } from './alertmanager-webhook/notifier.ts';
import { createEmailNotifier } from './email/notifier.ts';
import type { Notifier } from './notifier.ts';
import { createPagerdutyNotifier } from './pagerduty/notifier.ts';
import { createSlackNotifier } from './slack/notifier.ts';
import { createWebhookNotifier } from './webhook/notifier.ts';

/** The closed list: a new kind of receiver is one folder, one case here, its keys, its part of docs/receivers.md. */
export function createNotifier(receiver: Receiver, clock: Clock): Notifier {
  switch (receiver.type) {
    case 'webhook':
      return createWebhookNotifier(receiver);
    case 'alertmanager-webhook':
      return createAlertmanagerWebhookNotifier(receiver);
    case 'alertmanager':
      return createAlertmanagerNotifier(receiver, clock);
    case 'pagerduty':
      return createPagerdutyNotifier(receiver);
    case 'slack':
      return createSlackNotifier(receiver);
    case 'email':
      return createEmailNotifier(receiver);
    default:
      return assertNever(receiver);
  }
}

export const createNotifiers = (receivers: readonly Receiver[], clock: Clock): ReadonlyMap<string, Notifier> =>
  new Map(receivers.map((receiver) => [receiver.name, createNotifier(receiver, clock)]));
