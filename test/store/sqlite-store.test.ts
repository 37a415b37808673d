import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { epochMs } from '../../src/base/units.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Commit } from '../../src/store/store.ts';

const directory = mkdtempSync(join(tmpdir(), 'slowburn-sqlite-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const commitOf = (key: string): Commit => ({
  at: epochMs(0),
  alertStates: [{ key, value: '1' }],
  alertStatesRemoved: [],
  incidents: [],
  changes: [],
  outbox: [],
});

describe('the SQLite file', () => {
  test('is in WAL mode, so that a reader of another process sees every commit and blocks none', () => {
    const file = join(directory, 'wal.sqlite');
    const store = openSqliteStore(file);
    const reader = new Database(file, { readonly: true });
    store.commit(commitOf('a'));
    const read = reader.prepare('SELECT count(*) FROM alert_state').pluck();
    reader.exec('BEGIN');
    assert.equal(read.get(), 1);
    store.commit(commitOf('b'));
    reader.exec('COMMIT');
    assert.equal(read.get(), 2);
    assert.equal(reader.pragma('journal_mode', { simple: true }), 'wal');
    reader.close();
    store.close();
  });

  test('that is no database is refused with what to do', () => {
    const file = join(directory, 'garbage.sqlite');
    writeFileSync(file, 'not a database, whatever its name says. '.repeat(100));
    assert.throws(() => openSqliteStore(file), { code: 'STORE_DAMAGED', retryable: false });
  });

  test('a readiness probe changes no answer and no schema', () => {
    const file = join(directory, 'probe.sqlite');
    const store = openSqliteStore(file);
    store.commit(commitOf('a'));
    const before = store.load(epochMs(0));
    assert.equal(store.writable(), true);
    assert.deepEqual(store.load(epochMs(0)), before);
    store.close();
    openSqliteStore(file).close();
  });

  test('a readiness probe goes to the disk: another process sees that something was committed', () => {
    const file = join(directory, 'seen.sqlite');
    const store = openSqliteStore(file);
    const reader = new Database(file, { readonly: true });
    const seen = (): unknown => reader.pragma('data_version', { simple: true });
    const before = seen();
    assert.equal(store.writable(), true);
    assert.notEqual(seen(), before);
    reader.close();
    store.close();
  });
});
