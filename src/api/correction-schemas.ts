import { CORRECTION_KINDS, WEEKDAYS } from '../model/correction.ts';
import {
  type AuditEntryView,
  CORRECTION_STATES,
  type CorrectionDetailView,
  type CorrectionEffectView,
  type CorrectionMarkView,
  type CorrectionPreviewView,
  type CorrectionView,
  type RecurrenceView,
  type TimeRangeView,
} from '../model/views.ts';
import {
  instant,
  instantOrNull,
  labelSet,
  listOf,
  numberOf,
  numberOrNull,
  oneOf,
  pageSchema,
  ref,
  refOrNull,
  text,
  textOrNull,
  texts,
  viewSchema,
  wholeOf,
} from './schema-parts.ts';

export const RECURRENCE = viewSchema<RecurrenceView>('Recurrence', 'Planned work that repeats on days of the week.', {
  weekdays: listOf(oneOf(WEEKDAYS, 'mon to sun.'), 'Days on which it begins, by the local date.'),
  start: text('Local time of day at which it begins: 02:00.'),
  durationSeconds: numberOf('How long it lasts as time passes, at most 7 days.'),
  zone: text('IANA time zone whose clocks are meant: Europe/Berlin.'),
  firstDate: text('First local date that may begin it: 2026-03-01.'),
  lastDate: textOrNull('Last local date that may begin it; null = no end.'),
});

export const CORRECTION_MARK = viewSchema<CorrectionMarkView>('CorrectionMark', 'What a person did to a correction.', {
  at: instant('When.'),
  by: text('Who.'),
  reason: text('Why.'),
});

export const TIME_RANGE = viewSchema<TimeRangeView>('TimeRange', 'From a time up to another.', {
  from: instant('Begin.'),
  to: instant('End.'),
});

const fields = {
  id: wholeOf('Number of the correction, from 1.'),
  state: oneOf(CORRECTION_STATES, 'active = covers now; over = lies in the past, and still counts.'),
  kind: oneOf(CORRECTION_KINDS, 'Why the time does not count, for reviews; it decides nothing.'),
  reason: text('Why, in words.'),
  by: text('Who made it.'),
  createdAt: instant('When it was made.'),
  slos: texts('Ids of the SLOs it is for; empty = any that the matchers fit.'),
  matchers: texts('All must fit the labels of the SLO and its group, with slo and service; empty = any.'),
  from: instantOrNull('Begin; null where it recurs.'),
  to: instantOrNull('End; null where it recurs.'),
  recurring: refOrNull(RECURRENCE, 'When it repeats; null where it does not.'),
  next: refOrNull(TIME_RANGE, 'The time that runs now or comes next; null when it is over or undone.'),
  ended: refOrNull(CORRECTION_MARK, 'Nothing after that time is left out; null unless ended.'),
  undone: refOrNull(CORRECTION_MARK, 'It leaves nothing out any more; null unless undone.'),
};

export const CORRECTION = viewSchema<CorrectionView>(
  'Correction',
  'A time that is left out of the budgets of some SLOs.',
  fields,
);

export const CORRECTION_EFFECT = viewSchema<CorrectionEffectView>(
  'CorrectionEffect',
  'What a correction does to one group now.',
  {
    slo: text('Slo.id'),
    labels: labelSet('Labels of the group.'),
    good: numberOf('Good events of its time within the SLO window.'),
    bad: numberOf('Bad events of its time within the SLO window.'),
    budgetBefore: numberOrNull('Share of the budget that would be left without it; null without events.'),
    budgetAfter: numberOrNull('Share of the budget that is left; null without events.'),
  },
);

export const AUDIT_ENTRY = viewSchema<AuditEntryView>('AuditEntry', 'One thing that a person did.', {
  seq: wholeOf('Number of the entry.'),
  at: instant('When.'),
  by: text('Who.'),
  action: text('correction.create, correction.end or correction.undo.'),
  note: text('Why.'),
});

export const CORRECTION_DETAIL = viewSchema<CorrectionDetailView>(
  'CorrectionDetail',
  'A correction with its effect and what was done to it.',
  {
    ...fields,
    groups: wholeOf('Groups that it applies to.'),
    effects: listOf(ref<CorrectionEffectView>(CORRECTION_EFFECT), 'Its effect on the first 200 of them.'),
    audit: listOf(ref<AuditEntryView>(AUDIT_ENTRY), 'What was done to it, oldest first.'),
  },
);

export const CORRECTION_PREVIEW = viewSchema<CorrectionPreviewView>(
  'CorrectionPreview',
  'What a correction would do if it were made now.',
  {
    groups: wholeOf('Groups that it would apply to.'),
    effects: listOf(ref<CorrectionEffectView>(CORRECTION_EFFECT), 'Its effect on the first 200 of them.'),
  },
);

export const CORRECTION_PAGE = pageSchema('CorrectionPage', ref<CorrectionView>(CORRECTION));
