import type { WebhookReceiver } from '../../model/receiver.ts';
import type { Notifier } from '../notifier.ts';
import { toWebhookBundle, toWebhookMessage } from './message.ts';
import { sendWebhook } from './send.ts';

/** The generic webhook receiver. */
export function createWebhookNotifier(receiver: WebhookReceiver): Notifier {
  return {
    name: receiver.name,
    sendResolved: receiver.sendResolved,
    message: toWebhookMessage,
    bundle: toWebhookBundle,
    send: (payload, eventId, signal) => sendWebhook(receiver, payload, eventId, signal),
  };
}
