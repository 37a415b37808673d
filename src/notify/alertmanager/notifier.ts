import type { Clock } from '../../base/clock.ts';
import type { AlertmanagerReceiver } from '../../model/receiver.ts';
import type { Notifier } from '../notifier.ts';
import { toAlertmanagerMessage } from './message.ts';
import { sendAlertmanager } from './send.ts';

/** The alerts API of an Alertmanager: an incident is one alert there, sent again while it is open. */
export function createAlertmanagerNotifier(receiver: AlertmanagerReceiver, clock: Clock): Notifier {
  return {
    name: receiver.name,
    sendResolved: receiver.sendResolved,
    message: toAlertmanagerMessage,
    send: (payload, eventId, signal, handle = null) =>
      sendAlertmanager(receiver, clock, payload, eventId, signal, handle),
    repeat: (payload, signal) => sendAlertmanager(receiver, clock, payload, null, signal, null),
  };
}
