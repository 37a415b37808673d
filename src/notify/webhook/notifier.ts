import type { Receiver } from '../../model/receiver.ts';
import type { Notifier } from '../notifier.ts';
import { toWebhookMessage } from './message.ts';
import { sendWebhook } from './send.ts';

/** The generic webhook receiver. */
export function createWebhookNotifier(receiver: Receiver): Notifier {
  return {
    name: receiver.name,
    sendResolved: receiver.sendResolved,
    message: toWebhookMessage,
    send: (payload, eventId, signal) => sendWebhook(receiver, payload, eventId, signal),
  };
}
