import type { Database } from 'better-sqlite3';
import type { ForeignRecord } from '../correlate/foreign/record.ts';
import { decodeForeign, encodeForeign } from './codec.ts';
import type { ForeignAlertStore } from './foreign-alert-store.ts';
import { guarded } from './guarded.ts';

/** Foreign alerts in the file of the incident store, with its durability: WAL, synchronous FULL. */
export function createSqliteForeignAlerts(db: Database): ForeignAlertStore {
  const all = db.prepare('SELECT body FROM foreign_alert ORDER BY id').pluck();
  const put = db.prepare('INSERT INTO foreign_alert VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body');
  const drop = db.prepare('DELETE FROM foreign_alert WHERE id = ?');
  const write = db.transaction((records: Iterable<ForeignRecord>, dropped: readonly string[]) => {
    for (const id of dropped) drop.run(id);
    for (const record of records) put.run(record.id, encodeForeign(record));
  });
  return {
    load: () => guarded(() => (all.all() as string[]).map(decodeForeign)),
    write: (records, dropped) => guarded(() => write.immediate(records, dropped)),
  };
}
