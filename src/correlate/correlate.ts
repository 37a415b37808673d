import type { EpochMs } from '../base/units.ts';
import { type Alert, type AlertChange, NO_DATA } from '../model/alert.ts';
import type { Incident, IncidentAction } from '../model/incident.ts';
import { applyAction } from './actions.ts';
import { announce } from './announce.ts';
import { reassess } from './assess.ts';
import { Board } from './board.ts';
import type { ActionResult, CorrelationResult, Correlator } from './correlator.ts';
import { firingAlerts, type IncidentDraft, isHeld } from './draft.ts';
import { LeadHistory } from './lead-history.ts';
import { advance, canReopen, openWhenDue, reopen } from './lifecycle.ts';
import { type MuteSource, NOTHING_MUTED } from './mute.ts';
import { applyMutes } from './muting.ts';
import { inOrder } from './order.ts';
import { relatingParts, relationOf } from './relation.ts';
import type { CorrelationSettings } from './settings.ts';
import { titleOf } from './title.ts';

/** A correlator with no incidents. Deterministic: the same changes of a tick in any order give the same result. */
export function createCorrelator(settings: CorrelationSettings): Correlator {
  return new IncidentCorrelator(settings);
}

interface Host {
  readonly draft: IncidentDraft;
  readonly reason: string;
}

class IncidentCorrelator implements Correlator {
  readonly #settings: CorrelationSettings;
  /** In the order of their ids. */
  readonly #held = new Map<number, Incident>();
  #leads = new LeadHistory();
  #nextId = 1;

  constructor(settings: CorrelationSettings) {
    this.#settings = settings;
  }

  restore(incidents: readonly Incident[], nextIncidentId: number): void {
    this.#held.clear();
    this.#leads = new LeadHistory();
    for (const incident of [...incidents].sort((a, b) => a.id - b.id)) {
      this.#held.set(incident.id, incident);
      this.#leads.note(incident);
    }
    this.#nextId = nextIncidentId;
  }

