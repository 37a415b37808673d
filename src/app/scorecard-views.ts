import { formatInstant } from '../base/instant.ts';
import { isoWeekAt, isoWeekStart } from '../base/iso-week.ts';
import { DAY, type EpochMs, epochMs, HOUR } from '../base/units.ts';
import type { Incident } from '../model/incident.ts';
import type { HourlyFigures } from '../model/measure.ts';
import type { CostView, ScorecardView, TrafficStandard } from '../model/scorecard.ts';
import { costOf } from '../review/cost.ts';
import { headroomOf } from '../review/headroom.ts';
import { type IncidentFacts, scoresOf } from '../review/scorecard.ts';
import type { IncidentStore } from '../store/store.ts';

const WEEK_MS = 7 * DAY;
/** Of the newest hour, what balancers sent late has come by then, and its rows are written. */
const SETTLED_AFTER_MS = HOUR / 4;
const STATES = ['open', 'acknowledged', 'resolved'] as const;
const PAGE = 500;

/** A week of stored hours. */
interface Week {
  readonly week: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly rows: readonly HourlyFigures[];
  readonly complete: boolean;
}

function weekOf(store: IncidentStore, name: string | null, now: EpochMs): Week {
  const week = name ?? isoWeekAt(epochMs(now - WEEK_MS));
  const from = isoWeekStart(week) ?? now;
  const to = epochMs(from + WEEK_MS);
  return { week, from, to, rows: store.hourly(from, to), complete: now >= to + SETTLED_AFTER_MS };
}

const headOf = ({ week, from, to, rows, complete }: Week) => ({
  week,
  from: formatInstant(from),
  to: formatInstant(to),
  hours: new Set(rows.map(({ hour }) => hour)).size,
  complete,
});

/** A week against the traffic standard; `name` null = the last whole week. */
export function scorecard(
  store: IncidentStore,
  standard: TrafficStandard,
  name: string | null,
  now: EpochMs,
): ScorecardView {
  const week = weekOf(store, name, now);
  return {
    ...headOf(week),
    scores: scoresOf(week.rows, incidentsOf(store, week), standard),
    headroom: headroomOf(week.rows, standard),
  };
}

/** What services cost in a week; `name` null = the last whole week. */
export function cost(store: IncidentStore, name: string | null, now: EpochMs): CostView {
  const week = weekOf(store, name, now);
  return { ...headOf(week), ...costOf(week.rows) };
}

/**
 * Incidents that were opened in the week, with what was in them by its end: what joins later changes nothing. Those
 * that were merged go on in the other one.
 */
function incidentsOf(store: IncidentStore, { from, to }: Week): readonly IncidentFacts[] {
  const found: IncidentFacts[] = [];
  for (const { id, openedAt, members, mergedInto } of newestFirst(store)) {
    if (openedAt < from) break;
    if (openedAt >= to || typeof mergedInto === 'number') continue;
    found.push({ id, alerts: members.flatMap(({ alert, joinedAt }) => (joinedAt < to ? [alert.name] : [])) });
  }
  return found;
}

function* newestFirst(store: IncidentStore): Generator<Incident> {
  for (let before: number | null = null; ; ) {
    const page = store.listIncidents({ states: STATES, before, limit: PAGE });
    yield* page;
    const last: Incident | undefined = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    before = last.id;
  }
}
