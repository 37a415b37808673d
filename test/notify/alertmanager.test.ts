import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../src/base/clock.ts';
import { epochMs, ms } from '../../src/base/units.ts';
import type { AlertmanagerReceiver } from '../../src/model/receiver.ts';
import { fingerprint } from '../../src/notify/alertmanager/message.ts';
import { toAlertmanagerWebhookMessage } from '../../src/notify/alertmanager-webhook/message.ts';
import { createNotifiers } from '../../src/notify/registry.ts';
import { createRepeats } from '../../src/notify/repeats.ts';
import { createSender } from '../../src/notify/sender.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { CHECKOUT, pageOf, Scene, type Step } from '../correlate/scene.ts';
import { alertOf, T0 } from '../support/alerts.ts';
import { exampleMessages, exampleNotifications } from './receiver-examples.ts';
import { answerWith, startReceiverServer } from './receiver-server.ts';
import { CONTEXT, commitAll } from './scenes.ts';

interface Posted {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

describe('an Alertmanager', () => {
  test('has one alert per incident, repeated while it is open and ended when labels change or it is over', async (context) => {
    const server = await startReceiverServer(context, (response) => answerWith(response, 200));
    const receiver: AlertmanagerReceiver = {
      name: 'am',
      type: 'alertmanager',
      url: server.url.replace(/\/hook$/, ''),
      sendResolved: true,
    };
    const clock = new ManualClock(epochMs(T0));
    const notifiers = createNotifiers([receiver], clock);
    const store = createMemoryStore();
    const sender = createSender({ store, notifiers, clock, random: () => 0 });
    const repeats = createRepeats({ store, notifiers });
    context.after(() => Promise.all([sender.stop(), repeats.stop()]));
    const firing = new Map<string, string>();
    const severities: string[] = [];
    const told = exampleNotifications();
    for (let minute = 0; minute <= 50; minute += 1) {
      clock.advanceTo(epochMs(T0 + minute * 60_000));
      const due = told.filter(({ at }) => at === clock.now());
      commitAll(store, due, [receiver], notifiers);
      const incidents = due.map(({ incident }) => incident);
      store.commit({ at: clock.now(), alertStates: [], alertStatesRemoved: [], incidents, changes: [], outbox: [] });
      sender.wake();
      await sender.idle();
      repeats.evaluated(clock.now());
      await repeats.idle();
      for (const { body } of server.calls.splice(0)) {
        for (const { labels, endsAt } of JSON.parse(body) as Posted[]) firing.set(JSON.stringify(labels), endsAt);
      }
      const now = new Date(clock.now()).toISOString();
      const standing = [...firing]
        .filter(([, endsAt]) => endsAt > now)
        .map(([key]) => JSON.parse(key) as Posted['labels']);
      severities.push(standing.map(({ severity }) => severity).join('+'));
    }
    assert.deepEqual(severities.slice(0, 10), Array(10).fill('ticket'));
    assert.deepEqual(severities.slice(10, 45), Array(35).fill('page'));
    assert.deepEqual(severities.slice(45), Array(6).fill(''));
    assert.equal(clock.now(), T0 + ms(50 * 60_000));
  });

  test('gives a label set one fingerprint, whatever the order, and different ones to different sets', () => {
    // Nothing hashed leaves the offset basis of FNV-1a.
    assert.equal(fingerprint({}), 'cbf29ce484222325');
    assert.notEqual(fingerprint({ ab: 'c' }), fingerprint({ a: 'bc' }));
    assert.equal(fingerprint({ b: '2', a: '1' }), fingerprint({ a: '1', b: '2' }));
  });
});

describe("Alertmanager's webhook", () => {
  test('counts what it leaves out, what fires first, and stays below 1 MB', () => {
    const hosts = Array.from({ length: 400 }, (_, index) =>
      alertOf('HostEjections', { ...CHECKOUT, host: `h${index}-${'x'.repeat(9000)}` }),
    );
    const scene = new Scene().at(0, ...hosts.map((alert): Step => ['fired', alert]));
    scene.at(1, ...hosts.slice(0, 390).map((alert): Step => ['resolved', alert]));
    scene.at(2, ['fired', pageOf(CHECKOUT, { since: 2 })]);
    const notification = scene.notifications.at(-1) ?? assert.fail('nothing was said');
    const text = toAlertmanagerWebhookMessage(notification, CONTEXT, 'am-hook');
    const { alerts, truncatedAlerts } = JSON.parse(text) as { alerts: { status: string }[]; truncatedAlerts: number };
    assert.ok(Buffer.byteLength(text) <= 1_000_000);
    assert.equal(alerts.length + truncatedAlerts, 401);
    assert.deepEqual(
      alerts.slice(0, 12).map(({ status }) => status),
      [...Array(11).fill('firing'), 'resolved'],
    );
  });

  test('keeps its group key over an episode', () => {
    const bodies = exampleMessages()
      .filter(({ receiver }) => receiver === 'am-hook')
      .map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
    assert.equal(new Set(bodies.map(({ groupKey }) => groupKey)).size, 1);
    assert.deepEqual(
      bodies.map(({ status, version, truncatedAlerts }) => [status, version, truncatedAlerts]),
      [
        ['firing', '4', 0],
        ['firing', '4', 0],
        ['resolved', '4', 0],
      ],
    );
    const alerts = bodies[0]?.['alerts'] as { endsAt: string; fingerprint: string }[];
    for (const { endsAt, fingerprint: print } of alerts) {
      assert.equal(endsAt, '0001-01-01T00:00:00Z');
      assert.match(print, /^[0-9a-f]{16}$/);
    }
  });
});
