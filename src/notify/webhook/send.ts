import { createHmac } from 'node:crypto';
import { post, resultOf } from '../http.ts';
import type { SendResult } from '../notifier.ts';

/** What a signed webhook needs; both of our webhooks are sent alike. */
export interface WebhookTarget {
  readonly url: string;
  /** Key of the HMAC-SHA256 signature header; null = unsigned. */
  readonly secret: string | null;
}

/** One POST. */
export async function sendWebhook(
  { url, secret }: WebhookTarget,
  payload: string,
  eventId: string,
  signal: AbortSignal,
): Promise<SendResult> {
  const headers: Record<string, string> = { 'idempotency-key': eventId };
  if (secret !== null) {
    headers['x-slowburn-signature'] = `sha256=${createHmac('sha256', secret).update(payload).digest('hex')}`;
  }
  const secrets = secret === null ? [] : [secret];
  return resultOf(await post({ url, body: payload, headers, signal, secrets }));
}
