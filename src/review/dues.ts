import { formatInstant, parseCivilDate } from '../base/instant.ts';
import { DAY, type EpochMs, epochMs } from '../base/units.ts';
import type { HourlyFigures } from '../model/measure.ts';
import type { Part, ReviewCertificate, ReviewFollowUp } from '../model/review.ts';
import type { ReviewInput } from './input.ts';

/** Certificates that end sooner after the week are due. */
const DUE_WITHIN_MS = 30 * DAY;

const NO_CERTIFICATES = 'No balancer tells when its certificates end.';

/** Those due soonest first, as last told in the week. One that was not told any more on its last day is gone. */
export function certificatesOf({ rows, span }: ReviewInput): Part<ReviewCertificate> {
  const told = rows.filter(({ hour, subject }) => hour > span.from && hour <= span.until && subject.has('certificate'));
  const last = told.reduce((newest, { hour }) => Math.max(newest, hour), 0);
  const items = told
    .filter(({ hour }) => hour === last)
    .flatMap((row) => toCertificate(row, span.until))
    .sort((a, b) => (a.notAfter < b.notAfter || (a.notAfter === b.notAfter && a.name < b.name) ? -1 : 1));
  return { items, unknown: told.length === 0 ? NO_CERTIFICATES : null };
}

function toCertificate({ subject, notes }: HourlyFigures, until: EpochMs): readonly ReviewCertificate[] {
  const { not_after: notAfter, renewed_at: renewedAt, balancers } = notes;
  if (typeof notAfter !== 'number' || notAfter - until > DUE_WITHIN_MS) return [];
  return [
    {
      name: subject.get('certificate') ?? '',
      notAfter: formatInstant(epochMs(notAfter)),
      daysLeft: Math.floor((notAfter - until) / DAY),
      balancers: typeof balancers === 'number' ? balancers : 0,
      renewedAt: typeof renewedAt === 'number' ? formatInstant(epochMs(renewedAt)) : null,
    },
  ];
}

/** Actions that were not done by the end of the week, those that are due first come first. */
export function followUpsOf({ followUps, span }: ReviewInput): Part<ReviewFollowUp> {
  const items = followUps
    .filter(({ createdAt, doneAt }) => createdAt <= span.until && (doneAt === null || doneAt > span.until))
    .map(({ id, incident, title, owner, due }): ReviewFollowUp => {
      // It is due on that day, and overdue when the day is over.
      const over = ((parseCivilDate(due) ?? Number.POSITIVE_INFINITY) + 1) * DAY;
      return { id, incident, title, owner, due, isOverdue: over <= span.until };
    })
    .sort((a, b) => (a.due < b.due ? -1 : a.due > b.due ? 1 : a.id - b.id));
  return { items, unknown: null };
}
