import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs, MINUTE, ms } from '../../src/base/units.ts';
import type { Alert } from '../../src/model/alert.ts';
import { createDeliveryBook } from '../../src/notify/delivery-book.ts';
import { failingReceivers } from '../../src/notify/failing-receivers.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { OutboxEntry } from '../../src/store/store.ts';
import { T0 } from '../support/alerts.ts';

const SETTINGS = { enabled: true, severity: 'page', owner: 'edge', runbook: 'NotificationsFailing' } as const;
const at = (minutes: number) => epochMs(T0 + minutes * MINUTE);

const entryOf = (receiver: string, minute: number, fields: Partial<OutboxEntry> = {}): OutboxEntry => ({
  eventId: `1-1-${minute}-${receiver}`,
  incident: 1,
  episode: 1,
  seq: minute,
  receiver,
  reason: 'opened',
  severity: 'page',
  at: at(minute),
  heldUntil: null,
  payload: '{}',
  state: 'pending',
  attempts: 0,
  nextAttemptAt: at(minute),
  deliveredAt: null,
  lastError: null,
  handle: null,
  ...fields,
});

function world(...outbox: readonly OutboxEntry[]) {
  const store = createMemoryStore();
  store.commit({ at: at(0), alertStates: [], alertStatesRemoved: [], incidents: [], changes: [], outbox });
  const open = () =>
    createDeliveryBook({
      receivers: ['pager', 'chat'],
      outcomes: store.outcomes(),
      backlogs: () => store.backlogs(),
      after: ms(10 * MINUTE),
    });
  let book = open();
  let firing: Alert[] = [];
  return {
    store,
    restart() {
      book = open();
    },
    attempt(
      receiver: string,
      minute: number,
      now: number,
      result: 'delivered' | 'retry' | 'dead',
      error = 'answered 503',
    ) {
      const state = result === 'retry' ? 'pending' : result;
      const shown = result === 'delivered' ? null : error;
      store.recordAttempt(`1-1-${minute}-${receiver}`, { at: at(now), state, nextAttemptAt: at(now), error: shown });
      book.attempt(receiver, result, shown, at(now));
    },
    /** What the tick of this minute says, as `kind receiver`. */
    tick(minute: number, enabled = true): readonly string[] {
      const changes = failingReceivers(book.health(at(minute)), firing, { ...SETTINGS, enabled }, at(minute));
      for (const { kind, alert } of changes) {
        firing = kind === 'fired' ? [...firing, alert] : firing.filter(({ key }) => key !== alert.key);
      }
      return changes.map(({ kind, alert }) => `${kind} ${alert.labels.get('receiver')}`);
    },
    firing: () => firing,
  };
}

describe('an alert on a receiver', () => {
  test('fires once a message has waited for ten minutes, and ends with the delivery', () => {
    const { attempt, tick, firing } = world(entryOf('pager', 0), entryOf('chat', 0));
    attempt('chat', 0, 0, 'delivered');
    attempt('pager', 0, 5, 'retry');
    assert.deepEqual(tick(9), []);
    assert.deepEqual(tick(10), ['fired pager']);
    assert.deepEqual(
      firing()[0]?.evidence.map(({ text }) => text),
      ['1 messages wait', 'last error: answered 503'],
    );
    assert.deepEqual(tick(11), []);
    attempt('pager', 0, 12, 'delivered');
    assert.deepEqual(tick(12), ['resolved pager']);
  });

  test('fires at once when a message is given up, also after a restart, until one arrives or a day has passed', () => {
    const { attempt, tick, restart } = world(entryOf('pager', 0), entryOf('chat', 0), entryOf('chat', 30));
    attempt('pager', 0, 1, 'dead', 'answered 401');
    attempt('chat', 0, 1, 'dead', 'answered 404');
    assert.deepEqual(tick(1), ['fired pager', 'fired chat']);
    restart();
    assert.deepEqual(tick(2), []);
    attempt('chat', 30, 31, 'delivered');
    assert.deepEqual(tick(31), ['resolved chat']);
    assert.deepEqual(tick(24 * 60), []);
    assert.deepEqual(tick(24 * 60 + 2), ['resolved pager']);
  });

  test('is not about what a page budget holds back', () => {
    const { tick } = world(entryOf('pager', 0, { heldUntil: at(15), nextAttemptAt: at(15) }));
    assert.deepEqual(tick(14), []);
  });

  test('ends when it is switched off', () => {
    const { attempt, tick } = world(entryOf('pager', 0));
    attempt('pager', 0, 1, 'dead');
    assert.deepEqual(tick(1), ['fired pager']);
    assert.deepEqual(tick(2, false), ['resolved pager']);
  });
});
