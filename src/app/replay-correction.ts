import type { EpochMs } from '../base/units.ts';
import { CORRECTION_KINDS, type CorrectionKind, WEEKDAYS, type Weekday } from '../model/correction.ts';
import type { CorrectionOutcome, CorrectionRequest, RecurrenceView } from '../model/views.ts';
import type { Corrections } from './corrections.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Actions of a replay's lines that are about corrections. */
export const CORRECTION_ACTIONS = ['correction', 'end_correction', 'undo_correction'] as const;
type CorrectionAction = (typeof CORRECTION_ACTIONS)[number];

export const isCorrectionAction = (action: unknown): action is CorrectionAction =>
  CORRECTION_ACTIONS.some((known) => known === action);

/**
 * Does what such a line says; null, or why it is bad. `correction` takes the fields of POST /api/v1/corrections, the
 * others the id in `correction`.
 */
export function actOnCorrection(
  corrections: Corrections,
  action: CorrectionAction,
  fields: Fields,
  now: EpochMs,
): string | null {
  if (action === 'correction') {
    const request = readRequest(fields);
    return typeof request === 'string' ? request : messageOf(corrections.create(request, now));
  }
  const id = fields['correction'];
  if (!Number.isInteger(id)) return '"correction" is not a whole number: the id of a correction';
  const kind = action === 'end_correction' ? 'end' : 'undo';
  const mark = { kind, by: textOf(fields, 'by') ?? 'replay', reason: textOf(fields, 'reason') ?? '' } as const;
  return messageOf(corrections.change(id as number, mark, now));
}

function messageOf(outcome: CorrectionOutcome): string | null {
  switch (outcome.kind) {
    case 'done':
      return null;
    case 'not_found':
      return 'no such correction';
    case 'conflict':
      return outcome.message;
    case 'bad_field':
      return `"${outcome.field}" ${outcome.message}`;
  }
}

const textOf = (fields: Fields, name: string): string | null => {
  const value = fields[name];
  return typeof value === 'string' ? value : null;
};

const textsOf = (fields: Fields, name: string): readonly string[] | null => {
  const value = fields[name] ?? [];
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? (value as string[]) : null;
};

function readRequest(fields: Fields): CorrectionRequest | string {
  const [slos, matchers] = [textsOf(fields, 'slos'), textsOf(fields, 'matchers')];
  if (slos === null || matchers === null) return '"slos" and "matchers" are lists of texts';
  const kind = CORRECTION_KINDS.find((known) => known === (fields['kind'] ?? 'maintenance'));
  if (kind === undefined) return `"kind" is one of ${CORRECTION_KINDS.join(', ')}`;
  const recurring = fields['recurring'] === undefined ? null : readRecurring(fields['recurring']);
  if (typeof recurring === 'string') return recurring;
  return { ...partsOf(fields, kind), slos, matchers, recurring };
}

const partsOf = (fields: Fields, kind: CorrectionKind) => ({
  kind,
  reason: textOf(fields, 'reason') ?? '',
  by: textOf(fields, 'by') ?? 'replay',
  from: textOf(fields, 'from'),
  to: textOf(fields, 'to'),
});

function readRecurring(value: unknown): RecurrenceView | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '"recurring" is not an object';
  const fields = value as Fields;
  const weekdays = textsOf(fields, 'weekdays');
  const isWeekday = (day: string): day is Weekday => WEEKDAYS.some((known) => known === day);
  if (weekdays?.every(isWeekday) !== true) return '"recurring.weekdays" is a list of mon tue wed thu fri sat sun';
  const durationSeconds = fields['durationSeconds'];
  return {
    weekdays: weekdays.filter(isWeekday),
    start: textOf(fields, 'start') ?? '',
    durationSeconds: typeof durationSeconds === 'number' ? durationSeconds : Number.NaN,
    zone: textOf(fields, 'zone') ?? '',
    firstDate: textOf(fields, 'firstDate') ?? '',
    lastDate: textOf(fields, 'lastDate'),
  };
}
