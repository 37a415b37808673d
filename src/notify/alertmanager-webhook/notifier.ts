import type { AlertmanagerWebhookReceiver } from '../../model/receiver.ts';
import type { Notifier } from '../notifier.ts';
import { sendWebhook } from '../webhook/send.ts';
import { toAlertmanagerWebhookMessage } from './message.ts';

/** Whatever takes the webhooks of Alertmanager. */
export function createAlertmanagerWebhookNotifier(receiver: AlertmanagerWebhookReceiver): Notifier {
  return {
    name: receiver.name,
    sendResolved: receiver.sendResolved,
    message: (notification, context) => toAlertmanagerWebhookMessage(notification, context, receiver.name),
    send: (payload, eventId, signal) => sendWebhook(receiver, payload, eventId, signal),
  };
}
