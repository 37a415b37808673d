import { type EpochMs, epochMs } from '../base/units.ts';
import type { Alert, AlertChange } from '../model/alert.ts';
import type { Incident, IncidentAction } from '../model/incident.ts';
import { advance, announce, close, reassess, reopenableUntil } from './assess.ts';
import type { ActionResult, CorrelationResult, Correlator } from './correlator.ts';
import { firingAlerts, type Gathered, IncidentDraft } from './draft.ts';
import { relationOf } from './relation.ts';
import type { CorrelationSettings } from './settings.ts';
import { titleOf } from './title.ts';

/** Of so many leads the last incident is remembered. */
const LEADS_MAX = 10_000;

/** A correlator with no incidents. Deterministic: the same changes of a tick in any order give the same result. */
export function createCorrelator(settings: CorrelationSettings): Correlator {
  return new IncidentCorrelator(settings);
}

class IncidentCorrelator implements Correlator {
  readonly #settings: CorrelationSettings;
  readonly #held = new Map<number, Incident>();
  /** The newest incident that each lead had, also when it can no longer reopen. Oldest use first. */
  readonly #lastOfLead = new Map<string, number>();
  #nextId = 1;

  constructor(settings: CorrelationSettings) {
    this.#settings = settings;
  }

  restore(incidents: readonly Incident[], nextIncidentId: number): void {
    this.#held.clear();
    this.#lastOfLead.clear();
    for (const incident of [...incidents].sort((a, b) => a.id - b.id)) {
      this.#held.set(incident.id, incident);
      this.#rememberLead(incident);
    }
    this.#nextId = nextIncidentId;
  }

