import type { AuditEntry, Correction, CorrectionDraft, CorrectionMark } from '../model/correction.ts';

/** What may be done to a correction that exists. */
export type CorrectionChange = 'end' | 'undo';

/** Corrections and their audit: nothing is deleted, and every change is written with its entry in one transaction. */
export interface CorrectionStore {
  /** In the order of their ids. */
  list(): readonly Correction[];
  /** Throws AppError STORE_UNWRITABLE (retryable) when the disk refuses; then nothing was kept. */
  add(draft: CorrectionDraft): Correction;
  /** As `add`. `id` must be one of the list. */
  change(id: number, change: CorrectionChange, mark: CorrectionMark): Correction;
  /** What was done to one, oldest first. */
  audit(id: number): readonly AuditEntry[];
}

export const subjectOf = (id: number): string => `correction/${id}`;

export const newCorrection = (id: number, draft: CorrectionDraft): Correction => ({
  id,
  ...draft,
  ended: null,
  undone: null,
});

export const changed = (before: Correction, change: CorrectionChange, mark: CorrectionMark): Correction =>
  change === 'end' ? { ...before, ended: mark } : { ...before, undone: mark };

/** The entry of a creation (`before` is null) or of a change. */
export function auditEntryOf(
  action: 'create' | CorrectionChange,
  { at, by, reason }: CorrectionMark,
  before: Correction | null,
  after: Correction,
): Omit<AuditEntry, 'seq'> {
  const textOf = (one: Correction | null): string | null => (one === null ? null : JSON.stringify(one));
  return {
    at,
    by,
    action: `correction.${action}`,
    subject: subjectOf(after.id),
    note: reason,
    before: textOf(before),
    after: textOf(after),
  };
}

export const markOfCreation = ({ createdAt, by, reason }: CorrectionDraft): CorrectionMark => ({
  at: createdAt,
  by,
  reason,
});
