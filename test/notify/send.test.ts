import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { SendResult } from '../../src/notify/notifier.ts';
import { sendWebhook } from '../../src/notify/webhook/send.ts';
import { answerWith, startReceiverServer } from './receiver-server.ts';

type Answer = Parameters<typeof startReceiverServer>[1];

async function sendTo(
  context: TestContext,
  answer: Answer,
  signal = new AbortController().signal,
): Promise<SendResult> {
  const { url } = await startReceiverServer(context, answer);
  return sendWebhook({ url, secret: null }, '{"a":1}', 'id-1', signal);
}

describe('one POST to a webhook', () => {
  test('carries the body, its type and the event id, and no signature without a secret', async (context) => {
    const { url, calls } = await startReceiverServer(context, (response) => answerWith(response, 204));
    const receiver = { name: 'a', type: 'webhook', url, secret: null, sendResolved: true } as const;
    const result = await sendWebhook(receiver, '{"text":"ü"}', '1-1-2-a', new AbortController().signal);
    assert.deepEqual(result, { kind: 'delivered' });
    const [call] = calls;
    assert.equal(call?.body, '{"text":"ü"}');
    assert.equal(call?.headers['content-type'], 'application/json');
    assert.equal(call?.headers['idempotency-key'], '1-1-2-a');
    assert.equal(call?.headers['x-slowburn-signature'], undefined);
  });

  for (const status of [408, 429, 500, 502, 503, 504]) {
    test(`${status} is worth another try`, async (context) => {
      const result = await sendTo(context, (response) => answerWith(response, status));
      assert.deepEqual(result, { kind: 'retry', error: `answered ${status}`, afterMs: null });
    });
  }

  for (const status of [301, 400, 401, 404, 410, 422]) {
    test(`${status} is final`, async (context) => {
      const result = await sendTo(context, (response) => answerWith(response, status));
      assert.deepEqual(result, { kind: 'rejected', error: `answered ${status}` });
    });
  }

  test('Retry-After is read as seconds and as a date against the clock of the receiver', async (context) => {
    const afterMs = async (headers: Record<string, string>): Promise<number | null | undefined> => {
      const result = await sendTo(context, (response) => answerWith(response, 429, headers));
      return result.kind === 'retry' ? result.afterMs : undefined;
    };
    assert.equal(await afterMs({ 'retry-after': '7' }), 7000);
    const dates = { date: 'Fri, 01 Jan 2027 00:00:00 GMT', 'retry-after': 'Fri, 01 Jan 2027 00:01:30 GMT' };
    assert.equal(await afterMs(dates), 90_000);
    assert.equal(await afterMs({ ...dates, 'retry-after': 'Thu, 31 Dec 2026 00:00:00 GMT' }), 0);
    assert.equal(await afterMs({ 'retry-after': 'soon' }), null);
  });

  test('a body that breaks off after 200 does not make it undelivered', async (context) => {
    const result = await sendTo(context, (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('o');
      setTimeout(() => response.destroy(), 20);
    });
    assert.deepEqual(result, { kind: 'delivered' });
  });

  test('of a long complaint the start is kept, and the rest is not waited for', async (context) => {
    const result = await sendTo(context, (response) => {
      response.writeHead(400);
      response.write('no such key '.repeat(10_000));
    });
    assert.equal(result.kind, 'rejected');
    assert.equal(result.kind === 'rejected' && result.error.length, 'answered 400: '.length + 200);
  });

  test('nobody listening is worth another try, and says so', async () => {
    const receiver = {
      name: 'a',
      type: 'webhook',
      url: 'http://127.0.0.1:1/',
      secret: null,
      sendResolved: true,
    } as const;
    const result = await sendWebhook(receiver, '{}', 'id', new AbortController().signal);
    assert.equal(result.kind, 'retry');
    assert.match(result.kind === 'retry' ? result.error : '', /ECONNREFUSED/);
  });

  test('an abort ends it without an answer', async (context) => {
    const abort = new AbortController();
    const result = await sendTo(context, () => abort.abort(), abort.signal);
    assert.equal(result.kind, 'retry');
  });
});
