import type { EpochMs } from '../base/units.ts';
import { type Alert, isFleetWide, type Place } from '../model/alert.ts';
import type { Incident } from '../model/incident.ts';
import { type Gathered, IncidentDraft } from './draft.ts';

/** The incidents of one tick, in the order of their ids, and which of them has an alert. */
export class Board {
  readonly gathered: Gathered = { changes: [], notifications: [] };
  readonly #drafts: IncidentDraft[] = [];
  readonly #holders = new Map<string, IncidentDraft>();
  /** Incidents by each place that a member lies in; made when an alert first asks. */
  #byPlace: Map<string, Set<IncidentDraft>> | null = null;
  readonly #now: EpochMs;

  /** `incidents` in the order of their ids. */
  constructor(incidents: Iterable<Incident>, now: EpochMs) {
    this.#now = now;
    for (const incident of incidents) this.add(incident);
  }

  add(incident: Incident): IncidentDraft {
    const draft = new IncidentDraft(incident, this.gathered, this.#now);
    this.#drafts.push(draft);
    for (const { alert } of incident.members) {
      const known = this.#holders.get(alert.key);
      if (known === undefined || claim(draft, alert) >= claim(known, alert)) this.#holders.set(alert.key, draft);
    }
    return draft;
  }

  drafts(): readonly IncidentDraft[] {
    return this.#drafts;
  }

  /** The incident that has the alert as a member. Of several: where it fires, else an open one, else the newest. */
  holderOf({ key }: Alert): IncidentDraft | undefined {
    return this.#holders.get(key);
  }

  put(draft: IncidentDraft, alert: Alert, reason: string): void {
    draft.putMember(alert, reason);
    this.#holders.set(alert.key, draft);
    if (this.#byPlace !== null) index(this.#byPlace, draft, alert);
  }

  /** Incidents with a member in one of these parts of `place`, or about the whole fleet, in the order of their ids. */
  near(place: Place, parts: Iterable<keyof Place>): readonly IncidentDraft[] {
    this.#byPlace ??= this.#indexed();
    const found = new Set<IncidentDraft>(this.#byPlace.get(FLEET));
    for (const part of parts) {
      for (const draft of this.#byPlace.get(placeKey(part, place[part])) ?? []) found.add(draft);
    }
    return [...found].sort((a, b) => a.incident.id - b.incident.id);
  }

  #indexed(): Map<string, Set<IncidentDraft>> {
    const byPlace = new Map<string, Set<IncidentDraft>>();
    for (const draft of this.#drafts) {
      for (const { alert } of draft.incident.members) index(byPlace, draft, alert);
    }
    return byPlace;
  }
}

const FLEET = 'fleet';

const placeKey = (part: string, value: string | undefined): string => (value === undefined ? '' : `${part} ${value}`);

function index(byPlace: Map<string, Set<IncidentDraft>>, draft: IncidentDraft, alert: Alert): void {
  const keys = Object.entries(alert.place).map(([part, value]) => placeKey(part, value));
  if (isFleetWide(alert)) keys.push(FLEET);
  for (const key of keys) {
    const known = byPlace.get(key);
    if (known === undefined) byPlace.set(key, new Set([draft]));
    else known.add(draft);
  }
}

function claim({ incident }: IncidentDraft, { key }: Alert): number {
  if (incident.members.some(({ alert, state }) => alert.key === key && state === 'firing')) return 2;
  return incident.state === 'resolved' ? 0 : 1;
}
