import type { PagerdutyReceiver } from '../../model/receiver.ts';
import type { Notifier } from '../notifier.ts';
import { toPagerdutyBundle, toPagerdutyMessage } from './message.ts';
import { sendPagerduty } from './send.ts';

/** PagerDuty, Events API v2. */
export function createPagerdutyNotifier(receiver: PagerdutyReceiver): Notifier {
  return {
    name: receiver.name,
    sendResolved: receiver.sendResolved,
    message: toPagerdutyMessage,
    bundle: toPagerdutyBundle,
    send: (payload, eventId, signal, handle = null) => sendPagerduty(receiver, payload, eventId, signal, handle),
  };
}
