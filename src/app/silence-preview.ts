import { formatInstant } from '../base/instant.ts';
import { DAY, type EpochMs } from '../base/units.ts';
import { compileSilenceMatcher } from '../correlate/silence.ts';
import type { Alert } from '../model/alert.ts';
import type { Incident, IncidentMember } from '../model/incident.ts';
import { labelsToObject } from '../model/labels.ts';
import { matchesAll } from '../model/matcher.ts';
import { muteLabels, type SilenceMatcher } from '../model/mute.ts';
import type { PastAlertView, SilencePreviewView } from '../model/views.ts';
import type { IncidentStore } from '../store/store.ts';
import { type RunbookUrl, toAlertView, toIncidentView } from './to-views.ts';

const PAST_MS = 7 * DAY;
/** Of so many incidents at most, newest first. */
const INCIDENTS_MAX = 2000;
const PAGE = 500;
const PAST_MAX = 500;

/** What a silence would mute now, and what of the last days it would have muted. Matchers are sound. */
export function createSilencePreview(deps: {
  readonly firing: () => readonly Alert[];
  readonly incidents: IncidentStore;
  readonly runbookUrl: RunbookUrl;
}): (matchers: readonly SilenceMatcher[], now: EpochMs) => SilencePreviewView {
  return (matchers, now) => {
    const compiled = matchers.map(compileSilenceMatcher).filter((matcher) => matcher !== null);
    const covers = (alert: Alert): boolean => matchesAll(compiled, muteLabels(alert));
    const firing = deps.firing().filter(covers);
    const keys = new Set(firing.map(({ key }) => key));
    const { incidents, since } = lastIncidents(deps.incidents, now);
    const holds = ({ alert, state }: IncidentMember): boolean => state === 'firing' && keys.has(alert.key);
    const touched = incidents.filter(({ state, members }) => state !== 'resolved' && members.some(holds));
    const holderOf = new Map(
      touched.flatMap(({ id, members }) => members.map(({ alert }) => [alert.key, id] as const)),
    );
    const past = incidents.flatMap((incident) => pastOf(incident, covers, since));
    return {
      alerts: firing.map((alert) => toAlertView(alert, 'firing', holderOf.get(alert.key) ?? null)),
      incidents: touched.map((incident) => toIncidentView(incident, deps.runbookUrl)),
      past: past.slice(0, PAST_MAX),
      pastCount: past.length,
      pastSince: formatInstant(since),
    };
  };
}

/** Incidents that changed in the last days, newest first, and from when on they are all of them. */
function lastIncidents(store: IncidentStore, now: EpochMs): { incidents: readonly Incident[]; since: EpochMs } {
  const since = (now - PAST_MS) as EpochMs;
  const states = ['open', 'acknowledged', 'resolved'] as const;
  const found: Incident[] = [];
  for (let before: number | null = null; found.length < INCIDENTS_MAX; ) {
    const page = store.listIncidents({ states, before, limit: PAGE });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    before = last.id;
  }
  const oldest = found.at(-1);
  const isCut = found.length >= INCIDENTS_MAX && oldest !== undefined && oldest.openedAt > since;
  const recent = found.filter(({ changedAt, state }) => state !== 'resolved' || changedAt >= since);
  return { incidents: recent, since: isCut ? oldest.openedAt : since };
}

const pastOf = (incident: Incident, covers: (alert: Alert) => boolean, since: EpochMs): readonly PastAlertView[] =>
  incident.members
    .filter(({ alert, resolvedAt }) => (resolvedAt === null || resolvedAt >= since) && covers(alert))
    .map(({ alert, resolvedAt }) => ({
      name: alert.name,
      labels: labelsToObject(alert.labels),
      severity: alert.severity,
      incident: incident.id,
      since: formatInstant(alert.since),
      resolvedAt: resolvedAt === null ? null : formatInstant(resolvedAt),
    }));
