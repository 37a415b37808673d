import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { ManualClock } from '../../src/base/clock.ts';
import { epochMs, ms } from '../../src/base/units.ts';
import type { Notifier } from '../../src/notify/notifier.ts';
import { decideBeat, type Pulse } from '../../src/notify/watchdog/due.ts';
import { createHeartbeats, type HeartbeatDeps } from '../../src/notify/watchdog/heartbeat.ts';
import { createWebhookNotifier } from '../../src/notify/webhook/notifier.ts';
import { T0 } from '../support/alerts.ts';
import { answerWith, startReceiverServer } from './receiver-server.ts';

const at = (seconds: number) => epochMs(T0 + seconds * 1000);

describe('whether a heartbeat is due', () => {
  const pulse = (fields: Partial<Pulse>): Pulse => ({
    now: at(600),
    evaluatedAt: at(600),
    lastBeatAt: at(540),
    every: ms(60_000),
    writable: () => true,
    inFlight: false,
    ...fields,
  });
  const cases: readonly [name: string, fields: Partial<Pulse>, decision: string][] = [
    ['a full pace after the last one', {}, 'beat'],
    ['one tick early', { lastBeatAt: at(550) }, 'not_due'],
    ['the first one', { lastBeatAt: null }, 'beat'],
    ['an evaluation three ticks old', { now: at(630) }, 'beat'],
    ['an evaluation older than three ticks', { now: epochMs(at(630) + 1) }, 'late'],
    ['an evaluation far in the future', { now: at(500) }, 'late'],
    ['a store that refuses', { writable: () => false }, 'unwritable'],
    ['one still on its way', { inFlight: true }, 'in_flight'],
    ['a clock that was set back by an hour', { now: at(-3000), evaluatedAt: at(-3000) }, 'beat'],
  ];
  for (const [name, fields, decision] of cases) {
    test(`${name}: ${decision}`, () => assert.equal(decideBeat(pulse(fields)), decision));
  }

  test('the store is probed only when everything else says beat', () => {
    const never = (): boolean => assert.fail('probed');
    for (const fields of [{ lastBeatAt: at(550) }, { now: at(700) }, { inFlight: true }]) {
      decideBeat(pulse({ ...fields, writable: never }));
    }
  });
});

const LINKS = { runbook: 'http://slowburn/runbooks/Watchdog', dashboard: 'http://slowburn/' };

function heartbeatsOf(context: TestContext, notifier: Notifier, more: Partial<HeartbeatDeps> = {}) {
  const clock = new ManualClock(at(0));
  const results: string[] = [];
  const heartbeats = createHeartbeats({
    notifier,
    every: ms(60_000),
    clock,
    links: () => LINKS,
    writable: () => true,
    onAttempt: (receiver, result) => results.push(`${receiver} ${result}`),
    ...more,
  });
  context.after(() => heartbeats.stop());
  /** Evaluations every 10 s up to `end`, each with what it sent awaited. */
  const run = async (end: number): Promise<void> => {
    while (clock.now() < at(end)) {
      clock.advanceBy(ms(10_000));
      heartbeats.evaluated(clock.now());
      await heartbeats.idle();
    }
  };
  return { clock, heartbeats, results, run };
}

