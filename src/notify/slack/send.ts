import type { SlackAccess } from '../../model/receiver.ts';
import { type Answer, post, resultOf } from '../http.ts';
import type { SendResult } from '../notifier.ts';
import type { SlackBody, SlackPayload } from './message.ts';

/** Where the message about an episode stands, and which of our messages it shows already. */
export interface SlackHandle {
  readonly channel: string;
  readonly ts: string;
  readonly shows: string;
}

/** Refusals that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'team_added_to_org',
]);
/** The message that should be edited is not there any more, or may not be. */
const UNEDITABLE: ReadonlySet<string> = new Set([
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'thread_not_found',
]);

export function sendSlack(
  access: SlackAccess,
  payload: string,
  eventId: string,
  signal: AbortSignal,
  handle: string | null,
): Promise<SendResult> {
  const message = JSON.parse(payload) as SlackPayload;
  if (access.kind === 'incoming_webhook') return postToHook(access.url, message, signal);
  return sendAsBot(access, message, eventId, signal, handle === null ? null : (JSON.parse(handle) as SlackHandle));
}

/** Cannot edit: each message is a post. Success is 200 with the body `ok`, anything else is a failure. */
async function postToHook(url: string, { main, reply }: SlackPayload, signal: AbortSignal): Promise<SendResult> {
  const body = JSON.stringify(reply ?? main);
  const answer = await post({ url, body, headers: {}, signal, secrets: [url], wantsText: true });
  const result = resultOf(answer);
  if (result.kind !== 'delivered' || answer.kind !== 'answered' || answer.text.trim() === 'ok') return result;
  return { kind: 'retry', error: `answered ${answer.status} without ok: ${answer.text.slice(0, 200)}`, afterMs: null };
}

type Bot = Extract<SlackAccess, { kind: 'bot' }>;

/**
 * One message per episode: posted first, edited on every later transition, the news in its thread. Editing comes first,
 * as doing it twice changes nothing; the thread is written once.
 */
async function sendAsBot(
  bot: Bot,
  message: SlackPayload,
  eventId: string,
  signal: AbortSignal,
  known: SlackHandle | null,
): Promise<SendResult> {
  if (known === null || message.reply === null) return postAnew(bot, message, eventId, signal);
  const { channel, ts } = known;
  if (known.shows !== eventId) {
    const edited = await call(
      bot,
      'chat.update',
      { channel, ts, metadata: metadataOf(eventId), ...message.main },
      signal,
    );
    if (edited.kind === 'refused' && UNEDITABLE.has(edited.error)) return postAnew(bot, message, eventId, signal);
    if (edited.kind !== 'ok') return failure(edited);
  }
  const handle = JSON.stringify({ channel, ts, shows: eventId } satisfies SlackHandle);
  const metadata = metadataOf(eventId);
  const thread = { channel, thread_ts: ts, reply_broadcast: message.broadcast, metadata };
  const replied = await call(bot, 'chat.postMessage', { ...thread, ...message.reply }, signal);
  if (replied.kind === 'ok') return { kind: 'delivered', handle };
  const failed = failure(replied);
  return failed.kind === 'retry' ? { ...failed, handle } : failed;
}

async function postAnew(bot: Bot, { main }: SlackPayload, eventId: string, signal: AbortSignal): Promise<SendResult> {
  const body = { channel: bot.channel, metadata: metadataOf(eventId), ...main };
  const posted = await call(bot, 'chat.postMessage', body, signal);
  if (posted.kind !== 'ok') return failure(posted);
  const { channel, ts } = posted;
  return { kind: 'delivered', handle: JSON.stringify({ channel, ts, shows: eventId } satisfies SlackHandle) };
}

/** Not shown to people; tells a program which of two equal messages is a copy. */
const metadataOf = (eventId: string) => ({
  event_type: 'slowburn_notification',
  event_payload: { event_id: eventId },
});

type CallResult =
  | { readonly kind: 'ok'; readonly channel: string; readonly ts: string }
  | { readonly kind: 'refused'; readonly error: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'failed'; readonly answer: Answer };

type Method = 'chat.postMessage' | 'chat.update';

/** Slack answers 200 and says in the body whether it did. */
async function call(
  bot: Bot,
  method: Method,
  body: SlackBody & Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallResult> {
  const answer = await post({
    url: `${bot.apiUrl}/${method}`,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${bot.token}` },
    signal,
    secrets: [bot.token],
    wantsText: true,
  });
  if (answer.kind !== 'answered' || answer.status < 200 || answer.status >= 300) return { kind: 'failed', answer };
  const said = readAnswer(answer.text);
  if (said?.ok === true && typeof said.ts === 'string' && typeof said.channel === 'string') {
    return { kind: 'ok', channel: said.channel, ts: said.ts };
  }
  const error = typeof said?.error === 'string' ? said.error : 'internal_error';
  return { kind: 'refused', error, retryAfterMs: answer.retryAfterMs };
}

function readAnswer(text: string): { ok?: unknown; ts?: unknown; channel?: unknown; error?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function failure(result: Exclude<CallResult, { kind: 'ok' }>): Exclude<SendResult, { kind: 'delivered' }> {
  if (result.kind === 'refused') {
    const error = `Slack says ${result.error}`;
    return PASSING.has(result.error)
      ? { kind: 'retry', error, afterMs: result.retryAfterMs }
      : { kind: 'rejected', error };
  }
  const meaning = resultOf(result.answer);
  return meaning.kind === 'delivered' ? { kind: 'retry', error: 'an empty answer', afterMs: null } : meaning;
}
