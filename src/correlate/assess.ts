import { type EpochMs, epochMs } from '../base/units.ts';
import type { Alert } from '../model/alert.ts';
import type { Incident } from '../model/incident.ts';
import { domainsOf, firingAlerts, highestSeverity, type IncidentDraft } from './draft.ts';
import { causesOf } from './relation.ts';
import type { CorrelationSettings } from './settings.ts';
import { titleOf } from './title.ts';

/** The tier whose first holding pages again: what is gone within hours cannot wait for the first page to be read. */
const FASTEST_TIER = '6h';
const PAGED_LATELY_MS = 600_000;
const STILL_BURNING_MS = 900_000;
const STILL_BURNING_SPENT = 0.1;

const byStart = (a: Alert, b: Alert): number =>
  a.since - b.since || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/**
 * The likeliest cause: explained by the fewest others among those that fire (else among all), then the first to
 * fire.
 */
function leadOf(incident: Incident, settings: CorrelationSettings): Alert {
  const firing = firingAlerts(incident);
  const candidates = firing.length > 0 ? firing : incident.members.map(({ alert }) => alert);
  const names = new Set(candidates.map(({ name }) => name));
  const explained = (alert: Alert): number =>
    [...causesOf(alert.name, settings.causes)].filter((name) => names.has(name)).length;
  const [lead] = [...candidates].sort((a, b) => explained(a) - explained(b) || byStart(a, b));
  if (lead === undefined) throw new Error(`BUG: incident ${incident.id} has no member`);
  return lead;
}

/** The tier of the most urgent firing alert that has one: of pages before tickets, the one with the least time. */
function tierOf(firing: readonly Alert[]): string | null {
  const tiered = firing.filter(({ tier }) => tier !== null);
  const [first] = tiered.sort((a, b) => rank(a) - rank(b) || left(a) - left(b) || byStart(a, b));
  return first?.tier ?? null;
}
const rank = ({ severity }: Alert): number => (severity === 'page' ? 0 : 1);
const left = ({ burn }: Alert): number => burn?.exhaustion.until ?? Number.POSITIVE_INFINITY;

/** Brings lead, severity, tier and title up to date with the members, and writes down what that changed. */
export function reassess(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): void {
  const firing = firingAlerts(draft.incident);
  const lead = leadOf(draft.incident, settings);
  if (lead.key !== draft.incident.lead) {
    const fields = { lead: lead.key, title: titleOf(lead), runbook: lead.runbook };
    // Alerts of the tick that opened it came together: their lead is the first one, not another.
    if (draft.incident.openedAt === now) draft.set(fields);
    else draft.record('lead_changed', `${lead.name} is the likelier cause`, fields);
  }
  if (firing.length === 0) return;
  const severity = highestSeverity(firing);
  const tier = tierOf(firing);
  const before = draft.incident;
  if (severity === before.severity) {
    draft.set({ tier: tier ?? before.tier });
    return;
  }
  const kind = severity === 'page' ? 'escalated' : 'deescalated';
  const why =
    severity === 'page' ? `${lead.name} rose to page` : 'no page tier holds any more, a ticket tier still does';
  draft.record(kind, why, { severity, tier });
}

/** Says what has to be said now (design section 10: one incident, one page; what pages again). */
export function announce(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): void {
  const { incident } = draft;
  const firing = firingAlerts(incident);
  if (incident.state === 'resolved' || firing.length === 0) return;
  const { announced } = incident;
  if (announced.severity === null) {
    const isDue = now - incident.openedAt >= settings.openAfter && incident.members.length >= settings.minAlerts;
    if (isDue) draft.notify('opened', 'first alert of a new incident');
    return;
  }
  if (incident.severity === 'page' && announced.severity !== 'page') {
    draft.set({ snoozedUntil: null });
    draft.notify('escalated', 'it rose to page');
    return;
  }
  if (incident.severity === 'ticket' && announced.severity === 'page') {
    if (announced.episode === incident.episode) draft.notify('deescalated', 'no page tier holds any more');
    return;
  }
  if (incident.severity === 'page') announcePage(draft, firing, now);
}

