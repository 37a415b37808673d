import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { epochMs } from '../../src/base/units.ts';
import type { Incident, IncidentChange } from '../../src/model/incident.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Commit, IncidentStore, OutboxEntry } from '../../src/store/store.ts';
import { anyChange, anyIncident } from './random-values.ts';

const directory = mkdtempSync(join(tmpdir(), 'slowburn-model-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const minute = fc.integer({ min: 0, max: 20 }).map((minutes) => epochMs(minutes * 60_000));
const receivers = ['oncall', 'chat', 'queue'];

const anyEntry: fc.Arbitrary<OutboxEntry> = fc
  .record({
    incident: fc.integer({ min: 1, max: 3 }),
    seq: fc.integer({ min: 1, max: 4 }),
    receiver: fc.constantFrom(...receivers),
    at: minute,
    heldUntil: fc.option(minute, { nil: null }),
  })
  .map(({ incident, seq, receiver, at, heldUntil }) => ({
    eventId: `${incident}-1-${seq}-${receiver}`,
    incident,
    episode: 1,
    seq,
    receiver,
    reason: 'opened',
    at,
    payload: `{"at":${at}}`,
    state: 'pending',
    attempts: 0,
    nextAttemptAt: at,
    deliveredAt: null,
    lastError: null,
    severity: seq % 2 === 0 ? 'page' : 'ticket',
    heldUntil,
    handle: null,
  }));

const key = fc.constantFrom('a', 'b', '__proto__', '');
const anyCommit: fc.Arbitrary<Commit> = fc.record({
  at: minute,
  alertStates: fc.array(fc.record({ key, value: fc.constantFrom('1', '2') }), { maxLength: 2 }),
  alertStatesRemoved: fc.array(key, { maxLength: 1 }),
  incidents: fc.array(anyIncident.map(structuredClone<Incident>), {
    maxLength: 2,
  }),
  changes: fc.array(anyChange.map(structuredClone<IncidentChange>), {
    maxLength: 2,
  }),
  outbox: fc.array(anyEntry, { maxLength: 4 }),
});

type Step =
  | { readonly kind: 'commit'; readonly commit: Commit }
  | {
      readonly kind: 'attempt';
      readonly entry: OutboxEntry;
      readonly result: Parameters<IncidentStore['recordAttempt']>[1];
    };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('commit' as const), commit: anyCommit }),
  fc.record({
    kind: fc.constant('attempt' as const),
    entry: anyEntry,
    result: fc.record({
      at: minute,
      state: fc.constantFrom('pending' as const, 'delivered' as const, 'dead' as const),
      nextAttemptAt: minute,
      error: fc.option(fc.constant('answered 503'), { nil: null }),
      handle: fc.option(fc.constantFrom('{"ts":"1"}', '{"ts":"2"}'), { nil: null }),
    }),
  }),
);

function apply(store: IncidentStore, step: Step): void {
  if (step.kind === 'commit') store.commit(step.commit);
  else store.recordAttempt(step.entry.eventId, step.result);
}

/** All that can be asked of a store. */
function askAll(store: IncidentStore): unknown {
  const ids = [1, 2, 3, 4, 5, 6];
  const times = [0, 5, 10, 20].map((minutes) => epochMs(minutes * 60_000));
  return {
    loaded: [...times, epochMs(1_000_000_000_000)].map((now) => store.load(now)),
    incidents: ids.map((id) => store.incident(id)),
    timelines: ids.map((id) => store.timeline(id)),
    sends: ids.map((id) => store.sends(id)),
    lists: [null, 3].map((before) => store.listIncidents({ states: ['open', 'resolved'], before, limit: 2 })),
    due: times.flatMap((now) => [store.dueSends(now, 100), store.dueSends(now, 2), store.dueSends(now, 9, ['oncall'])]),
    next: [store.nextSendAt(), store.nextSendAt(['oncall']), store.nextSendAt(receivers)],
    to: receivers.flatMap((receiver) => times.map((since) => store.sendsTo(receiver, since))),
    held: receivers.flatMap((receiver) => times.map((until) => store.heldSends(receiver, until))),
    backlogs: store.backlogs(),
    outcomes: store.outcomes(),
  };
}

test('SQLite and memory answer every question alike, after any commits and attempts, also when opened again', () => {
  let runs = 0;
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 1, maxLength: 12 }), (steps) => {
      runs += 1;
      const file = join(directory, `${runs}.sqlite`);
      const memory = createMemoryStore();
      const sqlite = openSqliteStore(file);
      for (const step of steps) {
        apply(memory, step);
        apply(sqlite, step);
      }
      const expected = askAll(memory);
      assert.deepEqual(askAll(sqlite), expected);
      sqlite.close();
      const again = openSqliteStore(file);
      assert.deepEqual(askAll(again), expected);
      again.close();
    }),
    { seed: 21, numRuns: 120 },
  );
});
