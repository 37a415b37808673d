import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { epochMs } from '../../src/base/units.ts';
import type { Correction, CorrectionDraft } from '../../src/model/correction.ts';
import type { CorrectionStore } from '../../src/store/correction-store.ts';
import { createMemoryCorrections } from '../../src/store/memory-corrections.ts';
import { INIT } from '../../src/store/migrations/init.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { correctionOf, recurrenceOf } from '../support/corrections.ts';

const directory = mkdtempSync(join(tmpdir(), 'slowburn-corrections-'));
after(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(directory, `${++files}.sqlite`);

function draftOf(over: Partial<Correction> = {}): CorrectionDraft {
  const { id: _id, ended: _ended, undone: _undone, ...draft } = correctionOf(0, 1000, 2000, over);
  return draft;
}

const STORES: readonly { readonly name: string; readonly open: () => [CorrectionStore, () => CorrectionStore] }[] = [
  {
    name: 'memory',
    open() {
      const store = createMemoryCorrections();
      return [store, () => store];
    },
  },
  {
    name: 'SQLite',
    open() {
      const file = newFile();
      const store = openSqliteStore(file);
      const again = (): CorrectionStore => {
        store.close();
        const next = openSqliteStore(file);
        after(() => next.close());
        return next.corrections;
      };
      return [store.corrections, again];
    },
  },
];

for (const { name, open } of STORES) {
  describe(`corrections in ${name}`, () => {
    test('are given back as they were made, ended and undone, with every step told', () => {
      const [store, reopen] = open();
      const time = { kind: 'recurring', recurrence: recurrenceOf({ lastDay: 20_000 }) } as const;
      const first = store.add(draftOf({ reason: 'database "upgrade" & ü' }));
      const second = store.add(draftOf({ slos: [], matchers: ['team="edge"'], time }));
      assert.deepEqual([first.id, second.id], [1, 2]);
      const ended = store.change(1, 'end', { at: epochMs(1500), by: 'ana', reason: 'done' });
      const gone = store.change(1, 'undo', { at: epochMs(1600), by: 'bob', reason: 'wrong cluster' });
      assert.deepEqual(ended.ended, { at: 1500, by: 'ana', reason: 'done' });
      assert.deepEqual(gone, {
        ...first,
        ended: ended.ended,
        undone: { at: 1600, by: 'bob', reason: 'wrong cluster' },
      });

      const again = reopen();
      assert.deepEqual(again.list(), [gone, second]);
      assert.deepEqual(
        again.audit(1).map(({ at, by, action, subject, note }) => [at, by, action, subject, note]),
        [
          [1000, 'ana', 'correction.create', 'correction/1', 'database "upgrade" & ü'],
          [1500, 'ana', 'correction.end', 'correction/1', 'done'],
          [1600, 'bob', 'correction.undo', 'correction/1', 'wrong cluster'],
        ],
      );
      const states = again
        .audit(1)
        .map(({ before, after: to }) => [before, to].map((text) => JSON.parse(text ?? 'null')));
      assert.deepEqual(states, [
        [null, first],
        [first, ended],
        [ended, gone],
      ]);
      assert.equal(again.audit(2).length, 1);
      assert.equal(again.add(draftOf()).id, 3);
    });
  });
}

describe('the file of the corrections', () => {
  test('refuses to lose or rewrite anything', () => {
    const file = newFile();
    const store = openSqliteStore(file);
    store.corrections.add(draftOf());
    const db = new Database(file);
    for (const statement of ['DELETE FROM correction', 'DELETE FROM audit', "UPDATE audit SET by = 'nobody'"]) {
      assert.throws(() => db.exec(statement), { code: 'SQLITE_CONSTRAINT_TRIGGER' }, statement);
    }
    db.close();
    store.close();
  });

  test('a file of the schema before is migrated and keeps what it held', () => {
    const file = newFile();
    const old = new Database(file);
    old.exec(INIT);
    old.pragma('user_version = 1');
    old.exec("INSERT INTO alert_state VALUES ('a', '1')");
    old.close();
    const store = openSqliteStore(file);
    assert.deepEqual(store.load(epochMs(0)).alertStates, [{ key: 'a', value: '1' }]);
    assert.deepEqual(store.corrections.list(), []);
    assert.equal(store.corrections.add(draftOf()).id, 1);
    store.close();
  });
});