describe('the heartbeat over a real socket', () => {
  const webhook = (url: string): Notifier =>
    createWebhookNotifier({ name: 'watch', type: 'webhook', url, secret: 'key', sendResolved: true });

  test('arrives at its pace, signed, and says since when it runs and when it evaluated', async (context) => {
    const server = await startReceiverServer(context, (response) => answerWith(response, 200));
    const { run, results } = heartbeatsOf(context, webhook(server.url));
    await run(130);
    assert.equal(server.calls.length, 3);
    assert.deepEqual(results, Array(3).fill('watch delivered'));
    for (const { body, headers } of server.calls) {
      assert.equal(headers['x-slowburn-signature'], `sha256=${createHmac('sha256', 'key').update(body).digest('hex')}`);
      assert.equal(headers['idempotency-key'], (JSON.parse(body) as { eventId: string }).eventId);
      assert.equal(headers['content-type'], 'application/json');
    }
    assert.equal(new Set(server.calls.map(({ headers }) => headers['idempotency-key'])).size, 3);
    assert.deepEqual(JSON.parse(server.calls[1]?.body ?? ''), {
      schema: 'slowburn.webhook/1',
      eventId: `heartbeat-${T0}-2`,
      seq: 2,
      at: '2027-01-15T08:01:10.000Z',
      reason: 'heartbeat',
      severity: null,
      text:
        'HEARTBEAT slowburn runs since 2027-01-15 08:00:00 UTC, evaluated everything at 2027-01-15 08:01:10 UTC and ' +
        'can write its store. The next one is due in 60 s: when it stays away, nobody is paged for anything.',
      heartbeat: {
        startedAt: '2027-01-15T08:00:00.000Z',
        evaluatedAt: '2027-01-15T08:01:10.000Z',
        storeWritable: true,
        everySeconds: 60,
      },
      links: LINKS,
    });
  });

  test('stops while the store refuses, and comes back with the present, nothing made up for', async (context) => {
    const server = await startReceiverServer(context, (response) => answerWith(response, 200));
    let writable = true;
    const { run } = heartbeatsOf(context, webhook(server.url), { writable: () => writable });
    await run(10);
    writable = false;
    await run(600);
    assert.equal(server.calls.length, 1);
    writable = true;
    await run(650);
    assert.equal(server.calls.length, 2);
    const { heartbeat } = JSON.parse(server.calls[1]?.body ?? '') as { heartbeat: { evaluatedAt: string } };
    assert.equal(heartbeat.evaluatedAt, new Date(at(610)).toISOString());
  });

  test('stops when evaluations stop, or when one took so long that it says nothing about now', async (context) => {
    const server = await startReceiverServer(context, (response) => answerWith(response, 200));
    const { clock, heartbeats, run } = heartbeatsOf(context, webhook(server.url));
    await run(10);
    clock.advanceBy(ms(600_000));
    assert.equal(heartbeats.evaluated(at(100)), 'late');
    await heartbeats.idle();
    assert.equal(server.calls.length, 1);
  });

  test('a receiver that is down is not tried again before the next one is due, and it counts', async (context) => {
    const server = await startReceiverServer(context, (response) => answerWith(response, 503));
    const { run, results } = heartbeatsOf(context, webhook(server.url));
    await run(120);
    assert.equal(server.calls.length, 2);
    assert.deepEqual(results, ['watch dead', 'watch dead']);
  });

  test('a receiver that hangs holds back one at most, and stop ends it', async (context) => {
    const server = await startReceiverServer(context, () => undefined);
    const { clock, heartbeats, results } = heartbeatsOf(context, webhook(server.url));
    assert.equal(heartbeats.evaluated(clock.now()), 'beat');
    clock.advanceBy(ms(60_000));
    assert.equal(heartbeats.evaluated(clock.now()), 'in_flight');
    await heartbeats.stop();
    clock.advanceBy(ms(60_000));
    assert.equal(heartbeats.evaluated(clock.now()), 'not_due');
    assert.deepEqual(results, []);
    assert.ok(server.calls.length <= 1);
  });

  test('is given up in time, whatever the way of sending thinks', async (context) => {
    const patient: Notifier = {
      name: 'watch',
      sendResolved: true,
      message: () => '',
      send: async (_payload, _id, signal) => {
        await once(signal, 'abort');
        return { kind: 'retry', error: 'gave up', afterMs: null };
      },
    };
    const { clock, heartbeats, results } = heartbeatsOf(context, patient, { giveUpAfter: ms(20) });
    // The limit's own timer keeps no process alive.
    const alive = setInterval(() => undefined, 5);
    heartbeats.evaluated(clock.now());
    await heartbeats.idle();
    clearInterval(alive);
    assert.deepEqual(results, ['watch dead']);
  });
});
