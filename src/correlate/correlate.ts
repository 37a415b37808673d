import type { EpochMs } from '../base/units.ts';
import { type Alert, type AlertChange, NO_DATA } from '../model/alert.ts';
import type { Incident, IncidentAction, IncidentMember } from '../model/incident.ts';
import { applyAction } from './actions.ts';
import { announce } from './announce.ts';
import { type Apart, ApartBook } from './apart.ts';
import { reassess } from './assess.ts';
import { Board } from './board.ts';
import { causesOf } from './causes.ts';
import type { ActionResult, CorrelationResult, Correlator, Surroundings } from './correlator.ts';
import { firingAlerts, type IncidentDraft, isHeld } from './draft.ts';
import { LeadHistory } from './lead-history.ts';
import { advance, canReopen, openWhenDue, reopen } from './lifecycle.ts';
import { mergeInto } from './merge.ts';
import { MergedAway } from './merged-away.ts';
import { NOTHING_MUTED } from './mute.ts';
import { applyMutes } from './muting.ts';
import { inOrder } from './order.ts';
import { type Placement, placementOf, type Scene, settleStorm, stormPlacement } from './placement.ts';
import type { CorrelationSettings } from './settings.ts';
import { splitOff } from './split.ts';
import { markStorm, type Storm, stormsOf } from './storm.ts';
import { titleOf } from './title.ts';

/** A correlator with no incidents. Deterministic: the same changes of a tick in any order give the same result. */
export function createCorrelator(settings: CorrelationSettings): Correlator {
  return new IncidentCorrelator(settings);
}

/** What one tick works on. */
interface Tick extends Scene {
  readonly storms: ReadonlyMap<string, Storm>;
}

type ActionOf<Kind extends IncidentAction['kind']> = Extract<IncidentAction, { readonly kind: Kind }>;

const DEPTHS_MAX = 1000;
const NOTHING_ELSE: Surroundings = { fleet: { clusters: () => [] }, mutesOf: NOTHING_MUTED };

class IncidentCorrelator implements Correlator {
  readonly #settings: CorrelationSettings;
  /** In the order of their ids. */
  readonly #held = new Map<number, Incident>();
  #leads = new LeadHistory();
  #merged = new MergedAway();
  readonly #apart = new ApartBook();
  readonly #depths = new Map<string, number>();
  #nextId = 1;

  constructor(settings: CorrelationSettings) {
    this.#settings = settings;
  }

