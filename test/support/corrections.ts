import { CorrectionBook } from '../../src/aggregate/correction-book.ts';
import { epochMs, ms } from '../../src/base/units.ts';
import { zoneRulesOf } from '../../src/config/zone-rules.ts';
import type { Correction, Recurrence } from '../../src/model/correction.ts';

/** A correction of checkout-availability from and to these times, `over` for the rest. */
export const correctionOf = (id: number, from: number, to: number, over: Partial<Correction> = {}): Correction => ({
  id,
  kind: 'maintenance',
  reason: `work ${id}`,
  by: 'ana',
  createdAt: epochMs(from),
  slos: ['checkout-availability'],
  matchers: [],
  time: { kind: 'once', from: epochMs(from), to: epochMs(to) },
  ended: null,
  undone: null,
  ...over,
});

export const undone = (correction: Correction): Correction => ({
  ...correction,
  undone: { at: correction.createdAt, by: 'bob', reason: 'a mistake' },
});

/** Every day at 02:00 of Berlin for an hour, from 1970 on, unless said otherwise. */
export const recurrenceOf = (over: Partial<Recurrence> = {}): Recurrence => ({
  weekdays: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  start: ms(2 * 3_600_000),
  duration: ms(3_600_000),
  zone: 'Europe/Berlin',
  firstDay: 0,
  lastDay: null,
  ...over,
});

export function bookOf(...corrections: readonly Correction[]): CorrectionBook {
  const book = new CorrectionBook(zoneRulesOf);
  book.replace(corrections);
  return book;
}
