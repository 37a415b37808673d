import type { Database } from 'better-sqlite3';
import type { FollowUp } from '../model/follow-up.ts';
import { guarded } from './guarded.ts';

/** Actions that follow from incidents; few, and never deleted. */
export interface FollowUpStore {
  /** In the order of their ids. */
  list(): readonly FollowUp[];
  /** With the next id. Throws AppError STORE_UNWRITABLE (retryable) when the disk refuses; then nothing was kept. */
  add(fields: Omit<FollowUp, 'id'>): FollowUp;
  /** In place of the one with its id. */
  save(followUp: FollowUp): void;
}

/** In the file of the incident store, with its durability. */
export function createSqliteFollowUps(db: Database): FollowUpStore {
  const all = db.prepare('SELECT body FROM follow_up ORDER BY id').pluck();
  const lastId = db.prepare('SELECT coalesce(max(id), 0) FROM follow_up').pluck();
  const put = db.prepare('INSERT OR REPLACE INTO follow_up VALUES (?, ?, ?)');
  const add = db.transaction((fields: Omit<FollowUp, 'id'>): FollowUp => {
    const followUp = { id: (lastId.get() as number) + 1, ...fields };
    put.run(followUp.id, followUp.incident, JSON.stringify(followUp));
    return followUp;
  });
  return {
    list: () => guarded(() => (all.all() as string[]).map((body) => JSON.parse(body) as FollowUp)),
    add: (fields) => guarded(() => add.immediate(fields)),
    save: (followUp) => guarded(() => void put.run(followUp.id, followUp.incident, JSON.stringify(followUp))),
  };
}
