import { type EpochMs, epochMs, HOUR } from '../base/units.ts';
import type { Alert } from '../model/alert.ts';
import { type IncidentHead, leadAlert } from '../model/incident.ts';
import { firingAlerts, highestSeverity, type IncidentDraft, isHeld, isMuted } from './draft.ts';
import type { CorrelationSettings } from './settings.ts';
import { titleOf } from './title.ts';

const REOPEN_LONGEST_MS = 6 * HOUR;

/** What timers made due in this tick; `announce` decides what is said of it. */
export interface Due {
  /** A snooze ended while a page fires. */
  readonly unmuted: boolean;
  /** Whose acknowledgement lapsed while a page fires; null = nobody's. */
  readonly lapsed: string | null;
}

/** Opens a held incident once enough alerts have fired for long enough; what joined it meanwhile is then told. */
export function openWhenDue(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): void {
  if (!isHeld(draft.incident) || draft.incident.members.length < settings.minAlerts) return;
  // A start in the future comes from a clock that is ahead: it counts as now.
  const firesFor = ({ since }: Alert): number => Math.max(0, now - since);
  if (!firingAlerts(draft.incident).some((alert) => firesFor(alert) >= settings.openAfter)) return;
  openNow(draft, now, 'slowburn');
}

export function openNow(draft: IncidentDraft, now: EpochMs, by: string): void {
  const [first, ...others] = draft.incident.members;
  if (first === undefined) return;
  draft.record('opened', first.alert.summary, { openedAt: now, episodeAt: now }, by);
  for (const { reason } of others) draft.record('joined', reason);
}

/** Ends snoozes and acknowledgements whose time is over, and resolves what has been quiet long enough. */
export function advance(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): Due {
  const firing = firingAlerts(draft.incident);
  const isPaging = firing.length > 0 && highestSeverity(firing) === 'page';
  const due = { unmuted: endSnooze(draft, now) && isPaging, lapsed: isPaging ? lapse(draft, now) : null };
  if (firing.length > 0) {
    draft.set({ quietSince: null });
    return due;
  }
  const quietSince = draft.incident.quietSince ?? now;
  draft.set({ quietSince });
  if (now - quietSince >= settings.resolveHold) close(draft, now, 'all alerts have resolved and stayed so', 'slowburn');
  return due;
}

function endSnooze(draft: IncidentDraft, now: EpochMs): boolean {
  const { snoozedUntil } = draft.incident;
  if (snoozedUntil === null || snoozedUntil > now) return false;
  draft.set({ snoozedUntil: null });
  return true;
}

/** An acknowledgement lapses while nobody acts; a snooze is an act that lasts. */
function lapse(draft: IncidentDraft, now: EpochMs): string | null {
  const { acknowledgement, snoozedUntil } = draft.incident;
  if (acknowledgement === null || snoozedUntil !== null) return null;
  const { by, lapsesAt } = acknowledgement;
  if (lapsesAt === null || lapsesAt > now) return null;
  draft.record('ack_lapsed', `acknowledged by ${by}, nobody acted since`, { state: 'open', acknowledgement: null });
  return by;
}

/**
 * Resolves an incident and closes what was said of this episode, once. A snooze outlives a recovery, which may be a
 * flap; it ends when a person resolves.
 */
export function close(draft: IncidentDraft, now: EpochMs, reason: string, by: string): void {
  const snoozedUntil = by === 'slowburn' ? draft.incident.snoozedUntil : null;
  const resolvedBy = by === 'slowburn' ? null : by;
  const over = { state: 'resolved', resolvedAt: now, resolvedBy, acknowledgement: null, snoozedUntil } as const;
  draft.record('resolved', reason, over, by);
  const { announced, episode } = draft.incident;
  if (announced.severity !== null && announced.episode === episode) draft.notify('resolved', reason);
}

/** Starts the next episode. What was said before stays said; tiers and reminders count anew, and a storm is over. */
export function reopen(draft: IncidentDraft, now: EpochMs, reason: string, by: string): void {
  const { episode, announced, snoozedUntil } = draft.head;
  // What was muted at the end of the last episode tells nothing of this one.
  draft.changeMembers((member) => (isMuted(member) ? { ...member, mutes: [] } : member));
  draft.record(
    'reopened',
    reason,
    {
      state: 'open',
      episode: episode + 1,
      episodeAt: now,
      resolvedAt: null,
      resolvedBy: null,
      quietSince: null,
      snoozedUntil: snoozedUntil !== null && snoozedUntil > now ? snoozedUntil : null,
      announced: { ...announced, stillBurning: false, tiers: [] },
      ...(draft.head.storm ? { storm: null, title: titleOf(leadAlert(draft.incident)) } : {}),
    },
    by,
  );
}

/** Whether an alert can still bring it back. Recurrences double the time, up to six hours; a ticket has its own. */
export function canReopen(incident: IncidentHead, settings: CorrelationSettings, now: EpochMs): boolean {
  if (incident.state !== 'resolved' || isHeld(incident) || typeof incident.mergedInto === 'number') return false;
  return now <= reopenableUntil(incident, settings);
}

export function reopenableUntil(incident: IncidentHead, settings: CorrelationSettings): EpochMs {
  const resolvedAt = incident.resolvedAt ?? incident.changedAt;
  if (incident.severity === 'ticket') return epochMs(resolvedAt + settings.reopenWithinTicket);
  const doubled = settings.reopenWithin * 2 ** Math.min(incident.episode - 1, 10);
  return epochMs(resolvedAt + Math.max(settings.reopenWithin, Math.min(doubled, REOPEN_LONGEST_MS)));
}
