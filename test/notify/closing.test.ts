import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Alert } from '../../src/model/alert.ts';
import type { Notification } from '../../src/model/incident.ts';
import type { Route, WebhookReceiver } from '../../src/model/receiver.ts';
import { toOutboxEntries } from '../../src/notify/outbox.ts';
import { toWebhookMessage } from '../../src/notify/webhook/message.ts';
import { createWebhookNotifier } from '../../src/notify/webhook/notifier.ts';
import type { OutboxEntry } from '../../src/store/store.ts';
import { CHECKOUT, pageOf, Scene, type Step } from '../correlate/scene.ts';
import { alertOf } from '../support/alerts.ts';

const CONTEXT = {
  links: {
    incident: 'http://slowburn/incidents/1',
    runbook: 'http://slowburn/runbooks/ErrorBudgetBurn',
    dashboard: 'http://slowburn/slos',
  },
  step: null,
};
const receiverOf = (name: string): WebhookReceiver => ({
  name,
  type: 'webhook',
  url: 'http://127.0.0.1:9/',
  secret: null,
  sendResolved: true,
});
const RECEIVERS = ['pager', 'queue', 'both', 'edge'].map(receiverOf);
const ROUTES: readonly Route[] = [
  { receiver: 'pager', severity: ['page'], matchers: [] },
  { receiver: 'queue', severity: ['ticket'], matchers: [] },
  { receiver: 'both', severity: [], matchers: [] },
];

function outboxOf(
  notifications: readonly Notification[],
  routesAt: (index: number) => readonly Route[],
): OutboxEntry[] {
  const notifiers = new Map(RECEIVERS.map((receiver) => [receiver.name, createWebhookNotifier(receiver)]));
  const all: OutboxEntry[] = [];
  notifications.forEach((notification, index) => {
    const options = {
      routes: routesAt(index),
      receivers: RECEIVERS,
      notifiers,
      context: () => CONTEXT,
      sent: () => all,
      sentTo: () => all,
    };
    all.push(...toOutboxEntries([notification], options));
  });
  return all;
}

const NAMES = ['ErrorBudgetBurn', 'HostEjections', 'DiskFull'] as const;
const move = fc.record({ name: fc.constantFrom(...NAMES), page: fc.boolean(), ends: fc.boolean() });

/** Alerts of one cluster that come, change severity and go; in the end all is over. */
function play(ticks: readonly (readonly { name: string; page: boolean; ends: boolean }[])[]): Scene {
  const scene = new Scene();
  const firing = new Map<string, Alert>();
  ticks.forEach((moves, index) => {
    const minute = index * 4;
    const steps: Step[] = [];
    for (const { name, page, ends } of new Map(moves.map((one) => [one.name, one])).values()) {
      const known = firing.get(name);
      const severity = page ? 'page' : 'ticket';
      const alert =
        known === undefined ? alertOf(name, CHECKOUT, { severity, since: minute }) : ({ ...known, severity } as const);
      if (known !== undefined && ends) {
        firing.delete(name);
        steps.push(['resolved', known]);
      } else {
        firing.set(name, alert);
        steps.push([known === undefined ? 'fired' : 'changed', alert]);
      }
    }
    scene.at(minute, ...steps);
  });
  const end = ticks.length * 4;
  scene.at(end, ...[...firing.values()].map((alert): Step => ['resolved', alert]));
  return scene.ticks(end + 1, end + 12);
}

describe('what was opened at a receiver', () => {
  test('is closed there exactly once, whatever severity does and wherever routes lead meanwhile', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(move, { maxLength: 3 }), { minLength: 1, maxLength: 30 }),
        fc.array(fc.subarray([...ROUTES], { minLength: 1 }), { minLength: 1, maxLength: 4 }),
        (ticks, reloads) => {
          const scene = play(ticks);
          const entries = outboxOf(scene.notifications, (index) => reloads[index % reloads.length] ?? ROUTES);
          const open = new Set<string>();
          for (const { receiver, incident, episode, reason } of entries) {
            const life = `${receiver} ${incident}/${episode}`;
            if (reason !== 'resolved') {
              open.add(life);
              continue;
            }
            assert.ok(open.delete(life), `${life} is closed without being open`);
          }
          assert.deepEqual([...open], []);
          assert.equal(new Set(entries.map(({ eventId }) => eventId)).size, entries.length);
        },
      ),
      { seed: 21, numRuns: 300 },
    );
  });

  test('a pager that was closed as the page fell hears of the rise, and is closed again', () => {
    const fallen = { ...pageOf(), severity: 'ticket' as const };
    const scene = new Scene().at(0, ['fired', pageOf()]).at(10, ['changed', fallen]).at(30, ['changed', pageOf()]);
    scene.at(40, ['resolved', pageOf()]).ticks(41, 46);
    const said = outboxOf(scene.notifications, () => ROUTES).map(({ receiver, reason }) => `${receiver} ${reason}`);
    assert.deepEqual(said, [
      'pager opened',
      'both opened',
      'pager resolved',
      'queue opened',
      'both deescalated',
      'pager escalated',
      'both escalated',
      'pager resolved',
      'queue resolved',
      'both resolved',
    ]);
  });

  test('a name that no header could carry makes an event id that one can', () => {
    const odd = { ...receiverOf('Bereitschaft für Käufe'), name: 'Bereitschaft für Käufe' };
    const { notifications } = new Scene().at(0, ['fired', pageOf()]);
    const [entry] = toOutboxEntries(notifications, {
      routes: [],
      receivers: [odd],
      notifiers: new Map([[odd.name, createWebhookNotifier(odd)]]),
      context: () => CONTEXT,
      sent: () => [],
      sentTo: () => [],
    });
    assert.equal(entry?.receiver, odd.name);
    assert.match(entry?.eventId ?? '', /^1-1-2-[\x21-\x7e]+$/);
  });
});

describe('a message about many alerts', () => {
  test('shows at most 50, those that fire before those that are over, and says how many there are', () => {
    const hosts = Array.from({ length: 70 }, (_, index) =>
      alertOf('HostEjections', { ...CHECKOUT, host: `h${index}` }),
    );
    const scene = new Scene().at(0, ...hosts.map((alert): Step => ['fired', alert]));
    scene.at(1, ...hosts.slice(0, 60).map((alert): Step => ['resolved', alert]));
    scene.at(2, ['fired', pageOf(CHECKOUT, { since: 2 })]);
    const notification = scene.notifications.at(-1);
    assert.ok(notification !== undefined);
    const body = JSON.parse(toWebhookMessage(notification, CONTEXT, '1-1-2-a')) as {
      reason: string;
      alertsTotal: number;
      alerts: { state: string }[];
      why: string[];
    };
    assert.deepEqual([body.reason, body.alertsTotal, body.alerts.length], ['escalated', 71, 50]);
    assert.deepEqual(
      body.alerts.slice(0, 12).map(({ state }) => state),
      [...Array(11).fill('firing'), 'resolved'],
    );
    assert.equal(body.why.length, 51);
  });
});
