import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '../../src/base/clock.ts';
import { epochMs, ms } from '../../src/base/units.ts';
import type { Notifier, SendResult } from '../../src/notify/notifier.ts';
import { afterAttempt } from '../../src/notify/retry.ts';
import { createSender } from '../../src/notify/sender.ts';
import { createWebhookNotifier } from '../../src/notify/webhook/notifier.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { IncidentStore, OutboxEntry } from '../../src/store/store.ts';
import { T0 } from '../support/alerts.ts';

const entryOf = (incident: number, receiver: string, seq = 1): OutboxEntry => ({
  eventId: `${incident}-1-${seq}-${receiver}`,
  incident,
  episode: 1,
  seq,
  receiver,
  reason: 'opened',
  at: epochMs(T0),
  payload: `{"seq":${seq}}`,
  state: 'pending',
  attempts: 0,
  nextAttemptAt: epochMs(T0),
  deliveredAt: null,
  lastError: null,
  severity: 'page',
  heldUntil: null,
  handle: null,
});

function fill(store: IncidentStore, outbox: readonly OutboxEntry[]): void {
  store.commit({ at: epochMs(T0), alertStates: [], alertStatesRemoved: [], incidents: [], changes: [], outbox });
}

function openFile(t: TestContext): IncidentStore {
  const directory = mkdtempSync(join(tmpdir(), 'slowburn-sender-'));
  const store = openSqliteStore(join(directory, 'incidents.sqlite'));
  t.after(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return store;
}

/** A notifier that answers by script and records what was sent. */
function scripted(name: string, answer: (eventId: string) => SendResult | Promise<SendResult>) {
  const sent: string[] = [];
  const notifier: Notifier = {
    name,
    sendResolved: true,
    message: () => '{}',
    send: async (_, eventId) => {
      sent.push(eventId);
      return answer(eventId);
    },
  };
  return { notifier, sent };
}

const mapOf = (...notifiers: readonly Notifier[]): ReadonlyMap<string, Notifier> =>
  new Map(notifiers.map((notifier) => [notifier.name, notifier]));

/** Wakes the sender at each time at which something is due, until nothing waits. */
async function drain(
  store: IncidentStore,
  notifiers: ReadonlyMap<string, Notifier>,
  random = 0.337,
): Promise<number[]> {
  const clock = new ManualClock(epochMs(T0));
  const errors: unknown[] = [];
  const sender = createSender({
    store,
    notifiers,
    clock,
    random: () => random,
    onError: (error) => errors.push(error),
  });
  const waits: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    const next = store.nextSendAt();
    if (next === null || errors.length > 0) break;
    const wait = Math.max(0, next - clock.now());
    if (wait > 0) waits.push(wait);
    // What is due and was not sent belongs to a receiver that asked for a pause.
    clock.advanceBy(ms(wait === 0 && round > 0 ? 1000 : wait));
    sender.wake();
    await sender.idle();
  }
  await sender.stop();
  assert.deepEqual(errors, []);
  return waits;
}

async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const webhook = (name: string, port: number): Notifier =>
  createWebhookNotifier({ name, type: 'webhook', url: `http://127.0.0.1:${port}/`, secret: null, sendResolved: true });

describe('retries kept in the file of incidents', () => {
  test('every wait is a whole number of milliseconds, at most a day, and the store takes it', (t) => {
    const store = openFile(t);
    let incident = 0;
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.nat({ max: 30 }),
        fc.option(fc.double({ min: 0, max: 1e30, noNaN: true })),
        (random, attempts, afterMs) => {
          incident += 1;
          const entry = { ...entryOf(incident, 'a'), attempts };
          const attempt = afterAttempt(entry, { kind: 'retry', error: 'x', afterMs }, epochMs(T0), random);
          const wait = attempt.nextAttemptAt - T0;
          assert.ok(Number.isSafeInteger(wait) && wait >= 500 && wait <= 86_400_000, `waits ${wait} ms`);
          fill(store, [entry]);
          store.recordAttempt(entry.eventId, { at: epochMs(T0), ...attempt });
          assert.equal(store.sends(incident)[0]?.nextAttemptAt, attempt.nextAttemptAt);
        },
      ),
      { seed: 11, numRuns: 150 },
    );
  });

  test('a receiver that fails three times is tried with growing waits and then has the message once', async (t) => {
    const store = openFile(t);
    fill(store, [entryOf(1, 'a')]);
    let calls = 0;
    const { notifier, sent } = scripted('a', () => {
      calls += 1;
      return calls <= 3 ? { kind: 'retry', error: 'answered 503', afterMs: null } : { kind: 'delivered' };
    });
    const waits = await drain(store, mapOf(notifier));
    assert.deepEqual(waits, [837, 1174, 1848]);
    assert.equal(sent.length, 4);
    const [entry] = store.sends(1);
    assert.deepEqual([entry?.state, entry?.attempts, entry?.lastError], ['delivered', 4, null]);
  });
});

