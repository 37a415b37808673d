import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { describe, test } from 'node:test';
import { epochMs, ms } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import type { Notification } from '../../src/model/incident.ts';
import type { Route, WebhookReceiver } from '../../src/model/receiver.ts';
import { toOutboxEntries } from '../../src/notify/outbox.ts';
import { afterAttempt } from '../../src/notify/retry.ts';
import { createSender } from '../../src/notify/sender.ts';
import { toWebhookMessage } from '../../src/notify/webhook/message.ts';
import { createWebhookNotifier } from '../../src/notify/webhook/notifier.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { IncidentStore, OutboxEntry } from '../../src/store/store.ts';
import { alertOf, MINUTE, SETTINGS, T0 } from '../support/alerts.ts';

const receiverOf = (name: string, fields: Partial<WebhookReceiver> = {}): WebhookReceiver => ({
  name,
  type: 'webhook',
  url: 'http://127.0.0.1:9/',
  secret: null,
  sendResolved: true,
  ...fields,
});
const context = () => ({
  links: {
    incident: 'http://slowburn/incidents/1',
    runbook: 'http://slowburn/runbooks/ErrorBudgetBurn?incident=1#first-minutes-step-1',
    dashboard: 'http://slowburn/slos?cluster=checkout',
  },
  step: { anchor: 'first-minutes-step-1', text: 'Which hosts, how often, why' },
});

/** Correlates changes minute by minute and builds the outbox; what was put into it before is remembered. */
function outboxOf(
  script: readonly (readonly [minute: number, kind: AlertChange['kind'], alert: Alert])[],
  receivers: readonly WebhookReceiver[],
  routes: readonly Route[] = [],
): OutboxEntry[] {
  const correlator = createCorrelator(SETTINGS);
  const notifiers = new Map(receivers.map((receiver) => [receiver.name, createWebhookNotifier(receiver)]));
  const all: OutboxEntry[] = [];
  for (let minute = 0; minute <= 200; minute += 1) {
    const at = epochMs(T0 + minute * MINUTE);
    const due = script.filter(([when]) => when === minute);
    const changes = due.map(([, kind, alert]) => ({ kind, at, alert, reason: 'recovered' }) as AlertChange);
    const { notifications } = correlator.correlate(changes, at);
    all.push(
      ...toOutboxEntries(notifications, { routes, receivers, notifiers, context, sent: () => all, sentTo: () => all }),
    );
  }
  return all;
}

const said = (entries: readonly OutboxEntry[]): string[] =>
  entries.map(({ receiver, reason }) => `${receiver} ${reason}`);
const PAGE = alertOf('ErrorBudgetBurn', { cluster: 'checkout' }, { severity: 'page', tier: '50h' });
const FALLEN = { ...PAGE, severity: 'ticket' as const };

describe('the outbox', () => {
  test('without routes everything goes to the first receiver', () => {
    const entries = outboxOf(
      [
        [0, 'fired', PAGE],
        [20, 'resolved', PAGE],
      ],
      [receiverOf('first'), receiverOf('second')],
    );
    assert.deepEqual(said(entries), ['first opened', 'first resolved']);
    assert.equal(new Set(entries.map(({ eventId }) => eventId)).size, 2);
  });

  test('a page that falls to a ticket is closed at the pager and goes on in the queue, each closed once', () => {
    const routes: Route[] = [
      { receiver: 'pager', severity: ['page'], matchers: [] },
      { receiver: 'queue', severity: [], matchers: [] },
    ];
    const script = [
      [0, 'fired', PAGE],
      [20, 'changed', FALLEN],
      [60, 'resolved', FALLEN],
    ] as const;
    const entries = outboxOf(script, [receiverOf('pager'), receiverOf('queue')], routes);
    assert.deepEqual(said(entries), [
      'pager opened',
      'queue opened',
      'pager resolved',
      'queue deescalated',
      'queue resolved',
    ]);
  });

  test('a receiver that wants no resolved messages gets none', () => {
    const entries = outboxOf(
      [
        [0, 'fired', PAGE],
        [20, 'resolved', PAGE],
      ],
      [receiverOf('a', { sendResolved: false })],
    );
    assert.deepEqual(said(entries), ['a opened']);
  });
});

describe('the message', () => {
  const notificationOf = (): Notification => {
    const correlator = createCorrelator(SETTINGS);
    const at = epochMs(T0 + 42 * MINUTE);
    const host = alertOf('HostEjections', { cluster: 'checkout', host: '10.0.3.7' });
    const result = correlator.correlate(
      [PAGE, host].map((alert) => ({ kind: 'fired', at, alert }) as AlertChange),
      at,
    );
    const [notification] = result.notifications;
    assert.ok(notification !== undefined);
    return notification;
  };

  test('carries the same key for one episode, and all links', () => {
    const body = JSON.parse(toWebhookMessage(notificationOf(), context(), '1-1-2-a')) as {
      schema: string;
      eventId: string;
      incident: { key: string };
      links: object;
      alerts: object[];
    };
    assert.deepEqual([body.schema, body.eventId, body.incident.key], ['slowburn.webhook/1', '1-1-2-a', '1/1']);
    assert.deepEqual(body.links, context().links);
    assert.equal(body.alerts.length, 2);
  });
});