  incidents(): readonly Incident[] {
    return [...this.#held.values()];
  }

  correlate(changes: readonly AlertChange[], now: EpochMs, mutesOf: MuteSource = NOTHING_MUTED): CorrelationResult {
    const board = new Board(this.#held.values(), now);
    for (const ofOneAlert of inOrder(changes)) {
      if (isBlip(ofOneAlert, board)) continue;
      for (const change of ofOneAlert) this.#apply(change, board, now);
    }
    for (const draft of board.drafts()) {
      if (draft.incident.state === 'resolved') continue;
      const isNew = isHeld(draft.incident) || !this.#held.has(draft.incident.id);
      openWhenDue(draft, this.#settings, now);
      reassess(draft, this.#settings, now);
      if (isNew) draft.set({ previous: this.#leads.lastOf(draft.incident.lead) });
      const unmuted = applyMutes(draft, mutesOf);
      const due = advance(draft, this.#settings, now);
      announce(draft, this.#settings, now, due, unmuted);
    }
    return this.#take(board, now);
  }

  act(target: number | 'newest_open', action: IncidentAction, now: EpochMs): ActionResult {
    const id = target === 'newest_open' ? this.#newestOpen() : target;
    const incident = id === null ? undefined : this.#held.get(id);
    if (incident === undefined) return this.#unheld(id);
    const board = new Board([], now);
    const conflict = applyAction(board.add(incident), action, this.#settings, now);
    if (conflict !== null) return { kind: 'conflict', message: conflict };
    return { kind: 'done', result: this.#take(board, now) };
  }

  /** An incident that has been is not unknown, it is over. */
  #unheld(id: number | null): ActionResult {
    if (id === null || !Number.isInteger(id) || id < 1 || id >= this.#nextId) return { kind: 'not_found' };
    return { kind: 'conflict', message: `incident ${id} was resolved too long ago to change` };
  }

  #newestOpen(): number | null {
    const open = [...this.#held.values()].filter((incident) => incident.state !== 'resolved' && !isHeld(incident));
    return open.at(-1)?.id ?? null;
  }

  #take(board: Board, now: EpochMs): CorrelationResult {
    const touched: Incident[] = [];
    for (const { incident } of board.drafts()) {
      if (this.#held.get(incident.id) !== incident) touched.push(incident);
      if (this.#isKept(incident, now)) this.#held.set(incident.id, incident);
      else this.#held.delete(incident.id);
      if (!isHeld(incident)) this.#leads.note(incident);
    }
    return { incidents: touched, ...board.gathered };
  }

  /** What can still change: not resolved, able to reopen, or resolved by hand while an alert of it goes on firing. */
  #isKept(incident: Incident, now: EpochMs): boolean {
    if (incident.state !== 'resolved' || canReopen(incident, this.#settings, now)) return true;
    return !isHeld(incident) && firingAlerts(incident).length > 0;
  }

  #apply(change: AlertChange, board: Board, now: EpochMs): void {
    const { alert } = change;
    const holder = board.holderOf(alert);
    if (change.kind === 'resolved') {
      // A stray resolve opens nothing.
      if (holder !== undefined) resolveIn(holder, alert, change.reason);
      return;
    }
    const known = holder === undefined ? undefined : firingMember(holder, alert);
    if (holder !== undefined && holder.incident.state !== 'resolved') {
      board.put(holder, alert, 'first alert');
      if (known === undefined) holder.record('joined', `${alert.name} fires again`);
      else noteTelemetry(holder, known, alert);
      return;
    }
    if (change.kind === 'updated' && known === undefined) return;
    // Resolved by hand while it fired: only its end, a new start or a rise counts.
    if (holder !== undefined && known !== undefined) {
      if (known.since === alert.since && !isRise(known, alert)) {
        board.put(holder, alert, 'first alert');
        return;
      }
      holder.resolveMember(known);
    }
    this.#place(alert, holder, board, now);
  }

  #place(alert: Alert, own: IncidentDraft | undefined, board: Board, now: EpochMs): void {
    const host = this.#hostFor(alert, own, board, now);
    if (host === null) {
      this.#open(alert, board, now);
      return;
    }
    const { draft, reason } = host;
    if (draft.incident.state === 'resolved') reopen(draft, now, reason, 'slowburn');
    board.put(draft, alert, reason);
    draft.record('joined', reason);
  }

  /**
   * The incident that an alert belongs to: the page that it comes back to; the oldest open one that it relates to; the
   * ticket that it comes back to; the oldest resolved one that it relates to. What a person resolved comes back with
   * its own alerts only: another one would come without a word.
   */
  #hostFor(alert: Alert, own: IncidentDraft | undefined, board: Board, now: EpochMs): Host | null {
    const isReopenable = ({ incident }: IncidentDraft): boolean => canReopen(incident, this.#settings, now);
    const back = own !== undefined && isReopenable(own) ? { draft: own, reason: `${alert.name} fires again` } : null;
    if (back !== null && back.draft.incident.severity === 'page') return back;
    const parts = relatingParts(alert, this.#settings);
    const near = parts === null ? board.drafts() : board.near(alert.place, parts);
    const open = near.filter(({ incident }) => incident.state !== 'resolved');
    const over = near.filter((draft) => isReopenable(draft) && (draft.incident.resolvedBy ?? null) === null);
    return this.#related(alert, open) ?? back ?? this.#related(alert, over);
  }

  #related(alert: Alert, candidates: readonly IncidentDraft[]): Host | null {
    for (const draft of candidates) {
      for (const member of draft.incident.members) {
        const reason = relationOf(alert, member, this.#settings);
        if (reason !== null) return { draft, reason };
      }
    }
    return null;
  }

  #open(alert: Alert, board: Board, now: EpochMs): void {
    const draft = board.add({
      id: this.#nextId++,
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
      previous: null,
      announced: { severity: null, lastPageAt: null, tiers: [], domains: [], episode: 0, stillBurning: false },
    });
    board.put(draft, alert, 'first alert');
    openWhenDue(draft, this.#settings, now);
  }
}

const firingMember = ({ incident }: IncidentDraft, { key }: Alert): Alert | undefined =>
  incident.members.find((member) => member.state === 'firing' && member.alert.key === key)?.alert;

/** Came and went between two ticks, and nobody knows it: no incident. */
function isBlip(ofOneAlert: readonly AlertChange[], board: Board): boolean {
  const last = ofOneAlert.at(-1);
  return last?.kind === 'resolved' && board.holderOf(last.alert) === undefined;
}

const lossOf = (alert: Alert): string | undefined => alert.evidence.find(({ name }) => name === NO_DATA)?.text;

/** Writes down that the telemetry of an alert's subject was lost, or came back. */
function noteTelemetry(draft: IncidentDraft, before: Alert, after: Alert): void {
  const loss = lossOf(after);
  if ((loss === undefined) === (lossOf(before) === undefined)) return;
  draft.record('note', loss === undefined ? `${after.name}: data again` : `${after.name}: ${loss}; it is held open`);
}

const isRise = (before: Alert, after: Alert): boolean => before.severity === 'ticket' && after.severity === 'page';

function resolveIn(draft: IncidentDraft, alert: Alert, reason: string): void {
  if (firingMember(draft, alert) === undefined) return;
  draft.resolveMember(alert);
  if (draft.incident.state !== 'resolved') draft.record('left', `${alert.name} ${reason}`);
}