describe('the order of sending', () => {
  test('the second message of an incident is not sent before the first has arrived', async (t) => {
    const store = openFile(t);
    fill(store, [entryOf(1, 'a', 1), entryOf(1, 'a', 2), entryOf(2, 'a', 1)]);
    let isUp = false;
    const { notifier, sent } = scripted('a', (eventId) => {
      if (eventId !== '1-1-1-a') return { kind: 'delivered' };
      if (isUp) return { kind: 'delivered' };
      isUp = true;
      return { kind: 'retry', error: 'answered 503', afterMs: null };
    });
    await drain(store, mapOf(notifier));
    assert.deepEqual(sent, ['1-1-1-a', '2-1-1-a', '1-1-1-a', '1-1-2-a']);
  });

  test('a receiver that asks for a pause gets nothing at all meanwhile, but no longer than a minute', async (t) => {
    for (const [afterMs, pauseMs] of [
      [20_000, 20_000],
      [3_600_000, 60_000],
    ] as const) {
      const store = createMemoryStore();
      fill(store, [entryOf(1, 'a', 1), entryOf(2, 'a', 1), entryOf(3, 'b', 1)]);
      const busy = scripted('a', (id) =>
        id === '1-1-1-a' ? { kind: 'retry', error: 'answered 429', afterMs } : { kind: 'delivered' },
      );
      const free = scripted('b', () => ({ kind: 'delivered' }));
      const clock = new ManualClock(epochMs(T0 + 1000));
      const sender = createSender({ store, notifiers: mapOf(busy.notifier, free.notifier), clock, random: () => 0 });
      t.after(() => sender.stop());
      for (const wait of [0, pauseMs - 1]) {
        clock.advanceBy(ms(wait));
        sender.wake();
        await sender.idle();
        assert.deepEqual([busy.sent, free.sent], [['1-1-1-a'], ['3-1-1-b']]);
      }
      clock.advanceBy(ms(1));
      sender.wake();
      await sender.idle();
      assert.ok(busy.sent.includes('2-1-1-a'));
    }
  });

  test('a receiver with hundreds of messages that hangs does not delay another one', async (t) => {
    for (const store of [createMemoryStore(), openFile(t)]) {
      fill(store, [
        ...Array.from({ length: 250 }, (_, index) => entryOf(index + 1, 'hangs')),
        { ...entryOf(900, 'up'), at: epochMs(T0 + 1000) },
      ]);
      let release: (result: SendResult) => void = () => undefined;
      const hanging = new Promise<SendResult>((done) => {
        release = done;
      });
      const hangs = scripted('hangs', () => hanging);
      const up = scripted('up', () => ({ kind: 'delivered' }));
      const clock = new ManualClock(epochMs(T0 + 2000));
      const sender = createSender({ store, notifiers: mapOf(hangs.notifier, up.notifier), clock, random: () => 0 });
      sender.wake();
      await new Promise((done) => setImmediate(done));
      assert.deepEqual([hangs.sent.length, up.sent], [1, ['900-1-1-up']]);
      assert.equal(store.sends(900)[0]?.state, 'delivered');
      const stopped = sender.stop();
      release({ kind: 'retry', error: 'aborted', afterMs: null });
      await stopped;
    }
  });

  test('what is in flight at the stop is neither counted nor lost', async () => {
    const store = createMemoryStore();
    fill(store, [entryOf(1, 'a')]);
    const notifier: Notifier = {
      ...scripted('a', () => ({ kind: 'delivered' })).notifier,
      send: (_payload, _eventId, signal) =>
        new Promise((done) => {
          signal.addEventListener('abort', () => done({ kind: 'retry', error: 'aborted', afterMs: null }));
        }),
    };
    const sender = createSender({
      store,
      notifiers: mapOf(notifier),
      clock: new ManualClock(epochMs(T0)),
      random: () => 0,
    });
    sender.wake();
    await sender.stop();
    assert.deepEqual(store.sends(1), [entryOf(1, 'a')]);
  });

  test('a message to a receiver that is no longer configured is dead, with the reason', async () => {
    const store = createMemoryStore();
    fill(store, [entryOf(1, 'gone')]);
    await drain(store, mapOf());
    const [entry] = store.sends(1);
    assert.deepEqual([entry?.state, entry?.lastError], ['dead', 'receiver gone is no longer configured']);
  });

  test('a store that cannot record an attempt is told once, and the stop does not wait for the pause', async () => {
    const memory = createMemoryStore();
    fill(memory, [entryOf(1, 'a')]);
    const store: IncidentStore = {
      ...memory,
      recordAttempt: () => {
        throw new Error('disk full');
      },
    };
    const { notifier, sent } = scripted('a', () => ({ kind: 'delivered' }));
    const errors: unknown[] = [];
    const clock = new ManualClock(epochMs(T0));
    const onError = (error: unknown): void => void errors.push(error);
    const sender = createSender({ store, notifiers: mapOf(notifier), clock, random: () => 0, onError });
    sender.wake();
    await new Promise((done) => setImmediate(done));
    sender.wake();
    await sender.stop();
    assert.deepEqual([errors, sent], [[new Error('disk full')], ['1-1-1-a']]);
  });
});

