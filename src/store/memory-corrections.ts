import { present } from '../base/assert.ts';
import type { AuditEntry, Correction } from '../model/correction.ts';
import {
  auditEntryOf,
  type CorrectionStore,
  changed,
  markOfCreation,
  newCorrection,
  subjectOf,
} from './correction-store.ts';

/** Corrections of replays and tests: the same contract as SQLite's. */
export function createMemoryCorrections(): CorrectionStore {
  const corrections = new Map<number, Correction>();
  const audit: AuditEntry[] = [];
  const write = (entry: Omit<AuditEntry, 'seq'>): void => {
    audit.push({ seq: audit.length + 1, ...entry });
  };
  return {
    list: () => [...corrections.values()],
    add(draft) {
      const correction = newCorrection(corrections.size + 1, draft);
      corrections.set(correction.id, correction);
      write(auditEntryOf('create', markOfCreation(draft), null, correction));
      return correction;
    },
    change(id, change, mark) {
      const before = present(corrections.get(id), subjectOf(id));
      const after = changed(before, change, mark);
      corrections.set(id, after);
      write(auditEntryOf(change, mark, before, after));
      return after;
    },
    audit: (id) => audit.filter(({ subject }) => subject === subjectOf(id)),
  };
}
