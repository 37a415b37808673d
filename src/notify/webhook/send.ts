import { createHmac } from 'node:crypto';
import { request } from 'undici';
import type { Receiver } from '../../model/receiver.ts';
import type { SendResult } from '../notifier.ts';

const TIMEOUT_MS = 10_000;
/** Of an error answer this much is kept for the person who looks why. */
const ERROR_TEXT_MAX = 200;
/** Of any answer no more is read: what a receiver says is not worth memory. */
const ANSWER_BYTES_MAX = 64 * 1024;

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
    const { statusCode } = answer;
    if (statusCode >= 200 && statusCode < 300) {
      // The status says it all: a body that breaks off must not send the message again.
      await answer.body.dump({ limit: ANSWER_BYTES_MAX, signal: limit }).catch(() => undefined);
      return { kind: 'delivered' };
    }
    const text = await startOf(answer.body);
    const error = `answered ${statusCode}${text === '' ? '' : `: ${text}`}`;
    if (statusCode !== 408 && statusCode !== 429 && statusCode < 500) return { kind: 'rejected', error };
    return { kind: 'retry', error, afterMs: retryAfterMs(answer.headers['retry-after'], answer.headers['date']) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { kind: 'retry', error: typeof code === 'string' ? `${code} ${message}` : message, afterMs: null };
  }
}

/** The first characters of an answer; what does not arrive is left out. */
async function startOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= ERROR_TEXT_MAX * 4) break;
    }
  } catch {
    // The status is known; the text is only for people.
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, ERROR_TEXT_MAX);
}

/** Retry-After as seconds, or as a date read against the answer's own Date. */
function retryAfterMs(value: string | string[] | undefined, date: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const [at, now] = [Date.parse(value), typeof date === 'string' ? Date.parse(date) : Date.now()];
  return Number.isNaN(at) || Number.isNaN(now) ? null : Math.max(0, at - now);
}
