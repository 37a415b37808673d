import type { EpochMs } from '../base/units.ts';
import { type Alert, isFleetWide, type Place } from '../model/alert.ts';
import type { Incident, IncidentMember } from '../model/incident.ts';
import { type Gathered, IncidentDraft } from './draft.ts';

/** Through what an alert can relate to a member of an incident: a part of its place, or the member's kind. */
export interface Reach {
  readonly parts: ReadonlySet<keyof Place>;
  readonly kinds: ReadonlySet<string>;
}

/** An incident, and those of its members that are worth a look. */
export interface Candidate {
  readonly draft: IncidentDraft;
  readonly members: () => Iterable<IncidentMember>;
}

/** Keys of members by incident. */
type Entries = Map<IncidentDraft, Set<string>>;

/** The incidents of one tick, in the order of their ids, and which of them has an alert. */
export class Board {
  readonly gathered: Gathered = { changes: [], notifications: [] };
  readonly #drafts = new Map<number, IncidentDraft>();
  readonly #holders = new Map<string, IncidentDraft>();
  /** By each place that a member lies in, and by its kind; made when an alert first asks. */
  #index: Map<string, Entries> | null = null;
  readonly #now: EpochMs;

  /** `incidents` in the order of their ids. */
  constructor(incidents: Iterable<Incident>, now: EpochMs) {
    this.#now = now;
    for (const incident of incidents) this.add(incident);
  }

  add(incident: Incident): IncidentDraft {
    const draft = new IncidentDraft(incident, this.gathered, this.#now);
    this.#drafts.set(incident.id, draft);
    for (const { alert, state } of incident.members) {
      // What goes on elsewhere is not here, also once that is forgotten.
      if (state === 'moved') continue;
      const known = this.#holders.get(alert.key);
      if (known === undefined || claim(draft, alert) >= claim(known, alert)) this.#holders.set(alert.key, draft);
    }
    return draft;
  }

  drafts(): Iterable<IncidentDraft> {
    return this.#drafts.values();
  }

  /** Where the alerts of an incident go on: itself, or what it was merged into. */
  living(draft: IncidentDraft): IncidentDraft {
    const { mergedInto } = draft.head;
    const next = typeof mergedInto === 'number' ? this.#drafts.get(mergedInto) : undefined;
    return next === undefined ? draft : this.living(next);
  }

  /** The incident that has the alert as a member. Of several: where it fires, else an open one, else the newest. */
  holderOf({ key }: Alert): IncidentDraft | undefined {
    return this.#holders.get(key);
  }

  put(draft: IncidentDraft, alert: Alert, reason: string): void {
    draft.putMember(alert, reason);
    this.#hold(draft, alert);
  }

  /** Moves a member of another incident here, as it stands there. */
  adopt(draft: IncidentDraft, member: IncidentMember, reason: string): void {
    draft.adopt(member, reason);
    this.#hold(draft, member.alert);
  }

  /** Incidents with a member within reach, or about the whole fleet, in the order of their ids. */
  near(place: Place, { parts, kinds }: Reach): readonly Candidate[] {
    const keys = [FLEET, ...[...kinds].map(kindKey)];
    for (const part of parts) {
      const value = place[part];
      if (value !== undefined) keys.push(placeKey(part, value));
    }
    const found = new Map<IncidentDraft, ReadonlySet<string>[]>();
    for (const key of keys) {
      for (const [draft, members] of this.#indexed().get(key) ?? []) {
        const known = found.get(draft);
        if (known === undefined) found.set(draft, [members]);
        else known.push(members);
      }
    }
    return [...found]
      .sort(([a], [b]) => a.head.id - b.head.id)
      .map(([draft, sets]) => ({ draft, members: () => membersOf(draft, sets) }));
  }

  everything(): readonly Candidate[] {
    return [...this.#drafts.values()].map((draft) => ({ draft, members: () => draft.incident.members }));
  }

  /** Every member of that kind, by incident. */
  ofKind(name: string): readonly Candidate[] {
    const found = this.#indexed().get(kindKey(name)) ?? [];
    return [...found].map(([draft, keys]) => ({ draft, members: () => membersOf(draft, [keys]) }));
  }

  #hold(draft: IncidentDraft, alert: Alert): void {
    this.#holders.set(alert.key, draft);
    if (this.#index !== null) index(this.#index, draft, alert);
  }

  #indexed(): Map<string, Entries> {
    if (this.#index !== null) return this.#index;
    const made = new Map<string, Entries>();
    for (const draft of this.#drafts.values()) {
      for (const { alert } of draft.incident.members) index(made, draft, alert);
    }
    this.#index = made;
    return made;
  }
}

const FLEET = 'fleet';
const kindKey = (name: string): string => `kind ${name}`;
const placeKey = (part: string, value: string): string => `in ${part} ${value}`;

function index(entries: Map<string, Entries>, draft: IncidentDraft, alert: Alert): void {
  const keys = Object.entries(alert.place).map(([part, value]) => placeKey(part, value));
  keys.push(kindKey(alert.name));
  if (isFleetWide(alert)) keys.push(FLEET);
  for (const key of keys) {
    const byDraft = entries.get(key) ?? new Map<IncidentDraft, Set<string>>();
    entries.set(key, byDraft);
    const members = byDraft.get(draft);
    if (members === undefined) byDraft.set(draft, new Set([alert.key]));
    else members.add(alert.key);
  }
}

function* membersOf(draft: IncidentDraft, sets: readonly ReadonlySet<string>[]): Generator<IncidentMember> {
  for (const keys of sets) {
    for (const key of keys) {
      const member = draft.member(key);
      if (member !== undefined) yield member;
    }
  }
}

function claim(draft: IncidentDraft, { key }: Alert): number {
  if (draft.member(key)?.state === 'firing') return 2;
  return draft.head.state === 'resolved' ? 0 : 1;
}