describe('over real sockets', () => {
  test('a refused connection is tried again and delivered once the receiver is up', async (t) => {
    const first = createServer();
    const port = await listen(first);
    first.close();
    await once(first, 'close');
    const store = openFile(t);
    fill(store, [entryOf(1, 'a')]);
    const notifiers = mapOf(webhook('a', port));
    const clock = new ManualClock(epochMs(T0));
    const sender = createSender({ store, notifiers, clock, random: () => 0 });
    sender.wake();
    await sender.idle();
    const [refused] = store.sends(1);
    assert.equal(refused?.state, 'pending');
    assert.match(refused?.lastError ?? '', /ECONNREFUSED/);
    const bodies: string[] = [];
    const second = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
      request.on('end', () => response.writeHead(204).end());
    });
    await listen(second, port);
    t.after(() => second.close());
    clock.advanceBy(ms(500));
    sender.wake();
    await sender.idle();
    await sender.stop();
    assert.deepEqual([store.sends(1)[0]?.state, bodies], ['delivered', ['{"seq":1}']]);
    second.closeAllConnections();
  });

  const ANSWERS: readonly (readonly [
    name: string,
    status: number,
    headers: Record<string, string>,
    want: SendResult,
  ])[] = [
    ['200 is delivered', 200, {}, { kind: 'delivered' }],
    ['202 is delivered', 202, {}, { kind: 'delivered' }],
    ['400 is final', 400, {}, { kind: 'rejected', error: 'answered 400: because' }],
    ['a redirect is final', 302, { location: '/' }, { kind: 'rejected', error: 'answered 302: because' }],
    ['408 is tried again', 408, {}, { kind: 'retry', error: 'answered 408: because', afterMs: null }],
    ['503 is tried again', 503, {}, { kind: 'retry', error: 'answered 503: because', afterMs: null }],
    [
      'Retry-After in seconds is kept',
      429,
      { 'retry-after': '7' },
      { kind: 'retry', error: 'answered 429: because', afterMs: 7000 },
    ],
    [
      "Retry-After as a date is read against the answer's own clock",
      503,
      { 'retry-after': 'Tue, 01 Feb 2000 00:01:00 GMT', date: 'Tue, 01 Feb 2000 00:00:00 GMT' },
      { kind: 'retry', error: 'answered 503: because', afterMs: 60_000 },
    ],
    [
      'a Retry-After that is neither is ignored',
      503,
      { 'retry-after': 'soon' },
      { kind: 'retry', error: 'answered 503: because', afterMs: null },
    ],
  ];
  for (const [name, status, headers, want] of ANSWERS) {
    test(name, async (t) => {
      const server = createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(status, headers).end('because'));
      });
      const port = await listen(server);
      t.after(() => {
        server.closeAllConnections();
        server.close();
      });
      assert.deepEqual(await webhook('a', port).send('{}', 'id', new AbortController().signal), want);
    });
  }
});
