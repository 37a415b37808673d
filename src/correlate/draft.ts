import type { EpochMs } from '../base/units.ts';
import type { Alert, Severity } from '../model/alert.ts';
import type {
  Incident,
  IncidentChange,
  IncidentChangeKind,
  IncidentMember,
  Notification,
  NotificationReason,
} from '../model/incident.ts';
import { domainsOf } from './domains.ts';
import { tierOf } from './tier.ts';

/** What one tick or action gathers over all incidents. */
export interface Gathered {
  readonly changes: IncidentChange[];
  readonly notifications: Notification[];
}

/**
 * One incident while a tick works on it. Every change is written down with its reason; the incident itself stays
 * immutable for everyone else.
 */
export class IncidentDraft {
  incident: Incident;
  readonly #gathered: Gathered;
  readonly #now: EpochMs;

  constructor(incident: Incident, gathered: Gathered, now: EpochMs) {
    this.incident = incident;
    this.#gathered = gathered;
    this.#now = now;
  }

  /** Changes fields; the same values leave the incident the same object, so that nothing is stored for nothing. */
  set(fields: Partial<Incident>): void {
    const names = Object.keys(fields) as (keyof Incident)[];
    if (names.some((name) => fields[name] !== this.incident[name])) this.incident = { ...this.incident, ...fields };
  }

  /** Writes a line of the timeline; `fields` are what it changed. A held incident has no timeline until it opens. */
  record(change: IncidentChangeKind, reason: string, fields: Partial<Incident> = {}, by = 'slowburn'): void {
    if (isHeld(this.incident) && change !== 'opened') {
      this.set({ ...fields, changedAt: this.#now });
      return;
    }
    const seq = this.incident.seq + 1;
    this.set({ ...fields, seq, changedAt: this.#now });
    const { id, episode } = this.incident;
    this.#gathered.changes.push({
      incident: id,
      episode,
      seq,
      at: this.#now,
      change,
      by,
      reason,
      after: this.incident,
    });
  }

  /** Decides to tell, and remembers what was said. */
  notify(reason: NotificationReason, why: string): void {
    const { incident } = this;
    const seq = incident.seq + 1;
    const { severity, tier } = saidOf(incident, reason);
    const isPage = severity === 'page' && reason !== 'resolved' && reason !== 'deescalated';
    const audible = audibleAlerts(incident);
    this.set({
      seq,
      announced: {
        severity: announcedSeverity(incident, reason, severity),
        lastPageAt: isPage ? this.#now : incident.announced.lastPageAt,
        tiers: union(
          incident.announced.tiers,
          audible.flatMap(({ tiersHolding }) => tiersHolding),
        ),
        domains: union(incident.announced.domains, audible.flatMap(domainsOf)),
        episode: incident.episode,
        stillBurning: incident.announced.stillBurning || reason === 'still_burning',
      },
    });
    this.#gathered.notifications.push({ incident: this.incident, seq, at: this.#now, reason, severity, tier, why });
  }

  /** Takes up an alert: as a new member, or as the newest figures of one. */
  putMember(alert: Alert, reason: string): void {
    const index = this.incident.members.findIndex((member) => member.alert.key === alert.key);
    const known = this.incident.members[index];
    const member: IncidentMember =
      known === undefined
        ? { alert, state: 'firing', joinedAt: this.#now, resolvedAt: null, reason, heard: false }
        : {
            ...known,
            alert,
            state: 'firing',
            resolvedAt: null,
            ...(known.state === 'resolved' ? { heard: false } : {}),
          };
    const members =
      known === undefined ? [...this.incident.members, member] : this.incident.members.with(index, member);
    this.set({ members });
  }

  resolveMember(alert: Alert): void {
    const members = this.incident.members.map(
      (member): IncidentMember =>
        member.alert.key === alert.key ? { ...member, alert, state: 'resolved', resolvedAt: this.#now } : member,
    );
    this.set({ members });
  }
}

/** Not opened yet: it has not met `openAfter` and `minAlerts`. Nobody is told, and it leaves no timeline. */
export const isHeld = ({ seq }: Incident): boolean => seq === 0;

export const firingAlerts = (incident: Incident): readonly Alert[] =>
  incident.members.filter(({ state }) => state === 'firing').map(({ alert }) => alert);

export const isMuted = ({ mutes = [] }: IncidentMember): boolean => mutes.length > 0;

/** Those that fire and that people may be told of: what is said of an incident is decided from them. */
export const audibleAlerts = (incident: Incident): readonly Alert[] =>
  incident.members.filter((member) => member.state === 'firing' && !isMuted(member)).map(({ alert }) => alert);

/** What a message says of the incident: what is audible of it. What closes speaks of all. */
function saidOf(incident: Incident, reason: NotificationReason): Pick<Notification, 'severity' | 'tier'> {
  const audible = audibleAlerts(incident);
  const isWhole = audible.length === firingAlerts(incident).length;
  if (isWhole || reason === 'resolved' || reason === 'deescalated') return incident;
  return { severity: highestSeverity(audible), tier: tierOf(audible) };
}

/** A page that is muted while a ticket is told of has not fallen. */
function announcedSeverity({ announced, episode }: Incident, reason: NotificationReason, said: Severity): Severity {
  const isPaged = announced.severity === 'page' && announced.episode === episode;
  return isPaged && reason === 'unmuted' ? 'page' : said;
}

export const highestSeverity = (alerts: readonly Alert[]): Severity =>
  alerts.some(({ severity }) => severity === 'page') ? 'page' : 'ticket';

const union = (a: readonly string[], b: readonly string[]): readonly string[] => [...new Set([...a, ...b])];