describe('retries', () => {
  const entry = (attempts: number, ageMs = 0): OutboxEntry => ({
    ...(outboxOf([[0, 'fired', PAGE]], [receiverOf('a')])[0] as OutboxEntry),
    attempts,
    at: epochMs(T0 - ageMs),
  });
  const now = epochMs(T0);
  const retry = { kind: 'retry', error: 'answered 503', afterMs: null } as const;

  test('wait 1 s doubling to 5 min with full jitter, at least as long as the receiver asks', () => {
    const wait = (attempts: number, random: number, afterMs: number | null = null): number =>
      afterAttempt(entry(attempts), { ...retry, afterMs }, now, random).nextAttemptAt - now;
    assert.deepEqual([wait(0, 1), wait(3, 1), wait(20, 1), wait(20, 0)], [1500, 8500, 300_500, 500]);
    assert.equal(wait(0, 0, 60_000), 60_000);
  });

  test('a refusal is final, and a day is long enough', () => {
    assert.equal(afterAttempt(entry(0), { kind: 'rejected', error: 'answered 400' }, now, 0).state, 'dead');
    assert.equal(afterAttempt(entry(9, 86_400_000), retry, now, 0).state, 'dead');
    assert.equal(afterAttempt(entry(9, ms(1000)), retry, now, 0).state, 'pending');
  });
});

interface Call {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

async function startServer(answer: (call: number) => { status: number; headers?: Record<string, string> }) {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      calls.push({ body, headers: request.headers });
      const { status, headers = {} } = answer(calls.length);
      response.writeHead(status, headers).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/`, calls, close };
}

function fill(store: IncidentStore, entries: readonly OutboxEntry[]): void {
  store.commit({
    at: epochMs(T0),
    alertStates: [],
    alertStatesRemoved: [],
    incidents: [],
    changes: [],
    outbox: entries,
  });
}

/** Sends with a clock that jumps to the next attempt, until nothing is pending. */
async function drain(store: IncidentStore, receivers: readonly WebhookReceiver[]): Promise<void> {
  let now = T0 + 300 * MINUTE;
  const notifiers = new Map(receivers.map((receiver) => [receiver.name, createWebhookNotifier(receiver)]));
  const sender = createSender({ store, notifiers, clock: { now: () => epochMs(now) }, random: () => 0.5 });
  for (let round = 0; round < 30 && store.nextSendAt() !== null; round += 1) {
    now = Math.max(now, store.nextSendAt() ?? now);
    sender.wake();
    await sender.idle();
  }
  await sender.stop();
}

describe('the sender, over real sockets', () => {
  const script = [
    [0, 'fired', PAGE],
    [20, 'resolved', PAGE],
  ] as const;

  test('tries again after 503 and 429, in order, with the same event id and a signature that verifies', async () => {
    const server = await startServer((call) =>
      call === 1 ? { status: 503 } : call === 2 ? { status: 429, headers: { 'retry-after': '7' } } : { status: 200 },
    );
    const receiver = receiverOf('a', { url: server.url, secret: 'key' });
    const store = createMemoryStore();
    fill(store, outboxOf(script, [receiver]));
    await drain(store, [receiver]);
    server.close();
    const ids = server.calls.map(({ headers }) => headers['idempotency-key']);
    const [first, last] = store.sends(1).map(({ eventId }) => eventId);
    assert.deepEqual(ids, [first, first, first, last]);
    for (const { body, headers } of server.calls) {
      assert.equal(headers['x-slowburn-signature'], `sha256=${createHmac('sha256', 'key').update(body).digest('hex')}`);
    }
    assert.deepEqual(
      store.sends(1).map(({ state }) => state),
      ['delivered', 'delivered'],
    );
  });

  test('a refusal is dead, and what comes behind it is sent', async () => {
    const server = await startServer((call) => ({ status: call === 1 ? 400 : 200 }));
    const receiver = receiverOf('a', { url: server.url });
    const store = createMemoryStore();
    fill(store, outboxOf(script, [receiver]));
    await drain(store, [receiver]);
    server.close();
    assert.deepEqual(
      store.sends(1).map(({ state }) => state),
      ['dead', 'delivered'],
    );
    assert.match(store.sends(1)[0]?.lastError ?? '', /400/);
  });

  test('a receiver that is down keeps its own messages and delays nobody else', async () => {
    const server = await startServer(() => ({ status: 200 }));
    const receivers = [receiverOf('down', { url: 'http://127.0.0.1:1/' }), receiverOf('up', { url: server.url })];
    const routes: Route[] = receivers.map(({ name }) => ({ receiver: name, severity: [], matchers: [] }));
    const store = createMemoryStore();
    fill(store, outboxOf([[0, 'fired', PAGE]], receivers, routes));
    const notifiers = new Map(receivers.map((receiver) => [receiver.name, createWebhookNotifier(receiver)]));
    const sender = createSender({ store, notifiers, clock: { now: () => epochMs(T0 + MINUTE) }, random: () => 1 });
    sender.wake();
    await sender.idle();
    await sender.stop();
    server.close();
    const states = new Map(store.sends(1).map(({ receiver, state }) => [receiver, state]));
    assert.deepEqual([states.get('down'), states.get('up')], ['pending', 'delivered']);
  });
});
