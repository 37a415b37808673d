import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { ManualClock } from '../../src/base/clock.ts';
import { createPrng } from '../../src/base/prng.ts';
import { epochMs, ms } from '../../src/base/units.ts';
import type { Notification } from '../../src/model/incident.ts';
import type { Receiver } from '../../src/model/receiver.ts';
import { effectOf } from '../../src/notify/effect.ts';
import type { Notifier } from '../../src/notify/notifier.ts';
import { createNotifiers } from '../../src/notify/registry.ts';
import { createSender } from '../../src/notify/sender.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { OutboxEntry } from '../../src/store/store.ts';
import { pageOf, Scene } from '../correlate/scene.ts';
import { NO_STORM, T0 } from '../support/alerts.ts';
import { pagerdutyRules, slackRules, webhookRules } from './public-rules.ts';
import { commitAll } from './scenes.ts';
import { startUnreliableServer, type Taken, type UnreliableServer } from './unreliable-server.ts';

const CLUSTERS = ['cart', 'checkout', 'login', 'media', 'search', 'stock'];

/** Six incidents that open as tickets, page, reach another zone, end, come back and end again. */
function incidents(): readonly Notification[] {
  const scene = new Scene({ storm: NO_STORM });
  const minutes = new Map<number, Parameters<Scene['at']>[1][]>();
  const put = (minute: number, step: Parameters<Scene['at']>[1]): void => {
    minutes.set(minute, [...(minutes.get(minute) ?? []), step]);
  };
  CLUSTERS.forEach((cluster, index) => {
    const page = pageOf({ cluster, zone: 'a' });
    const other = pageOf({ cluster, zone: 'b' }, { since: 20 });
    put(index, ['fired', { ...page, severity: 'ticket' }]);
    put(5 + index, ['changed', page]);
    put(20 + index, ['fired', other]);
    put(30 + index, ['resolved', page]);
    put(31 + index, ['resolved', other]);
    put(42 + index, ['fired', page]);
    put(70 + index, ['resolved', page]);
  });
  for (let minute = 0; minute <= 110; minute += 1) scene.at(minute, ...(minutes.get(minute) ?? []));
  return scene.notifications;
}

/** Gives up what is on its way to a receiver, as the time-out of 10 s does. */
type GiveUp = Map<string, AbortController>;

/** The receivers as serve has them, but for the time-out, which comes when the server says that it hangs. */
function impatient(notifiers: ReadonlyMap<string, Notifier>, giveUp: GiveUp): ReadonlyMap<string, Notifier> {
  const wrapped = [...notifiers].map(([name, notifier]): [string, Notifier] => [
    name,
    {
      ...notifier,
      send(payload, eventId, signal, handle) {
        const controller = new AbortController();
        giveUp.set(name, controller);
        return notifier.send(payload, eventId, AbortSignal.any([signal, controller.signal]), handle);
      },
    },
  ]);
  return new Map(wrapped);
}

const SECRET = 'a-key';
const idempotencyKey = (_: unknown, headers: IncomingHttpHeaders): string => String(headers['idempotency-key']);
const slackEventId = (body: Readonly<Record<string, unknown>>): string =>
  (body['metadata'] as { event_payload: { event_id: string } }).event_payload.event_id;

async function startReceivers(context: TestContext, seed: number, clock: ManualClock, giveUp: GiveUp) {
  const now = () => clock.now();
  let posted = 0;
  const common = (name: string) => ({ now, onHang: () => giveUp.get(name)?.abort() });
  const pagerduty = await startUnreliableServer(context, {
    ...common('pager'),
    seed,
    rules: pagerdutyRules,
    eventIdOf: idempotencyKey,
    accept: (response) => response.writeHead(202).end('{"status":"success"}'),
  });
  const slack = await startUnreliableServer(context, {
    ...common('chat'),
    seed: seed + 1000,
    rules: slackRules,
    eventIdOf: slackEventId,
    accept(response, { body, path }) {
      posted += 1;
      const ts = path === '/chat.update' ? body['ts'] : `${1_800_000_000 + posted}.000100`;
      response.writeHead(200).end(JSON.stringify({ ok: true, channel: 'C0123', ts }));
    },
  });
  const webhook = await startUnreliableServer(context, {
    ...common('hook'),
    seed: seed + 2000,
    rules: webhookRules(SECRET),
    eventIdOf: idempotencyKey,
    accept: (response) => response.writeHead(204).end(),
  });
  const receivers: readonly Receiver[] = [
    { name: 'pager', type: 'pagerduty', url: pagerduty.url, routingKey: 'R0123456789', sendResolved: true },
    {
      name: 'chat',
      type: 'slack',
      access: { kind: 'bot', apiUrl: slack.url, token: 'xoxb-secret', channel: 'C0123' },
      sendResolved: true,
    },
    { name: 'hook', type: 'webhook', url: webhook.url, secret: SECRET, sendResolved: true },
  ];
  return { receivers, servers: { pager: pagerduty, chat: slack, hook: webhook } };
}

