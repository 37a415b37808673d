import type { ForeignRecord } from '../correlate/foreign/record.ts';

/** Alerts raised elsewhere, as last told: what was answered with 2xx is here. */
export interface ForeignAlertStore {
  load(): readonly ForeignRecord[];
  /** In one transaction. Throws AppError STORE_UNWRITABLE (retryable) when the disk refuses; then nothing was kept. */
  write(records: Iterable<ForeignRecord>, dropped: readonly string[]): void;
}

/** The store of replays and tests. */
export function createMemoryForeignAlerts(): ForeignAlertStore {
  const held = new Map<string, ForeignRecord>();
  return {
    load: () => [...held.values()],
    write(records, dropped) {
      for (const id of dropped) held.delete(id);
      for (const record of records) held.set(record.id, record);
    },
  };
}