  incidents(): readonly Incident[] {
    return [...this.#held.values()];
  }

  correlate(changes: readonly AlertChange[], now: EpochMs): CorrelationResult {
    const gathered: Gathered = { changes: [], notifications: [] };
    const drafts = new Map<number, IncidentDraft>();
    for (const incident of this.#held.values()) drafts.set(incident.id, new IncidentDraft(incident, gathered, now));
    for (const change of inOrder(changes)) this.#apply(change, drafts, gathered, now);
    for (const draft of byId(drafts)) {
      if (draft.incident.state === 'resolved') continue;
      reassess(draft, this.#settings, now);
      if (!this.#held.has(draft.incident.id))
        draft.set({ previous: this.#lastOfLead.get(draft.incident.lead) ?? null });
      advance(draft, this.#settings, now);
      announce(draft, this.#settings, now);
    }
    return this.#take(drafts, gathered, now);
  }

  act(target: number | 'newest_open', action: IncidentAction, now: EpochMs): ActionResult {
    const id = target === 'newest_open' ? this.#newestOpen() : target;
    const incident = id === null ? undefined : this.#held.get(id);
    if (incident === undefined) return { kind: 'not_found' };
    const gathered: Gathered = { changes: [], notifications: [] };
    const draft = new IncidentDraft(incident, gathered, now);
    const conflict = applyAction(draft, action, this.#settings, now);
    if (conflict !== null) return { kind: 'conflict', message: conflict };
    return { kind: 'done', result: this.#take(new Map([[incident.id, draft]]), gathered, now) };
  }

  #newestOpen(): number | null {
    const open = [...this.#held.values()].filter(({ state }) => state !== 'resolved').map(({ id }) => id);
    return open.length === 0 ? null : Math.max(...open);
  }

  #take(drafts: ReadonlyMap<number, IncidentDraft>, gathered: Gathered, now: EpochMs): CorrelationResult {
    const touched: Incident[] = [];
    for (const { incident } of byId(drafts)) {
      if (this.#held.get(incident.id) !== incident) {
        touched.push(incident);
        this.#rememberLead(incident);
      }
      if (incident.state === 'resolved' && now > reopenableUntil(incident, this.#settings))
        this.#held.delete(incident.id);
      else this.#held.set(incident.id, incident);
    }
    return { incidents: touched, changes: gathered.changes, notifications: gathered.notifications };
  }

  #rememberLead({ id, lead }: Incident): void {
    const last = this.#lastOfLead.get(lead) ?? id;
    this.#lastOfLead.delete(lead);
    this.#lastOfLead.set(lead, Math.max(last, id));
    const [oldest] = this.#lastOfLead.keys();
    if (this.#lastOfLead.size > LEADS_MAX && oldest !== undefined) this.#lastOfLead.delete(oldest);
  }

  #apply(change: AlertChange, drafts: Map<number, IncidentDraft>, gathered: Gathered, now: EpochMs): void {
    const { alert } = change;
    const holder = byId(drafts).findLast(({ incident }) =>
      incident.members.some((member) => member.alert.key === alert.key),
    );
    if (change.kind === 'resolved') {
      // A stray resolve opens nothing.
      if (holder !== undefined) resolveIn(holder, alert, change.reason);
      return;
    }
    if (holder !== undefined && holder.incident.state !== 'resolved') {
      const wasFiring = firingAlerts(holder.incident).some(({ key }) => key === alert.key);
      holder.putMember(alert, 'first alert');
      if (!wasFiring) holder.record('joined', `${alert.name} fires again`);
      return;
    }
    if (change.kind === 'updated') return;
    const isMuted = holder?.incident.members.some(
      (member) => member.alert.key === alert.key && member.state === 'firing' && !isRise(member.alert, alert),
    );
    // Resolved by hand while it fired: only its end, a new start or a rise counts.
    if (isMuted === true) {
      holder?.putMember(alert, 'first alert');
      return;
    }
    const host = this.#hostFor(alert, drafts, holder, now);
    if (host === null) this.#open(alert, drafts, gathered, now);
    else join(host.draft, alert, host.reason, now);
  }

  /**
   * The incident that an alert belongs to: its own, reopened; the oldest open one that it relates to; a resolved one
   * likewise.
   */
  #hostFor(alert: Alert, drafts: Map<number, IncidentDraft>, own: IncidentDraft | undefined, now: EpochMs) {
    const canReopen = (draft: IncidentDraft): boolean =>
      draft.incident.state === 'resolved' && now <= reopenableUntil(draft.incident, this.#settings);
    if (own !== undefined && canReopen(own)) return { draft: own, reason: `${alert.name} fires again` };
    const all = byId(drafts);
    const candidates = [...all.filter(({ incident }) => incident.state !== 'resolved'), ...all.filter(canReopen)];
    for (const draft of candidates) {
      for (const member of draft.incident.members) {
        const reason = relationOf(alert, member, this.#settings);
        if (reason !== null) return { draft, reason };
      }
    }
    return null;
  }

  #open(alert: Alert, drafts: Map<number, IncidentDraft>, gathered: Gathered, now: EpochMs): void {
    const id = this.#nextId++;
    const incident: Incident = {
      id,
      episode: 1,
      seq: 0,
      state: 'open',
      severity: alert.severity,
      tier: alert.tier,
      title: titleOf(alert),
      lead: alert.key,
      members: [],
      openedAt: now,
      episodeAt: now,
      changedAt: now,
      quietSince: null,
      resolvedAt: null,
      acknowledgement: null,
      snoozedUntil: null,
      runbook: alert.runbook,
      previous: this.#lastOfLead.get(alert.key) ?? null,
      announced: { severity: null, lastPageAt: null, tiers: [], domains: [], episode: 0, stillBurning: false },
    };
    const draft = new IncidentDraft(incident, gathered, now);
    draft.putMember(alert, 'first alert');
    draft.record('opened', alert.summary);
    drafts.set(id, draft);
  }
}

const byId = (drafts: ReadonlyMap<number, IncidentDraft>): IncidentDraft[] =>
  [...drafts.values()].sort((a, b) => a.incident.id - b.incident.id);

const KINDS: readonly AlertChange['kind'][] = ['resolved', 'fired', 'changed', 'updated'];

/** Ends first, so that what fires again in the same tick is seen as firing again; then by start, name and key. */
function inOrder(changes: readonly AlertChange[]): readonly AlertChange[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const rank = ({ kind }: AlertChange): number => (kind === 'resolved' ? 0 : 1);
  return [...changes].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      a.alert.since - b.alert.since ||
      compare(a.alert.name, b.alert.name) ||
      compare(a.alert.key, b.alert.key) ||
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind),
  );
}

const isRise = (before: Alert, after: Alert): boolean => before.severity === 'ticket' && after.severity === 'page';

function resolveIn(draft: IncidentDraft, alert: Alert, reason: string): void {
  const wasFiring = firingAlerts(draft.incident).some(({ key }) => key === alert.key);
  if (!wasFiring) return;
  draft.resolveMember(alert);
  if (draft.incident.state !== 'resolved') draft.record('left', `${alert.name} ${reason}`);
}

/** What a new episode starts with: of what was said only the severity, the time and the places count on. */
const reopened = (incident: Incident, now: EpochMs): Partial<Incident> => ({
  state: 'open',
  episode: incident.episode + 1,
  episodeAt: now,
  resolvedAt: null,
  quietSince: null,
  announced: { ...incident.announced, stillBurning: false, tiers: [] },
});

function join(draft: IncidentDraft, alert: Alert, reason: string, now: EpochMs): void {
  if (draft.incident.state === 'resolved') {
    draft.record('reopened', reason, reopened(draft.incident, now));
  }
  draft.putMember(alert, reason);
  draft.record('joined', reason);
}

/** What a person did. Returns why it does not fit the incident's state, or null when it is done. */
function applyAction(
  draft: IncidentDraft,
  action: IncidentAction,
  settings: CorrelationSettings,
  now: EpochMs,
): string | null {
  const { incident } = draft;
  const { by } = action;
  const why = action.note ?? `by ${by}`;
  const isResolved = incident.state === 'resolved';
  switch (action.kind) {
    case 'acknowledge': {
      if (isResolved) return `incident ${incident.id} is resolved; reopen it if it is not over`;
      const lapsesAt = action.until ?? epochMs(now + settings.ackLapse);
      draft.record('acknowledged', why, { state: 'acknowledged', acknowledgement: { by, at: now, lapsesAt } }, by);
      return null;
    }
    case 'unacknowledge':
      if (incident.state !== 'acknowledged') return `incident ${incident.id} is not acknowledged`;
      draft.record('unacknowledged', why, { state: 'open', acknowledgement: null }, by);
      return null;
    case 'resolve':
      if (isResolved) return `incident ${incident.id} is resolved already`;
      close(draft, now, why, by);
      return null;
    case 'reopen':
      if (!isResolved) return `incident ${incident.id} is open`;
      draft.record('reopened', why, reopened(incident, now), by);
      return null;
    case 'snooze':
      if (isResolved) return `incident ${incident.id} is resolved`;
      draft.record('snoozed', why, { snoozedUntil: action.until }, by);
      return null;
    case 'note':
      draft.record('note', action.note, {}, by);
      return null;
  }
}
