import type { EpochMs } from '../base/units.ts';
import { type Alert, isFleetWide } from '../model/alert.ts';
import type { ApartBook } from './apart.ts';
import type { Board, Candidate } from './board.ts';
import type { IncidentDraft } from './draft.ts';
import { canReopen } from './lifecycle.ts';
import { byPrecedence, mergeInto } from './merge.ts';
import { isExplainedCloser, leastSpan, reachOf, relationOf } from './relation.ts';
import type { CorrelationSettings } from './settings.ts';
import { beganSince, markStorm, type Storm } from './storm.ts';

/** The incident that an alert belongs to, and why. */
export interface Placement {
  readonly draft: IncidentDraft;
  readonly reason: string;
}

/** What is asked in all of these: which incidents there are, by which rules, and when. */
export interface Scene {
  readonly board: Board;
  readonly settings: CorrelationSettings;
  /** What people have told apart. */
  readonly apart: ApartBook;
  readonly now: EpochMs;
}

/**
 * The incident that an alert belongs to: the page that it comes back to; the open one that it relates to most nearly;
 * the ticket that it comes back to; the resolved one that it relates to most nearly. What a person resolved comes back
 * with its own alerts only: another one would come without a word. What befalls the whole fleet makes one of all that
 * it explains and that began with it.
 */
export function placementOf(alert: Alert, own: IncidentDraft | undefined, scene: Scene): Placement | null {
  const { board, settings, now } = scene;
  const isReopenable = ({ draft }: { draft: IncidentDraft }): boolean => canReopen(draft.head, settings, now);
  const back = own !== undefined && isReopenable({ draft: own }) ? comingBack(alert, own) : null;
  if (back !== null && back.draft.head.severity === 'page') return back;
  const reach = reachOf(alert, settings);
  const all = reach === null ? board.everything() : board.near(alert.place, reach);
  const near = all.filter(({ draft }) => !isApart(alert, draft, scene.apart));
  const open = near.filter(isOpen);
  return (
    (isFleetWide(alert) ? gathered(alert, open, scene) : null) ??
    related(alert, open, settings) ??
    back ??
    related(
      alert,
      near.filter((one) => isReopenable(one) && isLeftToAlerts(one)),
      settings,
    )
  );
}

/**
 * Where a storm goes: the incidents that others of it opened become one, together with a storm that explains it or the
 * like; else one of it that comes back to its incident says where. Null = it opens one of its own.
 */
export function settleStorm(storm: Storm, scene: Scene): IncidentDraft | null {
  if (storm.isSettled) return storm.host;
  storm.isSettled = true;
  const { board, settings, now } = scene;
  const since = storm.firstAt - settings.storm.within;
  const found = new Set<IncidentDraft>();
  for (const holder of storm.holders) {
    const draft = board.living(holder);
    if (draft.head.state === 'resolved') continue;
    if (draft.head.storm || beganSince(draft.incident, since)) found.add(draft);
  }
  const cause = relatedStorm(storm, scene);
  if (cause !== null) found.add(cause);
  const [host, ...others] = [...found].sort(byPrecedence);
  if (host === undefined) {
    storm.host = oldestComingBack(storm, scene);
    return storm.host;
  }
  for (const other of others) mergeInto(host, other, { why: storm.why, by: 'slowburn' }, board, now);
  markStorm(host, storm);
  storm.host = host;
  return host;
}

/** Why one of a storm goes there: what explains it, else that it came with the others. */
export function stormPlacement(alert: Alert, host: IncidentDraft, storm: Storm, { board, settings }: Scene): Placement {
  const reach = reachOf(alert, settings);
  const near = reach === null ? [] : board.near(alert.place, reach);
  const found = related(
    alert,
    near.filter(({ draft }) => draft === host),
    settings,
  );
  return found ?? { draft: host, reason: storm.why };
}

/** A person has told it apart from something that is in there. */
const isApart = (alert: Alert, { incident }: IncidentDraft, apart: ApartBook): boolean =>
  !apart.isEmpty && incident.members.some((member) => member.state !== 'moved' && apart.has(alert, member.alert));

const isOpen = ({ draft }: Candidate): boolean => draft.head.state !== 'resolved';

const isLeftToAlerts = ({ draft }: Candidate): boolean => (draft.head.resolvedBy ?? null) === null;

const comingBack = ({ name }: Alert, draft: IncidentDraft): Placement => ({ draft, reason: `${name} fires again` });

/** The candidate to which the alert relates most nearly, the first of several. */
function related(alert: Alert, candidates: readonly Candidate[], settings: CorrelationSettings): Placement | null {
  const least = leastSpan(alert, settings);
  let nearest: { readonly placement: Placement; readonly span: number } | null = null;
  for (const { draft, members } of candidates) {
    for (const member of members()) {
      const relation = member.state === 'moved' ? null : relationOf(alert, member, settings);
      if (relation === null || (nearest !== null && nearest.span <= relation.span)) continue;
      if (isExplainedCloser(member, draft.incident, relation, settings)) continue;
      nearest = { placement: { draft, reason: relation.reason }, span: relation.span };
      if (relation.span <= least) return nearest.placement;
    }
  }
  return nearest?.placement ?? null;
}

/** An alert of the whole fleet joins those that it relates to and that began with it, which become one. */
function gathered(alert: Alert, open: readonly Candidate[], { board, settings, now }: Scene): Placement | null {
  const since = alert.since - settings.storm.within;
  const found = open
    .filter(({ draft }) => beganSince(draft.incident, since))
    .flatMap((candidate) => related(alert, [candidate], settings) ?? [])
    .sort((a, b) => byPrecedence(a.draft, b.draft));
  const [host, ...others] = found;
  if (host === undefined) return null;
  for (const { draft, reason } of others) mergeInto(host.draft, draft, { why: reason, by: 'slowburn' }, board, now);
  return host;
}

/** An open incident that one of the storm relates to whatever its cluster, or that is a storm itself. */
function relatedStorm(storm: Storm, { board, settings }: Scene): IncidentDraft | null {
  const [first] = storm.starting;
  if (first === undefined) return null;
  const reach = reachOf(first, settings);
  const anywhere = reach === null ? [] : board.near({}, reach).filter(isOpen);
  const everywhere = related({ ...first, place: {} }, anywhere, settings);
  if (everywhere !== null) return everywhere.draft;
  for (const alert of storm.starting) {
    const near = reach === null ? [] : board.near(alert.place, reach);
    const storms = near.filter((one) => isOpen(one) && one.draft.head.storm);
    const found = related(alert, storms, settings);
    if (found !== null) return found.draft;
  }
  return null;
}

function oldestComingBack({ starting }: Storm, { board, settings, now }: Scene): IncidentDraft | null {
  const own = starting.map((alert) => board.holderOf(alert)).filter((draft) => draft !== undefined);
  const [oldest] = [...new Set(own)]
    .filter(({ head }) => canReopen(head, settings, now))
    .sort((a, b) => a.head.id - b.head.id);
  return oldest ?? null;
}
