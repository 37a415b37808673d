import type { EpochMs } from '../base/units.ts';
import type { Alert } from '../model/alert.ts';
import type { Incident } from '../model/incident.ts';
import { newDomainsOf } from './domains.ts';
import { audibleAlerts, firingAlerts, highestSeverity, type IncidentDraft, isHeld } from './draft.ts';
import type { Due } from './lifecycle.ts';
import { oweNews, type Unmuted } from './muting.ts';
import type { CorrelationSettings } from './settings.ts';

/** The tier whose first holding pages again: what is gone within hours cannot wait for the first page to be read. */
const FASTEST_TIER = '6h';
const PAGED_LATELY_MS = 600_000;
const STILL_BURNING_MS = 900_000;
const STILL_BURNING_SPENT = 0.1;

/**
 * Says what has to be said now, at most one thing in a tick (design section 10: one incident, one page; what pages
 * again). It is decided from what is audible; that a page has fallen is said all the same, as it closes something.
 */
export function announce(
  draft: IncidentDraft,
  settings: CorrelationSettings,
  now: EpochMs,
  due: Due,
  unmuted: Unmuted | null = null,
): void {
  const { incident } = draft;
  const { announced } = incident;
  if (incident.state === 'resolved' || firingAlerts(incident).length === 0 || isHeld(incident)) return;
  const audible = audibleAlerts(incident);
  const pages = audible.length > 0 && highestSeverity(audible) === 'page';
  if ((due.unmuted || due.lapsed !== null) && !pages) oweNews(draft);
  const isFirst = announced.severity === null;
  if (isFirst && audible.length === 0) return;
  if (isFirst && unmuted === null) draft.notify('opened', 'first alert of a new incident');
  else if (pages && !isFirst) announcePage(draft, audible, { settings, now, due, unmuted });
  else if (unmuted?.isNew === true || (isFirst && unmuted !== null)) draft.notify('unmuted', endOf(unmuted));
  else if (incident.severity === 'ticket' && announced.severity === 'page') announceFall(draft, settings, now);
}

const endOf = ({ text }: Unmuted): string => `it goes on, and nothing mutes it any more: ${text} is over`;

/** A page that became a ticket. What ended a moment ago may be back in the next, so the fall is held that long. */
function announceFall(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): void {
  const { members, announced, episode } = draft.incident;
  const endedLately = members.some(
    ({ alert, resolvedAt }) =>
      alert.severity === 'page' && resolvedAt !== null && now - resolvedAt < settings.resolveHold,
  );
  if (endedLately) return;
  if (announced.episode === episode) draft.notify('deescalated', 'nothing that pages fires any more');
  // Nothing was said in this episode, so there is nothing to correct; a page from here on is a rise.
  else draft.set({ announced: { ...announced, severity: 'ticket' } });
}

interface Occasion {
  readonly settings: CorrelationSettings;
  readonly now: EpochMs;
  readonly due: Due;
  readonly unmuted: Unmuted | null;
}

function announcePage(draft: IncidentDraft, firing: readonly Alert[], occasion: Occasion): void {
  const { now, due, unmuted } = occasion;
  const rise = riseOf(draft, firing, now);
  if (rise !== null) {
    draft.set({ snoozedUntil: null });
    if (unmuted?.pages === true) draft.notify('unmuted', endOf(unmuted));
    else draft.notify('escalated', rise);
    return;
  }
  const { incident } = draft;
  if (incident.snoozedUntil !== null) return;
  const reached = domainsReached(draft, firing, occasion);
  if (unmuted !== null && (unmuted.pages || unmuted.isNew)) draft.notify('unmuted', endOf(unmuted));
  else if (due.unmuted) draft.notify('unmuted', 'the snooze ended while it still pages');
  else if (reached.size > 0) draft.notify('new_failure_domain', `it reached ${[...reached].join(' and ')}`);
  else if (due.lapsed !== null)
    draft.notify('ack_lapsed', `the acknowledgement of ${due.lapsed} lapsed while it still pages`);
  else if (incident.state === 'open' && isStillBurning(incident, firing, now))
    draft.notify('still_burning', 'it came back and has not gone away since');
}

/**
 * Failure domains that are news. A storm is everywhere: the next cluster is none. What follows a page within the time
 * of a storm is what it is about: zones of one budget cross a threshold some ticks apart.
 */
function domainsReached(
  draft: IncidentDraft,
  firing: readonly Alert[],
  { settings, now }: Occasion,
): ReadonlySet<string> {
  const { storm, announced } = draft.head;
  if (storm) return new Set();
  const reached = newDomainsOf(firing, announced.domains);
  const pagedNow = announced.lastPageAt !== null && now - announced.lastPageAt < settings.storm.within;
  if (!pagedNow || reached.size === 0) return reached;
  draft.set({ announced: { ...announced, domains: [...announced.domains, ...reached] } });
  return new Set();
}

/** Why it is worse than what was said: the one thing that breaks a snooze. Null when it is not. */
function riseOf(draft: IncidentDraft, firing: readonly Alert[], now: EpochMs): string | null {
  const { announced } = draft.incident;
  if (announced.severity !== 'page') return 'it rose to page';
  const holdsFastest = firing.some(
    ({ severity, tiersHolding }) => severity === 'page' && tiersHolding.includes(FASTEST_TIER),
  );
  if (!holdsFastest || announced.tiers.includes(FASTEST_TIER)) return null;
  const pagedLately = announced.lastPageAt !== null && now - announced.lastPageAt < PAGED_LATELY_MS;
  if (!pagedLately) return `the budget would now be gone within ${FASTEST_TIER}`;
  draft.set({ announced: { ...announced, tiers: [...announced.tiers, FASTEST_TIER] } });
  return null;
}

/** A reopening of which nothing was said: a page has held for a while, or has taken much of the budget. */
function isStillBurning(incident: Incident, firing: readonly Alert[], now: EpochMs): boolean {
  const { announced, episode, episodeAt } = incident;
  if (episode === 1 || announced.stillBurning || announced.episode >= episode) return false;
  const paging = firing.filter(({ severity }) => severity === 'page');
  const heldSince = Math.max(episodeAt, Math.min(...paging.map(({ since }) => since)));
  const spent = Math.max(0, ...paging.map(({ burn }) => burn?.spentSince ?? 0));
  return now - heldSince >= STILL_BURNING_MS || spent >= STILL_BURNING_SPENT;
}
