import { formatInstant, parseCivilDate, parseInstant } from '../base/instant.ts';
import { DAY, type EpochMs, HOUR, MINUTE, ms } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';
import type { CorrectionDraft, CorrectionTime } from '../model/correction.ts';
import { parseMatcher } from '../model/matcher.ts';
import type { CorrectionRequest, RecurrenceView } from '../model/views.ts';

/** One field that does not fit; `message` goes on behind its name. */
export interface WrongField {
  readonly kind: 'bad_field';
  readonly field: string;
  readonly message: string;
}

const ONCE_MAX_MS = 366 * DAY;
const RECURRING_MAX_MS = 7 * DAY;
const AHEAD_MAX_MS = 400 * DAY;

const wrong = (field: string, message: string): WrongField => ({ kind: 'bad_field', field, message });

/** Reads what a person asks for. `slos` are the ids in force. */
export function readCorrection(
  request: CorrectionRequest,
  now: EpochMs,
  slos: ReadonlySet<string>,
  zoneOf: (name: string) => ZoneRules | null,
): CorrectionDraft | WrongField {
  const { kind, by, matchers } = request;
  const reason = request.reason.trim();
  if (reason === '') return wrong('reason', 'is needed: why this time does not count');
  if (request.slos.length === 0 && matchers.length === 0) {
    return wrong('slos', 'or "matchers" is needed: which SLOs; all of them are the matcher slo=~".+"');
  }
  const unknown = request.slos.find((id) => !slos.has(id));
  if (unknown !== undefined) return wrong('slos', `names "${unknown}", which is no SLO; /api/v1/slos lists them`);
  const bad = matchers.find((text) => parseMatcher(text) === null);
  if (bad !== undefined)
    return wrong('matchers', `holds ${JSON.stringify(bad)}; write them like zone=a or team=~"a|b"`);
  const time = request.recurring === null ? readOnce(request, now) : readRecurring(request, request.recurring, zoneOf);
  if (time.kind === 'bad_field') return time;
  return { kind, reason, by, createdAt: now, slos: [...new Set(request.slos)], matchers, time };
}

function readOnce({ from, to }: CorrectionRequest, now: EpochMs): CorrectionTime | WrongField {
  if (from === null) return wrong('from', 'is needed, an RFC 3339 time, or "recurring"');
  if (to === null) return wrong('to', 'is needed, an RFC 3339 time; "end" can bring it forward');
  const [start, end] = [parseInstant(from), parseInstant(to)];
  if (start === undefined) return wrong('from', 'is not an RFC 3339 time such as 2026-01-31T09:00:00Z');
  if (end === undefined) return wrong('to', 'is not an RFC 3339 time such as 2026-01-31T09:00:00Z');
  if (end <= start) return wrong('to', 'must lie after "from"');
  if (end - start > ONCE_MAX_MS) return wrong('to', 'must lie within 366 days after "from"');
  if (end - now > AHEAD_MAX_MS) return wrong('to', `lies more than 400 days ahead; it is ${formatInstant(now)} now`);
  return { kind: 'once', from: start, to: end };
}

function readRecurring(
  { from, to }: CorrectionRequest,
  { weekdays, start, durationSeconds, zone, firstDate, lastDate }: RecurrenceView,
  zoneOf: (name: string) => ZoneRules | null,
): CorrectionTime | WrongField {
  if (from !== null) return wrong('from', 'and "recurring" are one or the other');
  if (to !== null) return wrong('to', 'and "recurring" are one or the other');
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(start) ?? [];
  if (hour === undefined || minute === undefined) return wrong('recurring.start', 'is not a time of day such as 02:00');
  if (weekdays.length === 0) return wrong('recurring.weekdays', 'needs one of mon tue wed thu fri sat sun');
  const duration = ms(Math.round(durationSeconds * 1000));
  if (!(duration >= 1000 && duration <= RECURRING_MAX_MS)) {
    return wrong('recurring.durationSeconds', 'must be 1 second to 7 days (604800)');
  }
  if (zoneOf(zone) === null)
    return wrong('recurring.zone', 'is no time zone; write an IANA name such as Europe/Berlin');
  const firstDay = parseCivilDate(firstDate);
  if (firstDay === undefined) return wrong('recurring.firstDate', 'is not a date such as 2026-01-31');
  const lastDay = lastDate === null ? null : parseCivilDate(lastDate);
  if (lastDay === undefined) return wrong('recurring.lastDate', 'is not a date such as 2026-01-31');
  if (lastDay !== null && lastDay < firstDay) return wrong('recurring.lastDate', 'lies before "firstDate"');
  const recurrence = {
    weekdays,
    start: ms(Number(hour) * HOUR + Number(minute) * MINUTE),
    duration,
    zone,
    firstDay,
    lastDay,
  };
  return { kind: 'recurring', recurrence };
}
