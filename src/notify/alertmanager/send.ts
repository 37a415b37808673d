import type { Clock } from '../../base/clock.ts';
import { formatInstant } from '../../base/instant.ts';
import { later, type Ms, ms } from '../../base/units.ts';
import type { AlertmanagerReceiver } from '../../model/receiver.ts';
import { post, resultOf } from '../http.ts';
import type { SendResult } from '../notifier.ts';
import type { AlertmanagerPayload, PlainLabels, PostableAlert } from './message.ts';

/** While an alert fires it is sent again so often. */
export const REPEAT_EVERY: Ms = ms(60_000);
/** A firing alert ends by itself when it was not sent again for four times that, as Prometheus has it. */
const FIRES_FOR: Ms = ms(240_000);

/**
 * Posts the alert; if the last message had other labels, that alert ends with the same request. The handle holds the
 * labels that stand at the receiver.
 */
export async function sendAlertmanager(
  receiver: AlertmanagerReceiver,
  clock: Clock,
  payload: string,
  eventId: string | null,
  signal: AbortSignal,
  handle: string | null,
): Promise<SendResult> {
  const { at, alert } = JSON.parse(payload) as AlertmanagerPayload;
  const before = handle === null ? null : (JSON.parse(handle) as { readonly alert: PostableAlert }).alert;
  const alerts = [{ ...alert, endsAt: alert.endsAt ?? formatInstant(later(clock.now(), FIRES_FOR)) }];
  if (before !== null && !sameLabels(before.labels, alert.labels)) alerts.unshift({ ...before, endsAt: at });
  const answer = await post({
    url: `${receiver.url}/api/v2/alerts`,
    body: JSON.stringify(alerts),
    headers: eventId === null ? {} : { 'idempotency-key': eventId },
    signal,
  });
  const result = resultOf(answer);
  return result.kind === 'delivered' ? { ...result, handle: JSON.stringify({ alert }) } : result;
}

const sameLabels = (a: PlainLabels, b: PlainLabels): boolean => {
  const [one, other] = [Object.entries(a), Object.entries(b)];
  return one.length === other.length && one.every(([name, value]) => b[name] === value);
};
