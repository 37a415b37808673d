import { once } from 'node:events';
import { createTransport } from 'nodemailer';
import type { EmailReceiver } from '../../model/receiver.ts';
import type { SendResult } from '../notifier.ts';
import type { EmailPayload } from './message.ts';

const TIMEOUT_MS = 10_000;

/**
 * One mail over a connection of its own. A 5xx to the envelope or the message is final; all else (4xx, a login that
 * fails, TLS that is missing, network errors, time-outs) is worth another try: it can be put right without losing mail.
 */
export async function sendEmail(
  receiver: EmailReceiver,
  payload: string,
  eventId: string,
  signal: AbortSignal,
): Promise<SendResult> {
  const { subject, text, html, messageId, inReplyTo } = JSON.parse(payload) as EmailPayload;
  const { host, port, tls, login, from, to } = receiver;
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  });
  const sending = transport.sendMail({
    from,
    to: [...to],
    subject,
    text,
    html,
    messageId,
    ...(inReplyTo === null ? {} : { inReplyTo, references: inReplyTo }),
    headers: { 'X-Slowburn-Event': eventId, 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // An attempt that is given up ends by its own time-outs; nobody waits for it.
  sending.catch(() => undefined);
  try {
    const sent = await Promise.race([sending, aborted(signal)]);
    if (sent === null) return { kind: 'retry', error: 'aborted', afterMs: null };
    const refused = sent.rejected.map(String);
    return refused.length === 0
      ? { kind: 'delivered' }
      : { kind: 'delivered', note: `refused for ${refused.join(', ')}` };
  } catch (error) {
    return failureOf(error, login === null ? [] : [login.password]);
  } finally {
    transport.close();
  }
}

async function aborted(signal: AbortSignal): Promise<null> {
  if (!signal.aborted) await once(signal, 'abort').catch(() => undefined);
  return null;
}

const FINAL_AT: ReadonlySet<string> = new Set(['EENVELOPE', 'EMESSAGE']);

function failureOf(error: unknown, secrets: readonly string[]): SendResult {
  const { message, code = '', responseCode = 0 } = error as Error & { code?: string; responseCode?: number };
  const shown = secrets
    .reduce((text, secret) => text.replaceAll(secret, '***'), `${code} ${message}`.trim())
    .slice(0, 300);
  const isFinal = responseCode >= 500 && FINAL_AT.has(code);
  return isFinal ? { kind: 'rejected', error: shown } : { kind: 'retry', error: shown, afterMs: null };
}
