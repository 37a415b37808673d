import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SlackAccess } from '../../src/model/receiver.ts';
import { sendSlack } from '../../src/notify/slack/send.ts';
import { slackRules } from './public-rules.ts';
import { exampleMessages } from './receiver-examples.ts';
import { startReceiverServer } from './receiver-server.ts';

const SIGNAL = new AbortController().signal;
const [OPENING, ESCALATION] = exampleMessages().filter(({ receiver }) => receiver === 'chat');

const json = (body: object, status = 200, headers: Record<string, string> = {}) => ({
  body: JSON.stringify(body),
  status,
  headers,
});
type Answer = ReturnType<typeof json> | { body: string; status: number; headers: Record<string, string> };

async function slackOf(context: Parameters<typeof startReceiverServer>[0], answers: readonly Answer[]) {
  const server = await startReceiverServer(context, (response, call) => {
    const answer = answers[call - 1] ?? json({ ok: true, channel: 'C1', ts: `${call}.1` });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  const url = server.url.replace(/\/hook$/, '');
  const bot: SlackAccess = { kind: 'bot', apiUrl: url, token: 'xoxb-secret-1', channel: 'C1' };
  const send = (message: typeof OPENING, handle: string | null = null, access: SlackAccess = bot) => {
    assert.ok(message !== undefined);
    return sendSlack(access, message.payload, message.eventId, SIGNAL, handle);
  };
  return { server, url, send };
}

describe('a bot in a channel', () => {
  test('posts, then edits the same message and adds the news to its thread', async (context) => {
    const { server, send } = await slackOf(context, []);
    const opened = await send(OPENING);
    assert.equal(opened.kind, 'delivered');
    const handle = (opened.kind === 'delivered' ? opened.handle : undefined) ?? '';
    assert.deepEqual(JSON.parse(handle), { channel: 'C1', ts: '1.1', shows: OPENING?.eventId });
    assert.equal((await send(ESCALATION, handle)).kind, 'delivered');
    const [, edit, reply] = server.calls.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    assert.deepEqual([edit?.['ts'], reply?.['thread_ts'], reply?.['reply_broadcast']], ['1.1', '1.1', true]);
    for (const { body, headers } of server.calls) assert.deepEqual(slackRules(body, headers, '/chat.postMessage'), []);
  });

  test('whose thread failed does not edit again at the second attempt', async (context) => {
    const { server, send } = await slackOf(context, [
      json({ ok: true, channel: 'C1', ts: '1.1' }),
      json({ ok: true, channel: 'C1', ts: '1.1' }),
      json({ ok: false, error: 'ratelimited' }, 429, { 'retry-after': '3' }),
    ]);
    const opened = await send(OPENING);
    const first = await send(ESCALATION, (opened.kind === 'delivered' ? opened.handle : null) ?? null);
    assert.ok(first.kind === 'retry');
    assert.equal(first.afterMs, 3000);
    assert.equal((await send(ESCALATION, first.handle ?? null)).kind, 'delivered');
    assert.equal(server.calls.length, 4);
  });

  test('posts anew when its message is gone', async (context) => {
    const { server, send } = await slackOf(context, [json({ ok: false, error: 'message_not_found' })]);
    const result = await send(ESCALATION, JSON.stringify({ channel: 'C1', ts: '0.1', shows: 'x' }));
    assert.equal(result.kind, 'delivered');
    assert.equal((JSON.parse(server.calls[1]?.body ?? '') as { thread_ts?: string }).thread_ts, undefined);
  });

  for (const [error, kind] of [
    ['channel_not_found', 'rejected'],
    ['invalid_auth', 'rejected'],
    ['internal_error', 'retry'],
    ['service_unavailable', 'retry'],
  ] as const) {
    test(`${error} means ${kind}`, async (context) => {
      const { send } = await slackOf(context, [json({ ok: false, error })]);
      assert.equal((await send(OPENING)).kind, kind);
    });
  }

  test('never shows its token, even when the answer does', async (context) => {
    const { send } = await slackOf(context, [{ body: 'who is xoxb-secret-1?', status: 403, headers: {} }]);
    const result = await send(OPENING);
    assert.deepEqual(result, { kind: 'rejected', error: 'answered 403: who is ***?' });
  });
});

describe('an incoming webhook', () => {
  for (const [name, answer, kind] of [
    ['200 with ok is delivered', { body: 'ok', status: 200, headers: {} }, 'delivered'],
    ['200 with a page is tried again', { body: '<html>', status: 200, headers: {} }, 'retry'],
    ['404 is final', { body: 'no_service', status: 404, headers: {} }, 'rejected'],
    ['429 is tried again', { body: 'rate_limited', status: 429, headers: {} }, 'retry'],
  ] as const) {
    test(name, async (context) => {
      const { send, url } = await slackOf(context, [answer]);
      assert.equal((await send(ESCALATION, null, { kind: 'incoming_webhook', url })).kind, kind);
    });
  }
});
