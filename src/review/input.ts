import { isoWeekAt, isoWeekStart } from '../base/iso-week.ts';
import { DAY, type EpochMs, epochMs, HOUR, MINUTE } from '../base/units.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { Severity } from '../model/alert.ts';
import type { FollowUp } from '../model/follow-up.ts';
import type { IncidentChange, NotificationReason } from '../model/incident.ts';
import type { HourlyFigures } from '../model/measure.ts';
import type { NoiseMark } from '../model/noise-mark.ts';
import type { TrafficStandard } from '../model/scorecard.ts';

export const WEEK_MS = 7 * DAY;
/** This week and the four before it. */
export const WEEKS_SHOWN = 5;
/** The last hour of a week is stored by then. */
const SETTLED_AFTER_MS = 10 * MINUTE;

/** What was sent of an incident, as the outbox has it. */
export interface PastSend {
  readonly receiver: string;
  readonly severity: Severity;
  readonly reason: NotificationReason;
  readonly at: EpochMs;
}

export interface PastIncident {
  readonly id: number;
  /** Names of the alerts that were in it by the end of the week; absent = it was not opened in the week. */
  readonly alerts?: readonly string[];
  readonly timeline: readonly IncidentChange[];
  readonly sends: readonly PastSend[];
}

/** (from, until] of a week that ends at `to`. */
export interface WeekSpan {
  readonly week: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly until: EpochMs;
}

/** Rows as the store keeps them, in any order. What is newer than `span.until` counts for nothing, but for marks. */
export interface ReviewInput {
  readonly span: WeekSpan;
  readonly rows: readonly HourlyFigures[];
  readonly incidents: readonly PastIncident[];
  /** In the order in which they were made. */
  readonly marks: readonly NoiseMark[];
  readonly followUps: readonly FollowUp[];
  readonly detectors: ReadonlyMap<string, DetectorSettings>;
  readonly standard: TrafficStandard;
}

/** A week as it stands at `now`; undefined where the text names none. */
export function weekSpan(week: string, now: EpochMs): WeekSpan | undefined {
  const from = isoWeekStart(week);
  if (from === undefined) return undefined;
  const to = epochMs(from + WEEK_MS);
  const settled = Math.floor((now - SETTLED_AFTER_MS) / HOUR) * HOUR;
  return { week, from, to, until: epochMs(Math.max(from, Math.min(to, settled))) };
}

/** The last week that is over, and whose last hour is stored. */
export const lastWeek = (now: EpochMs): string => isoWeekAt(epochMs(now - SETTLED_AFTER_MS - WEEK_MS));

/** Rows from here on are asked of the store: the weeks that a review compares with. */
export const rowsFrom = ({ from }: WeekSpan): EpochMs => epochMs(from - (WEEKS_SHOWN - 1) * WEEK_MS - HOUR);
