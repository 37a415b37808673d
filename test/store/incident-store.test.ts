import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { HookCall } from '../../src/model/hook.ts';
import type { Incident, IncidentChange, IncidentHead } from '../../src/model/incident.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { HourlyFigures } from '../../src/model/measure.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Commit, IncidentStore, OutboxEntry } from '../../src/store/store.ts';
import { alertOf, MINUTE, T0 } from '../support/alerts.ts';

const directory = mkdtempSync(join(tmpdir(), 'slowburn-store-'));
after(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;
function newFile(): string {
  files += 1;
  return join(directory, `${files}.sqlite`);
}

const at = (minute: number): EpochMs => epochMs(T0 + minute * MINUTE);

function incidentOf(id: number, fields: Partial<Incident> = {}): Incident {
  const alert = {
    ...alertOf('ErrorBudgetBurn', { cluster: 'checkout' }),
    labels: labelsOf([
      ['__proto__', 'x'],
      ['team', 'edge'],
    ]),
  };
  return {
    id,
    episode: 1,
    seq: 1,
    state: 'open',
    severity: 'page',
    tier: '50h',
    title: 'Error budget burns',
    lead: alert.key,
    members: [{ alert, state: 'firing', joinedAt: at(0), resolvedAt: null, reason: 'first alert' }],
    openedAt: at(0),
    episodeAt: at(0),
    changedAt: at(0),
    quietSince: null,
    resolvedAt: null,
    acknowledgement: null,
    snoozedUntil: null,
    runbook: 'ErrorBudgetBurn',
    previous: null,
    announced: { severity: null, lastPageAt: null, tiers: [], domains: [], episode: 0, stillBurning: false },
    ...fields,
  };
}

function headOf(incident: Incident): IncidentHead {
  const { members: _, ...head } = incident;
  return head;
}

const changeOf = (incident: Incident, seq: number): IncidentChange => ({
  incident: incident.id,
  episode: 1,
  seq,
  at: at(0),
  change: 'opened',
  by: 'slowburn',
  reason: 'why',
  after: headOf(incident),
  members: incident.members.length,
});

const entryOf = (incident: number, seq: number, receiver: string, minute: number): OutboxEntry => ({
  eventId: `${incident}-1-${seq}-${receiver}`,
  incident,
  episode: 1,
  seq,
  receiver,
  reason: 'opened',
  at: at(minute),
  payload: '{"a":1}',
  state: 'pending',
  attempts: 0,
  nextAttemptAt: at(minute),
  deliveredAt: null,
  lastError: null,
  severity: 'page',
  heldUntil: null,
  handle: null,
});

const commitOf = (fields: Partial<Commit>): Commit => ({
  at: at(0),
  alertStates: [],
  alertStatesRemoved: [],
  incidents: [],
  changes: [],
  outbox: [],
  ...fields,
});

const STORES: readonly {
  name: string;
  open: () => { store: IncidentStore; reopen: (store: IncidentStore) => IncidentStore };
}[] = [
  { name: 'memory', open: () => ({ store: createMemoryStore(), reopen: (store) => store }) },
  {
    name: 'SQLite',
    open: () => {
      const file = newFile();
      const reopen = (store: IncidentStore): IncidentStore => {
        store.close();
        return openSqliteStore(file);
      };
      return { store: openSqliteStore(file), reopen };
    },
  },
];

for (const { name, open } of STORES) {
  describe(`the incident store in ${name}`, () => {
    test('gives back what was committed, labels called __proto__ included, also after it is opened again', () => {
      const { store, reopen } = open();
      const incident = incidentOf(1);
      store.commit(
        commitOf({
          incidents: [incident],
          changes: [changeOf(incident, 1)],
          alertStates: [{ key: 'burn/x', value: '{}' }],
          outbox: [entryOf(1, 2, 'oncall', 0)],
        }),
      );
      const again = reopen(store);
      assert.deepEqual(again.incident(1), incident);
      assert.equal(again.incident(1)?.members[0]?.alert.labels.get('__proto__'), 'x');
      assert.deepEqual(again.timeline(1), [changeOf(incident, 1)]);
      assert.deepEqual(again.sends(1), [entryOf(1, 2, 'oncall', 0)]);
      assert.deepEqual(again.load(at(1)), {
        alertStates: [{ key: 'burn/x', value: '{}' }],
        incidents: [incident],
        nextIncidentId: 2,
      });
      again.commit(
        commitOf({ alertStatesRemoved: ['burn/x'], outbox: [{ ...entryOf(1, 2, 'oncall', 0), payload: 'changed' }] }),
      );
      assert.deepEqual(again.load(at(1)).alertStates, []);
      assert.equal(again.sends(1)[0]?.payload, '{"a":1}', 'an event is written once');
      again.close();
    });

    test('loads what can still change: open ones, and resolved ones of the last day', () => {
      const { store } = open();
      const resolved = (id: number, minute: number): Incident =>
        incidentOf(id, { state: 'resolved', resolvedAt: at(minute) });
      store.commit(commitOf({ incidents: [incidentOf(1), resolved(2, 0), resolved(3, 60 * 24)] }));
      assert.deepEqual(
        store.load(at(60 * 24 + 1)).incidents.map(({ id }) => id),
        [1, 3],
      );
      assert.equal(store.load(at(0)).nextIncidentId, 4);
      store.close();
    });

    test('keeps calls of hooks as they last were, by incident and by time', () => {
      const { store, reopen } = open();
      const callOf = (id: string, incident: number, minute: number): HookCall => ({
        id,
        hook: 'tail',
        kind: 'capture',
        incident,
        alert: 'StageTailShift{}',
        alertName: 'StageTailShift',
        alertSince: at(minute),
        at: at(minute),
        balancers: ['edge-1'],
        host: null,
        clusters: [],
        state: 'calling',
        refusal: null,
        reason: 'packets of edge-1',
        link: null,
        endedAt: null,
      });
      store.commit(commitOf({ hookCalls: [callOf('b', 1, 2), callOf('a', 2, 1)] }));
      const done: HookCall = { ...callOf('b', 1, 2), state: 'done', link: 'https://x/1', endedAt: at(3) };
      store.commit(commitOf({ hookCalls: [done] }));
      const again = reopen(store);
      assert.deepEqual(again.hookCalls(1), [done]);
      assert.deepEqual(again.hookCallsSince(at(0)), [callOf('a', 2, 1), done]);
      assert.deepEqual(again.hookCallsSince(at(2)), [done]);
      again.close();
    });

    test('lists newest first, by state, page by page', () => {
      const { store } = open();
      store.commit(
        commitOf({ incidents: [1, 2, 3, 4].map((id) => incidentOf(id, id === 2 ? { state: 'acknowledged' } : {})) }),
      );
      const ids = (states: Incident['state'][], before: number | null, limit: number): number[] =>
        store.listIncidents({ states, before, limit }).map(({ id }) => id);
      assert.deepEqual(ids(['open'], null, 2), [4, 3]);
      assert.deepEqual(ids(['open'], 3, 2), [1]);
      assert.deepEqual(ids(['acknowledged'], null, 9), [2]);
      store.close();
    });

    test('hands out the oldest pending message per incident and receiver, and none behind one that waits', () => {
      const { store } = open();
      const outbox = [
        entryOf(1, 2, 'oncall', 0),
        entryOf(1, 3, 'oncall', 1),
        entryOf(1, 2, 'chat', 0),
        entryOf(2, 2, 'oncall', 2),
      ];
      store.commit(commitOf({ outbox }));
      const due = (minute: number): string[] => store.dueSends(at(minute), 10).map(({ eventId }) => eventId);
      assert.deepEqual(due(5), ['1-1-2-chat', '1-1-2-oncall', '2-1-2-oncall']);
      assert.equal(store.nextSendAt(), at(0));
      store.recordAttempt('1-1-2-oncall', { at: at(5), state: 'pending', nextAttemptAt: at(9), error: 'answered 503' });
      assert.deepEqual(due(6), ['1-1-2-chat', '2-1-2-oncall']);
      store.recordAttempt('1-1-2-chat', { at: at(5), state: 'pending', nextAttemptAt: at(30), error: 'answered 503' });
      store.recordAttempt('2-1-2-oncall', { at: at(5), state: 'delivered', nextAttemptAt: at(5), error: null });
      assert.equal(store.nextSendAt(), at(9), 'what waits behind another does not count');
      store.recordAttempt('1-1-2-oncall', { at: at(9), state: 'delivered', nextAttemptAt: at(9), error: null });
      store.recordAttempt('1-1-2-chat', { at: at(9), state: 'dead', nextAttemptAt: at(9), error: 'answered 400' });
      assert.deepEqual(due(9), ['1-1-3-oncall']);
      const sent = store.sends(1).find(({ eventId }) => eventId === '1-1-2-oncall');
      assert.deepEqual([sent?.state, sent?.attempts, sent?.deliveredAt], ['delivered', 2, at(9)]);
      store.close();
    });

    test('hours are kept as they were written first, read by their span, and gone after 400 days', () => {
      const { store, reopen } = open();
      const HOUR = 60;
      const rowOf = (hour: number, zone: string, skew: number): HourlyFigures => ({
        hour: at(hour * HOUR),
        subject: labelsOf([['zone', zone]]),
        figures: { zone_skew: skew },
        notes: { top_host: '__proto__' },
      });
      assert.equal(store.newestHour(), null);
      store.commit(commitOf({ at: at(HOUR), hourly: [rowOf(1, 'b', 1.1), rowOf(1, 'a', 0.9)] }));
      store.commit(commitOf({ at: at(2 * HOUR), hourly: [rowOf(1, 'a', 7), rowOf(2, 'a', 1)] }));
      store.commit(commitOf({ at: at(3 * HOUR) }));
      const again = reopen(store);
      assert.equal(again.newestHour(), at(2 * HOUR));
      assert.deepEqual(again.hourly(at(0), at(2 * HOUR)), [rowOf(1, 'a', 0.9), rowOf(1, 'b', 1.1), rowOf(2, 'a', 1)]);
      assert.deepEqual(again.hourly(at(HOUR), at(2 * HOUR)), [rowOf(2, 'a', 1)]);
      const later = 400 * 24 + 1;
      again.commit(commitOf({ at: at(later * HOUR), hourly: [rowOf(later, 'a', 1)] }));
      assert.deepEqual(again.hourly(at(0), at(later * HOUR)), [rowOf(2, 'a', 1), rowOf(later, 'a', 1)]);
      again.close();
    });
  });
}

test('a file of a newer schema is refused', () => {
  const file = newFile();
  openSqliteStore(file).close();
  const db = new Database(file);
  db.pragma('user_version = 99');
  db.close();
  assert.throws(() => openSqliteStore(file), { code: 'STORE_SCHEMA_TOO_NEW' });
});

test('a commit that fails half way leaves nothing behind', () => {
  const file = newFile();
  const store = openSqliteStore(file);
  const broken = { ...entryOf(1, 2, 'oncall', 0), payload: null } as unknown as OutboxEntry;
  assert.throws(() => store.commit(commitOf({ incidents: [incidentOf(1)], outbox: [broken] })));
  assert.equal(store.incident(1), null);
  store.close();
});
