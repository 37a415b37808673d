import type { Database } from 'better-sqlite3';
import type { NoiseMark } from '../model/noise-mark.ts';
import { guarded } from './guarded.ts';

/** What people judged noise: an audit, to which is only added. */
export interface NoiseMarkStore {
  /** All, or of one incident, in the order in which they were made. */
  list(incident: number | null): readonly NoiseMark[];
  /** Throws AppError STORE_UNWRITABLE (retryable) when the disk refuses; then nothing was kept. */
  add(mark: NoiseMark): void;
}

/** In the file of the incident store, with its durability. */
export function createSqliteNoiseMarks(db: Database): NoiseMarkStore {
  const read = db.prepare('SELECT body FROM noise_mark WHERE incident = ? OR ? IS NULL ORDER BY id').pluck();
  const add = db.prepare('INSERT INTO noise_mark (incident, body) VALUES (?, ?)');
  return {
    list: (incident) =>
      guarded(() => (read.all(incident, incident) as string[]).map((body) => JSON.parse(body) as NoiseMark)),
    add: (mark) => guarded(() => void add.run(mark.incident, JSON.stringify(mark))),
  };
}
