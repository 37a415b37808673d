import type { EpochMs } from '../base/units.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { WeeklyReview } from '../model/review.ts';
import type { TrafficStandard } from '../model/scorecard.ts';
import { lastWeek, type PastIncident, rowsFrom, type WeekSpan, weekSpan } from '../review/input.ts';
import { reviewMarkdown } from '../review/markdown.ts';
import { weeklyReview } from '../review/weekly-review.ts';
import { incidentsFileIn } from '../store/data-directory.ts';
import type { FollowUpStore } from '../store/sqlite-follow-ups.ts';
import type { NoiseMarkStore } from '../store/sqlite-noise-marks.ts';
import { readSqliteStore } from '../store/sqlite-store.ts';
import type { IncidentStore } from '../store/store.ts';
import { reviewDocument } from '../ui/pages/review.ts';

const INCIDENTS_AT_ONCE = 500;

export interface ReviewDeps {
  readonly store: Pick<IncidentStore, 'hourly' | 'listIncidents' | 'timeline' | 'sends'>;
  readonly noiseMarks: Pick<NoiseMarkStore, 'list'>;
  readonly followUps: Pick<FollowUpStore, 'list'>;
  readonly detectors: ReadonlyMap<string, DetectorSettings>;
  readonly standard: TrafficStandard;
}

/** The review of an ISO week, null = the last that is over; undefined where the text names no week. */
export function review(
  { store, noiseMarks, followUps, detectors, standard }: ReviewDeps,
  week: string | null,
  now: EpochMs,
): WeeklyReview | undefined {
  const span = weekSpan(week ?? lastWeek(now), now);
  if (span === undefined) return undefined;
  return weeklyReview({
    span,
    rows: store.hourly(rowsFrom(span), span.until),
    incidents: incidentsOf(store, span),
    marks: noiseMarks.list(null),
    followUps: followUps.list(),
    detectors,
    standard,
  });
}

/** Those that may have been open in the week; the review looks closer. */
function incidentsOf(store: ReviewDeps['store'], { from, until }: WeekSpan): readonly PastIncident[] {
  const found: PastIncident[] = [];
  const states = ['open', 'acknowledged', 'resolved'] as const;
  for (let before: number | null = null; ; ) {
    const some = store.listIncidents({ states, before, limit: INCIDENTS_AT_ONCE });
    for (const { id, openedAt, resolvedAt, members, mergedInto } of some) {
      if (openedAt > until || (resolvedAt !== null && resolvedAt <= from)) continue;
      const isOpened = openedAt >= from && typeof mergedInto !== 'number';
      const alerts = members.flatMap(({ alert, joinedAt }) => (joinedAt < until ? [alert.name] : []));
      found.push({ id, timeline: store.timeline(id), sends: store.sends(id), ...(isOpened ? { alerts } : {}) });
    }
    before = some.at(-1)?.id ?? null;
    if (before === null || some.length < INCIDENTS_AT_ONCE) return found;
  }
}

/** The review from a data directory, also while a service writes there. Throws AppError where it cannot be read. */
export function reviewOf(
  dataDir: string,
  rules: Pick<ReviewDeps, 'detectors' | 'standard'>,
  week: string | null,
  now: EpochMs,
): WeeklyReview | undefined {
  const store = readSqliteStore(incidentsFileIn(dataDir));
  try {
    return review({ store, noiseMarks: store.noiseMarks, followUps: store.followUps, ...rules }, week, now);
  } finally {
    store.close();
  }
}

export const REPORT_FORMATS = ['md', 'html', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** As one text; the same for the same review. Links lead below `baseUrl`. */
export function formatReview(made: WeeklyReview, format: ReportFormat, baseUrl = ''): string {
  if (format === 'json') return `${JSON.stringify(made, null, 2)}\n`;
  return format === 'md' ? reviewMarkdown(made, baseUrl) : reviewDocument(made, baseUrl);
}
