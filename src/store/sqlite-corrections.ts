import type { Database } from 'better-sqlite3';
import { present } from '../base/assert.ts';
import type { AuditEntry, Correction, CorrectionDraft, CorrectionMark } from '../model/correction.ts';
import {
  auditEntryOf,
  type CorrectionChange,
  type CorrectionStore,
  changed,
  markOfCreation,
  newCorrection,
  subjectOf,
} from './correction-store.ts';
import { guarded } from './guarded.ts';

/** Corrections in the file of the incident store, with its durability: WAL, synchronous FULL, one transaction each. */
export function createSqliteCorrections(db: Database): CorrectionStore {
  const all = db.prepare('SELECT body FROM correction ORDER BY id').pluck();
  const one = db.prepare('SELECT body FROM correction WHERE id = ?').pluck();
  const lastId = db.prepare('SELECT coalesce(max(id), 0) FROM correction').pluck();
  const put = db.prepare('INSERT INTO correction VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body');
  const write = db.prepare(
    `INSERT INTO audit (at, by, action, subject, note, before, after)
     VALUES (@at, @by, @action, @subject, @note, @before, @after)`,
  );
  const audit = db.prepare('SELECT * FROM audit WHERE subject = ? ORDER BY seq');

  const store = (correction: Correction, entry: Omit<AuditEntry, 'seq'>): Correction => {
    put.run(correction.id, JSON.stringify(correction));
    write.run(entry);
    return correction;
  };
  const add = db.transaction((draft: CorrectionDraft): Correction => {
    const correction = newCorrection((lastId.get() as number) + 1, draft);
    return store(correction, auditEntryOf('create', markOfCreation(draft), null, correction));
  });
  const change = db.transaction((id: number, what: CorrectionChange, mark: CorrectionMark): Correction => {
    const before = decode(present((one.get(id) as string | undefined) ?? undefined, subjectOf(id)));
    const after = changed(before, what, mark);
    return store(after, auditEntryOf(what, mark, before, after));
  });
  return {
    list: () => guarded(() => (all.all() as string[]).map(decode)),
    add: (draft) => guarded(() => add.immediate(draft)),
    change: (id, what, mark) => guarded(() => change.immediate(id, what, mark)),
    audit: (id) => guarded(() => audit.all(subjectOf(id)) as AuditEntry[]),
  };
}

const decode = (body: string): Correction => JSON.parse(body) as Correction;
