import { createHmac } from 'node:crypto';
import { request } from 'undici';
import type { Receiver } from '../../model/receiver.ts';
import type { SendResult } from '../notifier.ts';

const TIMEOUT_MS = 10_000;
/** Of an error answer this much is kept for the person who looks why. */
const ERROR_TEXT_MAX = 200;

/**
 * One POST. 2xx is delivered; 408, 429, 5xx, network errors and time-outs are worth another try; anything else is
 * final.
 */
export async function sendWebhook(
  receiver: Receiver,
  payload: string,
  eventId: string,
  signal: AbortSignal,
): Promise<SendResult> {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'idempotency-key': eventId };
  if (receiver.secret !== null) {
    const digest = createHmac('sha256', receiver.secret).update(payload).digest('hex');
    headers['x-slowburn-signature'] = `sha256=${digest}`;
  }
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await request(receiver.url, { method: 'POST', headers, body: payload, signal: limit });
    const text = (await answer.body.text()).slice(0, ERROR_TEXT_MAX);
    const { statusCode } = answer;
    if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered' };
    const error = `answered ${statusCode}${text === '' ? '' : `: ${text}`}`;
    if (statusCode !== 408 && statusCode !== 429 && statusCode < 500) return { kind: 'rejected', error };
    return { kind: 'retry', error, afterMs: retryAfterMs(answer.headers['retry-after'], answer.headers['date']) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { kind: 'retry', error: code === undefined ? message : `${code} ${message}`, afterMs: null };
  }
}

/** Retry-After as seconds, or as a date read against the answer's own Date. */
function retryAfterMs(value: string | string[] | undefined, date: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const [at, now] = [Date.parse(value), typeof date === 'string' ? Date.parse(date) : Number.NaN];
  return Number.isNaN(at) || Number.isNaN(now) ? null : Math.max(0, at - now);
}
