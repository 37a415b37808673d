import type { EmailReceiver } from '../../model/receiver.ts';
import type { Notifier } from '../notifier.ts';
import { toEmailBundle, toEmailMessage } from './message.ts';
import { sendEmail } from './send.ts';

/** Mail over SMTP. */
export function createEmailNotifier(receiver: EmailReceiver): Notifier {
  const domain = /@([A-Za-z0-9.-]+)/.exec(receiver.from)?.[1] ?? 'slowburn.invalid';
  return {
    name: receiver.name,
    sendResolved: receiver.sendResolved,
    message: (notification, context, eventId, thread) =>
      toEmailMessage(notification, context, eventId, thread, receiver.name, domain),
    bundle: (payloads, eventId) => toEmailBundle(payloads, eventId, domain),
    send: (payload, eventId, signal) => sendEmail(receiver, payload, eventId, signal),
  };
}
