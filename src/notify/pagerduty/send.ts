import type { PagerdutyReceiver } from '../../model/receiver.ts';
import { post, resultOf } from '../http.ts';
import type { SendResult } from '../notifier.ts';
import type { PagerdutyEvent } from './message.ts';

/** Sends the events that are not through yet, in order. 202 says accepted; 400 is final. */
export async function sendPagerduty(
  { url, routingKey }: PagerdutyReceiver,
  payload: string,
  eventId: string,
  signal: AbortSignal,
  handle: string | null,
): Promise<SendResult> {
  const { events } = JSON.parse(payload) as { readonly events: readonly PagerdutyEvent[] };
  for (const [index, event] of events.entries()) {
    if (index < sentOf(handle, eventId)) continue;
    const result = resultOf(
      await post({
        url,
        body: JSON.stringify({ routing_key: routingKey, ...event }),
        headers: { 'idempotency-key': eventId },
        signal,
        secrets: [routingKey],
      }),
    );
    if (result.kind === 'retry') return { ...result, handle: JSON.stringify({ eventId, sent: index }) };
    if (result.kind === 'rejected') return result;
  }
  return { kind: 'delivered' };
}

/** How many events of this message are through. The handle of another message says nothing about this one. */
function sentOf(handle: string | null, eventId: string): number {
  if (handle === null) return 0;
  const known = JSON.parse(handle) as { readonly eventId?: string; readonly sent?: number };
  return known.eventId === eventId ? (known.sent ?? 0) : 0;
}