/** What counts as the notification itself: not what only prepares it or tidies up, which may be said again. */
function isNews({ path, body }: Taken, entry: OutboxEntry): boolean {
  if (entry.receiver === 'chat') return path === '/chat.postMessage';
  if (entry.receiver === 'pager' && effectOf(entry.reason) !== 'closes') return body['event_action'] === 'trigger';
  return true;
}

function assertDelivered(entries: readonly OutboxEntry[], { taken, wrong, early }: UnreliableServer): number {
  assert.deepEqual(wrong, []);
  assert.deepEqual(early, []);
  const byId = new Map(entries.map((entry) => [entry.eventId, entry]));
  let twice = 0;
  for (const entry of entries) {
    const times = taken.filter((one) => one.eventId === entry.eventId && isNews(one, entry)).length;
    assert.ok(times >= 1 && times <= 2, `${entry.eventId} ${entry.reason} was delivered ${times} times`);
    if (times === 2) twice += 1;
  }
  for (const incident of new Set(entries.map((entry) => entry.incident))) {
    const came = taken.filter(({ eventId }) => byId.get(eventId)?.incident === incident).map(({ eventId }) => eventId);
    const inTurn = came.filter((eventId, index) => eventId !== came[index - 1]);
    assert.deepEqual(
      inTurn,
      entries.filter((entry) => entry.incident === incident).map(({ eventId }) => eventId),
    );
  }
  return twice;
}

describe('receivers that answer 429, 500, not at all, or break off', () => {
  for (const seed of [1, 2, 3]) {
    test(`hear of everything at least once and at most twice, in order, by plan ${seed}`, async (context) => {
      const directory = mkdtempSync(join(tmpdir(), 'slowburn-unreliable-'));
      const file = join(directory, 'incidents.sqlite');
      context.after(() => rmSync(directory, { recursive: true, force: true }));
      const clock = new ManualClock(epochMs(T0 + 120 * 60_000));
      const giveUp: GiveUp = new Map();
      const { receivers, servers } = await startReceivers(context, seed, clock, giveUp);
      const notifiers = impatient(createNotifiers(receivers, clock), giveUp);
      const random = createPrng(seed);
      let store = openSqliteStore(file);
      const entries = commitAll(store, incidents(), receivers, notifiers);
      assert.ok(entries.length >= 3 * 6 * 5, `${entries.length} messages`);
      const start = () => createSender({ store, notifiers, clock, random: () => random.next() });
      let sender = start();
      for (let round = 0; store.nextSendAt() !== null; round += 1) {
        assert.ok(round < 3000, 'it never ends');
        sender.wake();
        await sender.idle();
        clock.advanceBy(ms(1000));
        if (round % 50 !== 49) continue;
        await sender.stop();
        store.close();
        store = openSqliteStore(file);
        sender = start();
        // A pause that a receiver asked for is kept per message over a restart, not for its other messages.
        clock.advanceBy(ms(10_000));
      }
      await sender.stop();
      const states = new Set(entries.flatMap(({ incident }) => store.sends(incident)).map(({ state }) => state));
      store.close();
      assert.deepEqual([...states], ['delivered']);
      let twice = 0;
      for (const [name, server] of Object.entries(servers)) {
        twice += assertDelivered(
          entries.filter(({ receiver }) => receiver === name),
          server,
        );
        for (const mishap of ['busy', 'error', 'hang', 'reset_before', 'reset_after'] as const) {
          assert.ok((server.mishaps.get(mishap) ?? 0) > 0, `${name} had no ${mishap}`);
        }
      }
      // Answers were lost, so that some did come twice: the upper bound was put to the test.
      assert.ok(twice > 0);
      assertPagerdutyEnds(servers.pager.taken);
      assertSlackThreads(servers.chat.taken);
    });
  }
});

/** Every call that was opened was resolved, and what rings again rings under a new key. */
function assertPagerdutyEnds(taken: readonly Taken[]): void {
  const open = new Set<string>();
  for (const { body } of taken) {
    const key = String(body['dedup_key']);
    assert.match(key, /^slowburn\/\d+\/\d+\/\d+$/);
    if (body['event_action'] === 'trigger') open.add(key);
    else open.delete(key);
  }
  assert.deepEqual([...open], []);
}

/** One message per episode; all that follows edits it and stands in its thread. */
function assertSlackThreads(taken: readonly Taken[]): void {
  const roots = new Map<string, Set<string>>();
  for (const { path, body, eventId } of taken) {
    const episode = eventId.split('-').slice(0, 2).join('/');
    const root = path === '/chat.update' ? body['ts'] : body['thread_ts'];
    if (root === undefined) continue;
    roots.set(episode, (roots.get(episode) ?? new Set()).add(String(root)));
  }
  assert.equal(roots.size, 12);
  for (const [episode, ts] of roots) assert.equal(ts.size, 1, `episode ${episode} has one message`);
}
