import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createSilences } from '../../src/app/silences.ts';
import { formatInstant } from '../../src/base/instant.ts';
import { DAY, type EpochMs, epochMs, HOUR } from '../../src/base/units.ts';
import type { Alert } from '../../src/model/alert.ts';
import type { SilenceRequest } from '../../src/model/views.ts';
import { createMemorySilences } from '../../src/store/memory-silences.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { SilenceStore } from '../../src/store/silence-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { alertOf, T0 } from '../support/alerts.ts';
import { muteBookOf } from '../support/mutes.ts';

const NOW = epochMs(T0);
const at = (hours: number): EpochMs => epochMs(T0 + hours * HOUR);
const FIRING = [alertOf('DiskFull', { cluster: 'c', host: 'h1' }), alertOf('DiskFull', { cluster: 'c', host: 'h2' })];

function silencesOver(store: SilenceStore, firing: readonly Alert[] = FIRING) {
  let made = store.list().length;
  const book = muteBookOf({});
  const silences = createSilences({
    store,
    book,
    firing: () => firing,
    incidents: createMemoryStore(),
    runbookUrl: (runbook) => runbook,
    newId: () => `s${++made}`,
  });
  return { silences, book };
}

const requestOf = (over: Partial<SilenceRequest> = {}): SilenceRequest => ({
  id: null,
  matchers: [{ name: 'host', value: 'h1', isRegex: false, isEqual: true }],
  startsAt: null,
  endsAt: formatInstant(at(2)),
  createdBy: ' ada ',
  comment: 'moved',
  ...over,
});

/** Both stores, one after the other; `reopen` is another process over the same data. */
function stores(t: TestContext): (readonly [name: string, store: SilenceStore, reopen: () => SilenceStore])[] {
  const memory = createMemorySilences();
  const directory = mkdtempSync(join(tmpdir(), 'slowburn-silences-'));
  const file = join(directory, 'incidents.sqlite');
  let open = openSqliteStore(file);
  t.after(() => {
    open.close();
    rmSync(directory, { recursive: true });
  });
  const reopen = (): SilenceStore => {
    open.close();
    open = openSqliteStore(file);
    return open.silences;
  };
  return [
    ['memory', memory, () => memory],
    ['sqlite', open.silences, reopen],
  ];
}

describe('silences', () => {
  test('mute from the moment they are made, and over a restart, to the millisecond of their end', (t) => {
    for (const [name, store, reopen] of stores(t)) {
      const { silences, book } = silencesOver(store);
      const made = silences.set(requestOf(), NOW);
      assert.equal(made.kind, 'done', name);
      assert.deepEqual(made.kind === 'done' && [made.silence.createdBy, made.silence.alerts], ['ada', 1]);
      const mutedAt = (where: typeof book, when: EpochMs): number =>
        FIRING.filter((alert) => where.over(FIRING, when)(alert, []).length > 0).length;
      assert.equal(mutedAt(book, NOW), 1);
      const again = silencesOver(reopen());
      assert.deepEqual(again.silences.list({ state: null }, at(1)), silences.list({ state: null }, at(1)), name);
      assert.deepEqual([mutedAt(again.book, epochMs(at(2) - 1)), mutedAt(again.book, at(2))], [1, 0], name);
    }
  });

  test('are kept for 5 days after their end, then let go, in the store with the next one', (t) => {
    for (const [name, store, reopen] of stores(t)) {
      const { silences } = silencesOver(store);
      silences.set(requestOf(), NOW);
      assert.equal(silences.list({ state: 'expired' }, epochMs(at(2) + 5 * DAY)).length, 1, name);
      const later = epochMs(at(2) + 5 * DAY + 1);
      assert.deepEqual([silences.list({ state: null }, later), silences.one('s1', later)], [[], null], name);
      assert.equal(silences.expire('s1', later).kind, 'not_found');
      silences.set(requestOf({ endsAt: formatInstant(epochMs(later + HOUR)) }), later);
      assert.deepEqual(
        reopen()
          .list()
          .map(({ id }) => id),
        ['s2'],
        name,
      );
    }
  });

  test('an edit that widens ends the old one in the same write', (t) => {
    for (const [name, store] of stores(t)) {
      const { silences } = silencesOver(store);
      silences.set(requestOf(), NOW);
      const matchers = [{ name: 'host', value: 'h.', isRegex: true, isEqual: true }];
      const wider = silences.set(requestOf({ id: 's1', matchers }), at(1));
      assert.deepEqual(wider.kind === 'done' && [wider.silence.id, wider.silence.alerts], ['s2', 2], name);
      assert.deepEqual(
        silences.list({ state: null }, at(1)).map(({ id, status }) => `${id} ${status.state}`),
        ['s2 active', 's1 expired'],
      );
    }
  });

  test('are listed active ones by their end, then pending by their start, then expired, newest first', () => {
    const { silences } = silencesOver(createMemorySilences());
    for (const [start, end] of [
      [0, 9],
      [0, 3],
      [5, 6],
      [4, 8],
      [0, 1],
      [0, 0.5],
    ] as const) {
      const times = { startsAt: formatInstant(at(start)), endsAt: formatInstant(at(end)) };
      assert.equal(silences.set(requestOf(times), NOW).kind, 'done');
    }
    assert.deepEqual(
      silences.list({ state: null }, at(2)).map(({ id }) => id),
      ['s2', 's1', 's4', 's3', 's5', 's6'],
    );
  });

  test('that cannot be meant are refused by the field at fault', () => {
    const { silences } = silencesOver(createMemorySilences());
    const matcher = (name: string, value: string, isRegex = false) => ({
      matchers: [{ name, value, isRegex, isEqual: true }],
    });
    const fieldOf = (over: Partial<SilenceRequest>): string => {
      const outcome = silences.set(requestOf(over), NOW);
      return outcome.kind === 'bad_field' ? outcome.field : outcome.kind;
    };
    assert.equal(fieldOf({ matchers: [] }), 'matchers');
    assert.equal(fieldOf(matcher('a b', 'x')), 'matchers');
    assert.equal(fieldOf(matcher('a', '(', true)), 'matchers');
    assert.equal(fieldOf(matcher('a', '.*', true)), 'matchers');
    assert.equal(fieldOf({ endsAt: null }), 'endsAt');
    assert.equal(fieldOf({ endsAt: 'later' }), 'endsAt');
    assert.equal(fieldOf({ endsAt: formatInstant(NOW) }), 'endsAt');
    assert.equal(fieldOf({ startsAt: 'now' }), 'startsAt');
    assert.equal(fieldOf({ startsAt: formatInstant(at(3)) }), 'endsAt');
    assert.equal(fieldOf({ id: 'unknown' }), 'not_found');
    assert.deepEqual(silences.list({ state: null }, NOW), []);
    assert.equal(silences.expire('unknown', NOW).kind, 'not_found');
    silences.set(requestOf(), NOW);
    assert.equal(silences.expire('s1', NOW).kind, 'done');
    assert.equal(silences.expire('s1', at(1)).kind, 'conflict');
  });
});
