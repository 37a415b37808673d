import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What each receiver's public documentation asks of a request; an empty list means that it would be taken. */
type Rules = (body: string, headers: IncomingHttpHeaders, path: string) => readonly string[];

const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length > 0 && [...value].length <= max;

/** Events API v2: required fields, closed lists, lengths, 512 kB. */
export const pagerdutyRules: Rules = (body) => {
  const wrong: string[] = [];
  const event = JSON.parse(body) as Record<string, unknown>;
  const payload = event['payload'] as Record<string, unknown> | undefined;
  if (Buffer.byteLength(body) > 512_000) wrong.push('event above 512000 bytes');
  if (!isText(event['routing_key'], 64)) wrong.push('routing_key');
  if (!['trigger', 'acknowledge', 'resolve'].includes(String(event['event_action']))) wrong.push('event_action');
  if (!isText(event['dedup_key'], 255)) wrong.push('dedup_key');
  if (event['event_action'] === 'trigger') {
    if (!isText(payload?.['summary'], 1024)) wrong.push('payload.summary');
    if (!isText(payload?.['source'], 1024)) wrong.push('payload.source');
    if (!['critical', 'error', 'warning', 'info'].includes(String(payload?.['severity']))) wrong.push('severity');
    if (Number.isNaN(Date.parse(String(payload?.['timestamp'])))) wrong.push('timestamp');
    if (typeof payload?.['custom_details'] !== 'object') wrong.push('custom_details');
    for (const { href, text } of (event['links'] ?? []) as { href?: string; text?: string }[]) {
      if (!/^https?:\/\//.test(href ?? '') || !isText(text, 255)) wrong.push('links');
    }
  } else if (payload !== undefined) wrong.push('payload without trigger');
  return wrong;
};

interface Block {
  readonly type: string;
  readonly text?: { readonly type: string; readonly text: string };
  readonly elements?: readonly { readonly type: string; readonly text: string }[];
}

/** Web API: bearer token, a channel, top-level text, Block Kit's limits, and the total that Slack refuses above. */
export const slackRules: Rules = (body, headers, path) => {
  const wrong: string[] = [];
  const message = JSON.parse(body) as Record<string, unknown>;
  const blocks = (message['blocks'] ?? []) as Block[];
  if (!/^Bearer xoxb-/.test(headers.authorization ?? '')) wrong.push('authorization');
  if (!/^application\/json; *charset=utf-8$/.test(headers['content-type'] ?? '')) wrong.push('content-type');
  if (!isText(message['channel'], 80)) wrong.push('channel');
  if (path === '/chat.update' && typeof message['ts'] !== 'string') wrong.push('ts');
  if (!isText(message['text'], 40_000)) wrong.push('text');
  if (blocks.length === 0 || blocks.length > 50) wrong.push('number of blocks');
  for (const { type, text, elements } of blocks) {
    const fits =
      type === 'header'
        ? text?.type === 'plain_text' && isText(text.text, 150)
        : type === 'section'
          ? text?.type === 'mrkdwn' && isText(text.text, 3000)
          : type === 'context' &&
            elements !== undefined &&
            elements.length <= 10 &&
            elements.every((one) => isText(one.text, 3000));
    if (!fits) wrong.push(`block ${type}`);
  }
  if (JSON.stringify(blocks).length > 9000) wrong.push('msg_blocks_too_long');
  return wrong;
};

/** docs/webhook.md: signature over the body as received, the event id in header and body. */
export const webhookRules =
  (secret: string): Rules =>
  (body, headers) => {
    const wrong: string[] = [];
    const digest = createHmac('sha256', secret).update(body).digest('hex');
    if (headers['x-slowburn-signature'] !== `sha256=${digest}`) wrong.push('signature');
    const message = JSON.parse(body) as Record<string, unknown>;
    if (message['eventId'] !== headers['idempotency-key']) wrong.push('event id');
    if (message['schema'] !== 'slowburn.webhook/1') wrong.push('schema');
    return wrong;
  };
