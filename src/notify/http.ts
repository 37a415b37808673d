import { request } from 'undici';
import type { SendResult } from './notifier.ts';

const TIMEOUT_MS = 10_000;
/** Of an error answer this much is kept for the person who looks why. */
const ERROR_TEXT_MAX = 200;
/** Of any answer no more is read: what a receiver says is not worth memory. */
const ANSWER_BYTES_MAX = 64 * 1024;

export interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Never shown: what a receiver echoes of them is blotted out. */
  readonly secrets?: readonly string[];
  /** The text of a 2xx answer is wanted; else it is not waited for. */
  readonly wantsText?: boolean;
}

export type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string; readonly retryAfterMs: number | null }
  /** Nobody knows whether it arrived. */
  | { readonly kind: 'failed'; readonly error: string };

/** One POST of JSON, given up after 10 s. */
export async function post({ url, body, headers, signal, secrets = [], wantsText = false }: Post): Promise<Answer> {
  const blot = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: limit,
    });
    const { statusCode: status } = answer;
    const retryAfterMs = readRetryAfter(answer.headers['retry-after'], answer.headers['date']);
    if (status >= 200 && status < 300 && !wantsText) {
      // The status says it all: a body that breaks off must not send the message again.
      await answer.body.dump({ limit: ANSWER_BYTES_MAX, signal: limit }).catch(() => undefined);
      return { kind: 'answered', status, text: '', retryAfterMs };
    }
    const text = await startOf(answer.body, wantsText ? ANSWER_BYTES_MAX : ERROR_TEXT_MAX);
    return { kind: 'answered', status, text: blot(text), retryAfterMs };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { kind: 'failed', error: blot(typeof code === 'string' ? `${code} ${message}` : message) };
  }
}

/**
 * What an answer means where only the status counts: 2xx is delivered; 408, 429, 5xx, network errors and time-outs are
 * worth another try; anything else is final.
 */
export function resultOf(answer: Answer): SendResult {
  if (answer.kind === 'failed') return { kind: 'retry', error: answer.error, afterMs: null };
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const text = answer.text.slice(0, ERROR_TEXT_MAX);
  const error = `answered ${status}${text === '' ? '' : `: ${text}`}`;
  if (status !== 408 && status !== 429 && status < 500) return { kind: 'rejected', error };
  return { kind: 'retry', error, afterMs: retryAfterMs };
}

/** The first characters of an answer; what does not arrive is left out. */
async function startOf(body: AsyncIterable<Buffer>, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= most * 4) break;
    }
  } catch {
    // The status is known; the text is only for people.
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, most);
}

/** Retry-After as seconds, or as a date read against the answer's own Date. */
function readRetryAfter(value: string | string[] | undefined, date: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const [at, now] = [Date.parse(value), typeof date === 'string' ? Date.parse(date) : Date.now()];
  return Number.isNaN(at) || Number.isNaN(now) ? null : Math.max(0, at - now);
}
