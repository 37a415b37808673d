import type { SlackReceiver } from '../../model/receiver.ts';
import type { Notifier } from '../notifier.ts';
import { toSlackBundle, toSlackMessage } from './message.ts';
import { sendSlack } from './send.ts';

/** A Slack channel. */
export function createSlackNotifier(receiver: SlackReceiver): Notifier {
  return {
    name: receiver.name,
    sendResolved: receiver.sendResolved,
    message: toSlackMessage,
    bundle: toSlackBundle,
    send: (payload, eventId, signal, handle = null) => sendSlack(receiver.access, payload, eventId, signal, handle),
  };
}