  restore(incidents: readonly Incident[], nextIncidentId: number, apart: readonly Apart[] = []): void {
    this.#apart.restore(apart);
    this.#held.clear();
    this.#leads = new LeadHistory();
    this.#merged = new MergedAway();
    for (const incident of [...incidents].sort((a, b) => a.id - b.id)) {
      if (this.#merged.note(incident)) continue;
      this.#held.set(incident.id, incident);
      this.#leads.note(incident);
    }
    this.#nextId = nextIncidentId;
  }

  incidents(): readonly Incident[] {
    return [...this.#held.values()];
  }

  correlate(changes: readonly AlertChange[], now: EpochMs, { fleet, mutesOf } = NOTHING_ELSE): CorrelationResult {
    const board = new Board(this.#held.values(), now);
    const ordered = inOrder(changes, this.#depthOf).filter((ofOneAlert) => !isBlip(ofOneAlert, board));
    const storms = stormsOf(startingIn(ordered, board), board, this.#settings.storm, fleet);
    const tick: Tick = { board, settings: this.#settings, apart: this.#apart, now, storms };
    for (const ofOneAlert of ordered) {
      for (const change of ofOneAlert) this.#apply(change, tick);
    }
    for (const storm of storms.values()) settleStorm(storm, tick);
    for (const draft of board.drafts()) {
      if (draft.head.state === 'resolved') continue;
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
    if (action.kind === 'merge') return this.#merge(incident, action, now);
    if (action.kind === 'split') return this.#split(incident, action, now);
    const board = new Board([], now);
    const conflict = applyAction(board.add(incident), action, this.#settings, now);
    if (conflict !== null) return { kind: 'conflict', message: conflict };
    return { kind: 'done', result: this.#take(board, now) };
  }

  #merge(incident: Incident, { into, by, note }: ActionOf<'merge'>, now: EpochMs): ActionResult {
    const other = this.#held.get(into);
    if (other === undefined) {
      const unheld = this.#unheld(into);
      return unheld.kind === 'not_found' ? { kind: 'conflict', message: `there is no incident ${into}` } : unheld;
    }
    if (into === incident.id) return { kind: 'conflict', message: `incident ${into} cannot be merged into itself` };
    const closed = [incident, other].find((one) => one.state === 'resolved' || isHeld(one));
    if (closed !== undefined) return { kind: 'conflict', message: `incident ${closed.id} is not open` };
    const isNews = this.#apart.unlearn(alertsHere(incident), alertsHere(other));
    const board = new Board([], now);
    const [source, target] = [board.add(incident), board.add(other)];
    mergeInto(target, source, { why: note ?? `by ${by}`, by }, board, now);
    reassess(target, this.#settings, now);
    return { kind: 'done', result: this.#taught(this.#take(board, now), isNews) };
  }

  #split(incident: Incident, { alerts, by, note }: ActionOf<'split'>, now: EpochMs): ActionResult {
    const { id } = incident;
    const conflict = (message: string): ActionResult => ({ kind: 'conflict', message });
    if (incident.state === 'resolved' || isHeld(incident)) return conflict(`incident ${id} is not open`);
    const here = incident.members.filter(({ state }) => state !== 'moved');
    const gone = here.filter(({ alert }) => alerts.includes(alert.key));
    const stay = here.filter(({ alert }) => !alerts.includes(alert.key));
    const [first] = gone;
    if (first === undefined || gone.length < new Set(alerts).size)
      return conflict(`incident ${id} lacks such an alert`);
    if (stay.length === 0) return conflict(`incident ${id} would be empty: leave one alert in it`);
    const board = new Board([], now);
    const source = board.add(incident);
    const target = board.add(newIncident(this.#nextId++, first.alert, now));
    splitOff(source, target, gone, { why: note ?? `by ${by}`, by }, board, now);
    for (const draft of [source, target]) reassess(draft, this.#settings, now);
    const alertsOf = (members: readonly IncidentMember[]) => members.map(({ alert }) => alert);
    this.#apart.learn(alertsOf(gone), alertsOf(stay), now);
    return { kind: 'done', result: this.#taught(this.#take(board, now), true) };
  }

  #taught(result: CorrelationResult, isNews: boolean): CorrelationResult {
    return isNews ? { ...result, apart: this.#apart.list() } : result;
  }

  readonly #depthOf = (kind: string): number => {
    const known = this.#depths.get(kind);
    if (known !== undefined) return known;
    const depth = causesOf(kind, this.#settings.causes).size;
    // Kinds of alerts from elsewhere are without end.
    if (this.#depths.size < DEPTHS_MAX) this.#depths.set(kind, depth);
    return depth;
  };

  /** An incident that has been is not unknown, it is over. */
  #unheld(id: number | null): ActionResult {
    if (id === null || !Number.isInteger(id) || id < 1 || id >= this.#nextId) return { kind: 'not_found' };
    const into = this.#merged.into(id);
    if (into !== null) return { kind: 'conflict', message: `incident ${id} was merged into incident ${into}` };
    return { kind: 'conflict', message: `incident ${id} was resolved too long ago to change` };
  }

  #newestOpen(): number | null {
    const open = [...this.#held.values()].filter((incident) => incident.state !== 'resolved' && !isHeld(incident));
    return open.at(-1)?.id ?? null;
  }

  #take(board: Board, now: EpochMs): CorrelationResult {
    const touched: Incident[] = [];
    for (const { incident } of board.drafts()) {
      this.#merged.note(incident);
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

  #apply(change: AlertChange, tick: Tick): void {
    const { alert } = change;
    const { board } = tick;
    const holder = board.holderOf(alert);
    if (change.kind === 'resolved') {
      // A stray resolve opens nothing.
      if (holder !== undefined) resolveIn(holder, alert, change.reason);
      return;
    }
    const known = holder === undefined ? undefined : firingMember(holder, alert);
    if (holder !== undefined && holder.head.state !== 'resolved') {
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
    this.#place(alert, holder, tick);
  }

  #place(alert: Alert, own: IncidentDraft | undefined, tick: Tick): void {
    const { board, now } = tick;
    const storm = tick.storms.get(alert.key);
    const place = storm === undefined ? placementOf(alert, own, tick) : inStorm(alert, storm, tick);
    const draft = place?.draft ?? this.#open(alert, tick);
    if (place !== null) {
      if (draft.head.state === 'resolved') reopen(draft, now, place.reason, 'slowburn');
      board.put(draft, alert, place.reason);
      draft.record('joined', place.reason);
    }
    if (storm === undefined) return;
    storm.host = draft;
    markStorm(draft, storm);
  }

  #open(alert: Alert, { board, now }: Tick): IncidentDraft {
    const draft = board.add(newIncident(this.#nextId++, alert, now));
    board.put(draft, alert, 'first alert');
    openWhenDue(draft, this.#settings, now);
    return draft;
  }
}

/** One without members yet, not opened. */
function newIncident(id: number, alert: Alert, now: EpochMs): Incident {
  return {
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
    previous: null,
    announced: { severity: null, lastPageAt: null, tiers: [], domains: [], episode: 0, stillBurning: false },
    storm: null,
    mergedInto: null,
  };
}

const alertsHere = ({ members }: Incident): readonly Alert[] =>
  members.filter(({ state }) => state !== 'moved').map(({ alert }) => alert);

function firingMember(draft: IncidentDraft, { key }: Alert): Alert | undefined {
  const member = draft.member(key);
  return member?.state === 'firing' ? member.alert : undefined;
}

function inStorm(alert: Alert, storm: Storm, tick: Tick): Placement | null {
  const host = settleStorm(storm, tick);
  return host === null ? null : stormPlacement(alert, host, storm, tick);
}

/** Alerts that start to fire in this tick: no open incident has them firing. */
function startingIn(ordered: readonly (readonly AlertChange[])[], board: Board): readonly Alert[] {
  return ordered.flatMap((changes) => {
    const last = changes.at(-1);
    if (last === undefined || last.kind === 'resolved' || changes.every(({ kind }) => kind === 'updated')) return [];
    const holder = board.holderOf(last.alert);
    const isOpen = holder !== undefined && holder.head.state !== 'resolved';
    return isOpen && firingMember(holder, last.alert) !== undefined ? [] : [last.alert];
  });
}

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
  if (draft.head.state !== 'resolved') draft.record('left', `${alert.name} ${reason}`);
}
