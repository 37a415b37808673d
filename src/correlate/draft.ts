import type { EpochMs } from '../base/units.ts';
import type { Alert, Severity } from '../model/alert.ts';
import {
  CLOSING,
  type Incident,
  type IncidentChange,
  type IncidentChangeKind,
  type IncidentHead,
  type IncidentMember,
  type Notification,
  type NotificationReason,
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
 * immutable for everyone else. Thousands of alerts may join one in a tick, so its list of members is made anew only
 * when somebody reads it.
 */
export class IncidentDraft {
  #incident: Incident;
  /** By the key of the alert, in the order in which they joined; null until one is asked for. */
  #members: Map<string, IncidentMember> | null = null;
  #isListOld = false;
  readonly #gathered: Gathered;
  readonly #now: EpochMs;

  constructor(incident: Incident, gathered: Gathered, now: EpochMs) {
    this.#incident = incident;
    this.#gathered = gathered;
    this.#now = now;
  }

  get incident(): Incident {
    if (this.#isListOld) {
      this.#incident = { ...this.#incident, members: [...this.#byKey().values()] };
      this.#isListOld = false;
    }
    return this.#incident;
  }

  /** All but the members, without the cost of their list. */
  get head(): IncidentHead {
    return this.#incident;
  }

  member(key: string): IncidentMember | undefined {
    return this.#byKey().get(key);
  }

  /** Changes fields; the same values leave the incident the same object, so that nothing is stored for nothing. */
  set(fields: Partial<IncidentHead>): void {
    const names = Object.keys(fields) as (keyof IncidentHead)[];
    if (names.some((name) => fields[name] !== this.#incident[name])) this.#incident = { ...this.#incident, ...fields };
  }

  /** Writes a line of the timeline; `fields` are what it changed. A held incident has no timeline until it opens. */
  record(change: IncidentChangeKind, reason: string, fields: Partial<IncidentHead> = {}, by = 'slowburn'): void {
    if (isHeld(this.#incident) && change !== 'opened') {
      this.set({ ...fields, changedAt: this.#now });
      return;
    }
    const seq = this.#incident.seq + 1;
    this.set({ ...fields, seq, changedAt: this.#now });
    const { id, episode } = this.#incident;
    const { members: _, ...after } = this.#incident;
    const members = this.#members?.size ?? this.#incident.members.length;
    this.#gathered.changes.push({ incident: id, episode, seq, at: this.#now, change, by, reason, after, members });
  }

  /** Decides to tell, and remembers what was said. */
  notify(reason: NotificationReason, why: string): void {
    const { incident } = this;
    const seq = incident.seq + 1;
    const { severity, tier } = saidOf(incident, reason);
    const isPage = severity === 'page' && !CLOSING.includes(reason);
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
    const known = this.member(alert.key);
    if (known === undefined) {
      this.#keep({ alert, state: 'firing', joinedAt: this.#now, resolvedAt: null, reason, heard: false });
      return;
    }
    const heard = known.state === 'resolved' ? { heard: false } : {};
    this.#keep({ ...known, alert, state: 'firing', resolvedAt: null, ...heard });
  }

  resolveMember(alert: Alert): void {
    const known = this.member(alert.key);
    if (known !== undefined) this.#keep({ ...known, alert, state: 'resolved', resolvedAt: this.#now });
  }

  /** The same members, some of them changed. */
  changeMembers(change: (member: IncidentMember) => IncidentMember): void {
    for (const member of [...this.#byKey().values()]) {
      const changed = change(member);
      if (changed !== member) this.#keep(changed);
    }
  }

  /** Takes over a member of another incident, as it stands there. */
  adopt(member: IncidentMember, reason: string): void {
    const known = this.member(member.alert.key);
    if (known !== undefined && (known.state === 'firing' || member.state !== 'firing')) return;
    this.#keep({ ...member, joinedAt: this.#now, reason });
  }

  /** Its alerts go on elsewhere. */
  moveAway(): void {
    for (const member of [...this.#byKey().values()]) this.#keep({ ...member, state: 'moved' });
  }

  #keep(member: IncidentMember): void {
    this.#byKey().set(member.alert.key, member);
    this.#isListOld = true;
  }

  #byKey(): Map<string, IncidentMember> {
    this.#members ??= new Map(this.#incident.members.map((member) => [member.alert.key, member]));
    return this.#members;
  }
}

/** Not opened yet: it has not met `openAfter` and `minAlerts`. Nobody is told, and it leaves no timeline. */
export const isHeld = ({ seq }: Pick<Incident, 'seq'>): boolean => seq === 0;

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
  if (isWhole || CLOSING.includes(reason)) return incident;
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
