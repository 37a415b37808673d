import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { ManualClock } from '../../src/base/clock.ts';
import { epochMs, ms } from '../../src/base/units.ts';
import type { Notifier, SendResult } from '../../src/notify/notifier.ts';
import { afterAttempt } from '../../src/notify/retry.ts';
import { createSender, type Sender, type SenderDeps } from '../../src/notify/sender.ts';
import { createWebhookNotifier } from '../../src/notify/webhook/notifier.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { IncidentStore, OutboxEntry } from '../../src/store/store.ts';
import { T0 } from '../support/alerts.ts';
import { answerWith, startReceiverServer } from './receiver-server.ts';

const entryOf = (incident: number, seq: number): OutboxEntry => ({
  eventId: `${incident}-1-${seq}-a`,
  incident,
  episode: 1,
  seq,
  receiver: 'a',
  reason: 'opened',
  at: epochMs(T0 + seq),
  payload: `{"seq":${seq}}`,
  state: 'pending',
  attempts: 0,
  nextAttemptAt: epochMs(T0 + seq),
  deliveredAt: null,
  lastError: null,
  severity: 'page',
  heldUntil: null,
  handle: null,
});

function storeWith(...outbox: readonly OutboxEntry[]): IncidentStore {
  const store = createMemoryStore();
  store.commit({ at: epochMs(T0), alertStates: [], alertStatesRemoved: [], incidents: [], changes: [], outbox });
  return store;
}

const notifierOf = (send: Notifier['send']): Notifier => ({ name: 'a', sendResolved: true, message: () => '{}', send });

const senderOf = (store: IncidentStore, notifier: Notifier, more: Partial<SenderDeps> = {}): Sender =>
  createSender({
    store,
    notifiers: new Map([[notifier.name, notifier]]),
    clock: new ManualClock(epochMs(T0 + 60_000)),
    random: () => 0,
    ...more,
  });

describe('delivery', () => {
  test('a receiver has one message at a time, and those of an incident in order', async () => {
    let [running, most] = [0, 0];
    const order: string[] = [];
    const slow = notifierOf(async (_payload, eventId) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((done) => setImmediate(done));
      order.push(eventId);
      running -= 1;
      return { kind: 'delivered' };
    });
    const sender = senderOf(storeWith(entryOf(1, 3), entryOf(2, 1), entryOf(1, 2), entryOf(1, 1)), slow);
    sender.wake();
    sender.wake();
    await sender.idle();
    await sender.stop();
    assert.equal(most, 1);
    const ofFirst = order.filter((id) => id.startsWith('1-'));
    assert.deepEqual(ofFirst, ['1-1-1-a', '1-1-2-a', '1-1-3-a']);
    assert.equal(order.length, 4);
  });

  test('a new process goes on where the last one stopped, with the same event id', async () => {
    const store = storeWith(entryOf(1, 1));
    const ids: string[] = [];
    const hangs = notifierOf(async (_payload, id, signal): Promise<SendResult> => {
      ids.push(id);
      await once(signal, 'abort');
      return { kind: 'retry', error: 'aborted', afterMs: null };
    });
    const before = senderOf(store, hangs);
    before.wake();
    await before.stop();
    const after = senderOf(
      store,
      notifierOf((_payload, id) => {
        ids.push(id);
        return Promise.resolve({ kind: 'delivered' });
      }),
    );
    after.wake();
    await after.idle();
    await after.stop();
    assert.deepEqual([ids, store.sends(1)[0]?.state], [['1-1-1-a', '1-1-1-a'], 'delivered']);
  });

  test('429 is not tried again before the receiver wants it, and is reported as what it was', async (context) => {
    const server = await startReceiverServer(context, (response, call) =>
      answerWith(response, call === 1 ? 429 : 200, call === 1 ? { 'retry-after': '30' } : {}),
    );
    const store = storeWith(entryOf(1, 1));
    const webhook = createWebhookNotifier({
      name: 'a',
      type: 'webhook',
      url: server.url,
      secret: null,
      sendResolved: true,
    });
    const clock = new ManualClock(epochMs(T0 + 60_000));
    const seen: string[] = [];
    const onAttempt = (receiver: string, result: string): void => void seen.push(`${receiver} ${result}`);
    const sender = senderOf(store, webhook, { clock, onAttempt });
    context.after(() => sender.stop());
    for (const wait of [0, 29_999, 1]) {
      clock.advanceBy(ms(wait));
      sender.wake();
      await sender.idle();
      assert.equal(server.calls.length, wait === 1 ? 2 : 1);
    }
    assert.deepEqual(seen, ['a retry', 'a delivered']);
  });

  test('the last attempt is a day after the message was decided, however long the receiver wants to wait', () => {
    const wish: SendResult = { kind: 'retry', error: 'answered 503', afterMs: 7 * 86_400_000 };
    const attempt = afterAttempt(entryOf(1, 0), wish, epochMs(T0 + 80_000_000), 0);
    assert.deepEqual([attempt.state, attempt.nextAttemptAt], ['pending', T0 + 86_400_000]);
    assert.equal(afterAttempt(entryOf(1, 0), wish, attempt.nextAttemptAt, 0).state, 'dead');
  });
});
