import { formatCivilDate, formatInstant } from '../base/instant.ts';
import { DAY, type EpochMs, epochMs, HOUR, MINUTE } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';
import type { AuditEntry, Correction, CorrectionMark, Recurrence } from '../model/correction.ts';
import type {
  AuditEntryView,
  CorrectionMarkView,
  CorrectionState,
  CorrectionView,
  RecurrenceView,
} from '../model/views.ts';
import type { Period } from '../slo/calendar.ts';
import { timesOf } from '../slo/correction.ts';

/** Within a week every weekday comes by, and a day more for the zone. */
const NEXT_WITHIN_MS = 8 * DAY;

type ZoneOf = (name: string) => ZoneRules | null;

/** The time that runs at `now`, or the next one; null when there is none. */
export function nextTime(correction: Correction, zoneOf: ZoneOf, now: EpochMs): Period | null {
  const { time } = correction;
  if (time.kind === 'once') {
    const [only] = timesOf(correction, zoneOf, epochMs(0), epochMs(Number.MAX_SAFE_INTEGER));
    return only !== undefined && only.end > now ? only : null;
  }
  const from = Math.max(now, (time.recurrence.firstDay - 1) * DAY);
  const [next] = timesOf(correction, zoneOf, epochMs(from), epochMs(from + NEXT_WITHIN_MS));
  return next ?? null;
}

const stateOf = ({ undone }: Correction, next: Period | null, now: EpochMs): CorrectionState =>
  undone !== null ? 'undone' : next === null ? 'over' : next.start <= now ? 'active' : 'scheduled';

/** A correction as api, ui and replay show it. */
export function toCorrectionView(correction: Correction, zoneOf: ZoneOf, now: EpochMs): CorrectionView {
  const { id, kind, reason, by, createdAt, slos, matchers, time, ended, undone } = correction;
  const next = nextTime(correction, zoneOf, now);
  return {
    id,
    state: stateOf(correction, next, now),
    kind,
    reason,
    by,
    createdAt: formatInstant(createdAt),
    slos,
    matchers,
    from: time.kind === 'once' ? formatInstant(time.from) : null,
    to: time.kind === 'once' ? formatInstant(time.to) : null,
    recurring: time.kind === 'once' ? null : toRecurrenceView(time.recurrence),
    next: next === null ? null : { from: formatInstant(next.start), to: formatInstant(next.end) },
    ended: toMarkView(ended),
    undone: toMarkView(undone),
  };
}

const toMarkView = (mark: CorrectionMark | null): CorrectionMarkView | null =>
  mark === null ? null : { at: formatInstant(mark.at), by: mark.by, reason: mark.reason };

function toRecurrenceView({ weekdays, start, duration, zone, firstDay, lastDay }: Recurrence): RecurrenceView {
  const part = (value: number): string => String(value).padStart(2, '0');
  const hour = Math.floor(start / HOUR);
  return {
    weekdays,
    start: `${part(hour)}:${part((start - hour * HOUR) / MINUTE)}`,
    durationSeconds: duration / 1000,
    zone,
    firstDate: formatCivilDate(firstDay),
    lastDate: lastDay === null ? null : formatCivilDate(lastDay),
  };
}

export const toAuditEntryView = ({ seq, at, by, action, note }: AuditEntry): AuditEntryView => ({
  seq,
  at: formatInstant(at),
  by,
  action,
  note,
});