/** A page that goes on: again only for the fastest tier, a new failure domain, or a reopening that still burns. */
function announcePage(draft: IncidentDraft, firing: readonly Alert[], now: EpochMs): void {
  const { incident } = draft;
  const { announced } = incident;
  const holdsFastest = firing.some(
    ({ severity, tiersHolding }) => severity === 'page' && tiersHolding.includes(FASTEST_TIER),
  );
  if (holdsFastest && !announced.tiers.includes(FASTEST_TIER)) {
    const pagedLately = announced.lastPageAt !== null && now - announced.lastPageAt < PAGED_LATELY_MS;
    if (!pagedLately) {
      draft.set({ snoozedUntil: null });
      draft.notify('escalated', `the budget would now be gone within ${FASTEST_TIER}`);
      return;
    }
    draft.set({ announced: { ...announced, tiers: [...announced.tiers, FASTEST_TIER] } });
  }
  if (incident.snoozedUntil !== null) return;
  const reached = firing.flatMap(domainsOf).filter((domain) => !announced.domains.includes(domain));
  if (reached.length > 0 && announced.episode === incident.episode) {
    draft.notify('new_failure_domain', `it reached ${[...new Set(reached)].join(' and ')}`);
    return;
  }
  const isReopened = incident.episode > 1 && !announced.stillBurning && announced.episode < incident.episode;
  const spent = Math.max(0, ...firing.map(({ burn }) => burn?.spentSince ?? 0));
  if (isReopened && (now - incident.episodeAt >= STILL_BURNING_MS || spent >= STILL_BURNING_SPENT)) {
    draft.notify('still_burning', 'it came back and has not gone away since');
  }
}

/** Ends snoozes and acknowledgements whose time is over, and resolves what has been quiet long enough. */
export function advance(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): void {
  const { incident } = draft;
  const firing = firingAlerts(incident);
  const isPaging = highestSeverity(firing) === 'page' && firing.length > 0;
  if (incident.snoozedUntil !== null && incident.snoozedUntil <= now) {
    draft.set({ snoozedUntil: null });
    if (isPaging) draft.notify('unmuted', 'the snooze ended while it still pages');
  }
  const lapsesAt = incident.acknowledgement?.lapsesAt ?? null;
  if (incident.state === 'acknowledged' && lapsesAt !== null && lapsesAt <= now && isPaging) {
    const by = incident.acknowledgement?.by ?? 'somebody';
    draft.record('ack_lapsed', `acknowledged by ${by}, nobody acted since`, { state: 'open', acknowledgement: null });
    draft.notify('ack_lapsed', `the acknowledgement of ${by} lapsed while it still pages`);
  }
  if (firing.length > 0) {
    draft.set({ quietSince: null });
    return;
  }
  const quietSince = incident.quietSince ?? now;
  draft.set({ quietSince });
  if (now - quietSince >= settings.resolveHold) close(draft, now, 'all alerts have resolved and stayed so', 'slowburn');
}

/** Resolves an incident and closes what was said of this episode, once. */
export function close(draft: IncidentDraft, now: EpochMs, reason: string, by: string): void {
  draft.record(
    'resolved',
    reason,
    { state: 'resolved', resolvedAt: now, acknowledgement: null, snoozedUntil: null },
    by,
  );
  const { announced, episode } = draft.incident;
  if (announced.severity !== null && announced.episode === episode) draft.notify('resolved', reason);
}

/** How long a resolved incident can reopen; recurrences double the time, up to six hours. */
export function reopenableUntil(incident: Incident, settings: CorrelationSettings): EpochMs {
  const resolvedAt = incident.resolvedAt ?? incident.changedAt;
  if (incident.severity === 'ticket') return epochMs(resolvedAt + settings.reopenWithinTicket);
  const doubled = settings.reopenWithin * 2 ** Math.min(incident.episode - 1, 10);
  return epochMs(resolvedAt + Math.max(settings.reopenWithin, Math.min(doubled, 6 * 3_600_000)));
}
