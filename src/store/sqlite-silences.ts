import type { Database } from 'better-sqlite3';
import type { EpochMs } from '../base/units.ts';
import type { Silence } from '../model/mute.ts';
import { guarded } from './guarded.ts';
import type { SilenceStore } from './silence-store.ts';

/** Silences in the file of the incident store, with its durability: WAL, synchronous FULL, one transaction each. */
export function createSqliteSilences(db: Database): SilenceStore {
  const all = db.prepare('SELECT body FROM silence ORDER BY id').pluck();
  const put = db.prepare('INSERT OR REPLACE INTO silence VALUES (?, ?, ?)');
  const forget = db.prepare('DELETE FROM silence WHERE ends_at < ?');
  const save = db.transaction((silences: readonly Silence[], forgetBefore: EpochMs) => {
    for (const silence of silences) put.run(silence.id, silence.endsAt, JSON.stringify(silence));
    forget.run(forgetBefore);
  });
  return {
    list: () => guarded(() => (all.all() as string[]).map((body) => JSON.parse(body) as Silence)),
    save: (silences, forgetBefore) => guarded(() => save.immediate(silences, forgetBefore)),
  };
}
