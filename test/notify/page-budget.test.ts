import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '../../src/base/clock.ts';
import { epochMs, MINUTE, ms } from '../../src/base/units.ts';
import type { PagerdutyReceiver, Receiver, WebhookReceiver } from '../../src/model/receiver.ts';
import { effectOf } from '../../src/notify/effect.ts';
import type { Notifier } from '../../src/notify/notifier.ts';
import type { PagerdutyEvent } from '../../src/notify/pagerduty/message.ts';
import { createNotifiers } from '../../src/notify/registry.ts';
import { createSender } from '../../src/notify/sender.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { minuteOf, pageOf, Scene, type Step } from '../correlate/scene.ts';
import { NO_STORM, T0 } from '../support/alerts.ts';
import { commitAll } from './scenes.ts';

const BUDGET = { pages: 3, per: ms(15 * MINUTE) };
const HOOK: WebhookReceiver = {
  name: 'hook',
  type: 'webhook',
  url: 'http://127.0.0.1:9/',
  secret: null,
  sendResolved: true,
  pageBudget: BUDGET,
};
const PAGER: PagerdutyReceiver = {
  name: 'pager',
  type: 'pagerduty',
  url: 'http://127.0.0.1:9/',
  routingKey: 'key',
  sendResolved: true,
  pageBudget: BUDGET,
};

interface Sent {
  readonly minute: number;
  readonly payload: string;
}

/** Decides tick by tick and sends as time goes on; what a receiver got, and when. */
async function play(receiver: Receiver, ticks: ReadonlyMap<number, readonly Step[]>, minutes: number) {
  const store = createMemoryStore();
  const clock = new ManualClock(epochMs(T0));
  const sent: Sent[] = [];
  const real = createNotifiers([receiver], clock);
  const notifiers = new Map(
    [...real].map(([name, notifier]): [string, Notifier] => [
      name,
      {
        ...notifier,
        send(payload) {
          sent.push({ minute: (clock.now() - T0) / MINUTE, payload });
          return Promise.resolve({ kind: 'delivered' });
        },
      },
    ]),
  );
  const sender = createSender({ store, notifiers, clock, random: () => 0 });
  const scene = new Scene({ storm: NO_STORM });
  const entries = [];
  for (let minute = 0; minute <= minutes; minute += 1) {
    clock.advanceTo(minuteOf(minute));
    const before = scene.notifications.length;
    scene.at(minute, ...(ticks.get(minute) ?? []));
    entries.push(...commitAll(store, scene.notifications.slice(before), [receiver], notifiers));
    sender.wake();
    await sender.idle();
  }
  await sender.stop();
  const ids = [...new Set(entries.map(({ incident }) => incident))];
  return { sent, entries, stored: ids.flatMap((id) => store.sends(id)) };
}

const clusters = Array.from({ length: 7 }, (_, index) => pageOf({ cluster: `c${index}` }));

describe('a page budget', () => {
  test('lets three pages ring, then bundles the rest into one when there is room, and drops none', async () => {
    const ticks = new Map<number, readonly Step[]>([[0, clusters.map((alert): Step => ['fired', alert])]]);
    const { sent } = await play(HOOK, ticks, 20);
    assert.deepEqual(
      sent.map(({ minute }) => minute),
      [0, 0, 0, 15],
    );
    const bundle = JSON.parse(sent[3]?.payload ?? '') as {
      reason: string;
      text: string;
      messages: { incident: { id: number } }[];
    };
    assert.equal(bundle.reason, 'bundle');
    assert.deepEqual(
      bundle.messages.map(({ incident }) => incident.id),
      [4, 5, 6, 7],
    );
    assert.match(bundle.text, /^4 MESSAGES held back by the page budget, in one: 1\. PAGE /);
  });

  test('what ended while it waited is told in the bundle, after its page', async () => {
    const [last = pageOf()] = clusters.slice(-1);
    const ticks = new Map<number, readonly Step[]>([
      [0, clusters.map((alert): Step => ['fired', alert])],
      [2, [['resolved', last]]],
    ]);
    const { sent } = await play(HOOK, ticks, 20);
    const { messages } = JSON.parse(sent.at(-1)?.payload ?? '') as {
      messages: { incident: { id: number }; reason: string }[];
    };
    assert.deepEqual(
      messages.filter(({ incident }) => incident.id === 7).map(({ reason }) => reason),
      ['opened', 'resolved'],
    );
  });

  test('a bundle is one call at PagerDuty, which is resolved with the last incident in it', async () => {
    const ticks = new Map<number, readonly Step[]>([
      [0, clusters.map((alert): Step => ['fired', alert])],
      ...clusters.map((alert, index): [number, readonly Step[]] => [20 + index, [['resolved', alert]]]),
    ]);
    const { sent } = await play(PAGER, ticks, 60);
    const events = sent.flatMap(({ minute, payload }) =>
      (JSON.parse(payload) as { events: PagerdutyEvent[] }).events.map((event) => ({ minute, event })),
    );
    const triggers = events.filter(({ event }) => event.event_action === 'trigger');
    assert.equal(triggers.length, 4);
    const bundle = triggers[3]?.event.dedup_key ?? '';
    assert.match(bundle, /^slowburn\/bundle-\d+-pager$/);
    const ends = events.filter(({ event }) => event.event_action === 'resolve');
    assert.equal(ends.length, 4);
    assert.deepEqual(
      ends.filter(({ event }) => event.dedup_key === bundle).map(({ minute }) => minute),
      [31],
    );
  });

  test('is kept, and everything is delivered in order, whatever happens', async () => {
    const step = fc.record({ minute: fc.nat({ max: 60 }), cluster: fc.nat({ max: 6 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const firing = new Set<number>();
        const ticks = new Map<number, Step[]>();
        for (const { minute, cluster } of [...steps].sort((a, b) => a.minute - b.minute)) {
          const alert = pageOf({ cluster: `c${cluster}` }, { since: minute });
          const list = ticks.get(minute) ?? [];
          if (list.some(([, other]) => other.key === alert.key)) continue;
          list.push([firing.has(cluster) ? 'resolved' : 'fired', alert]);
          ticks.set(minute, list);
          if (!firing.delete(cluster)) firing.add(cluster);
        }
        const { sent, entries, stored } = await play(HOOK, ticks, 120);
        assert.ok(stored.every(({ state }) => state === 'delivered'));
        type Body = { eventId: string; reason: string; messages?: readonly Body[] };
        const bodies = sent.map(({ minute, payload }) => ({ minute, body: JSON.parse(payload) as Body }));
        const came = bodies.flatMap(({ body }) => body.messages ?? [body]).map(({ eventId }) => eventId);
        assert.equal(new Set(came).size, entries.length);
        assert.equal(came.length, entries.length);
        for (const incident of new Set(entries.map((entry) => entry.incident))) {
          assert.deepEqual(
            came.filter((id) => id.startsWith(`${incident}-`)),
            entries.filter((entry) => entry.incident === incident).map(({ eventId }) => eventId),
          );
        }
        const rings = new Set(
          entries
            .filter(({ reason, severity }) => severity === 'page' && effectOf(reason) === 'rings')
            .map(({ eventId }) => eventId),
        );
        const calls = bodies
          .filter(({ body }) => (body.messages ?? [body]).some(({ eventId }) => rings.has(eventId)))
          .map(({ minute }) => minute);
        for (const call of calls) {
          const within = calls.filter((other) => other > call - 15 && other <= call).length;
          assert.ok(within <= 3, `${within} pages in 15 min: ${calls.join(' ')}`);
        }
      }),
      { seed: 5, numRuns: 60 },
    );
  });
});
