import { formatInstant, parseInstant } from '../base/instant.ts';
import { DAY, type EpochMs, epochMs } from '../base/units.ts';
import type { MuteBook } from '../correlate/mute.ts';
import {
  asksForSomething,
  compileSilence,
  compileSilenceMatcher,
  expireSilence,
  type SilenceChange,
  setSilence,
  silenceState,
} from '../correlate/silence.ts';
import type { Alert } from '../model/alert.ts';
import { muteLabels, type Silence, type SilenceDraft, type SilenceMatcher } from '../model/mute.ts';
import type {
  Commands,
  Queries,
  SilenceOutcome,
  SilencePreviewView,
  SilenceRequest,
  SilenceView,
} from '../model/views.ts';
import type { SilenceStore } from '../store/silence-store.ts';
import type { IncidentStore } from '../store/store.ts';
import { createSilencePreview } from './silence-preview.ts';
import type { RunbookUrl } from './to-views.ts';

/** How long a silence is kept after its end. */
const KEPT_MS = 5 * DAY;
const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;

export interface SilencesDeps {
  readonly store: SilenceStore;
  /** What the evaluator asks; it hears of every change. */
  readonly book: MuteBook;
  readonly firing: () => readonly Alert[];
  readonly incidents: IncidentStore;
  readonly runbookUrl: RunbookUrl;
  readonly newId: () => string;
}

/** Both sides of silences. In force from the next tick on. */
export interface Silences {
  /** Active ones by their end, then pending ones by their start, then expired ones, newest first. */
  list(filter: Parameters<Queries['silences']>[0], now: EpochMs): readonly SilenceView[];
  one(id: string, now: EpochMs): SilenceView | null;
  set(request: SilenceRequest, now: EpochMs): SilenceOutcome;
  expire(id: string, now: EpochMs): ReturnType<Commands['expireSilence']>;
  preview(matchers: readonly SilenceMatcher[], now: EpochMs): SilencePreviewView | WrongField;
}

type WrongField = Extract<SilenceChange, { kind: 'bad_field' }>;

const wrong = (field: string, message: string): WrongField => ({ kind: 'bad_field', field, message });

/** Takes up what the store holds. */
export function createSilences(deps: SilencesDeps): Silences {
  const { store, book } = deps;
  const held = new Map(store.list().map((silence) => [silence.id, silence]));
  book.replaceSilences([...held.values()]);
  const preview = createSilencePreview(deps);

  const keep = (put: readonly Silence[], now: EpochMs): void => {
    const forgetBefore = epochMs(now - KEPT_MS);
    store.save(put, forgetBefore);
    for (const silence of put) held.set(silence.id, silence);
    for (const { id, endsAt } of held.values()) if (endsAt < forgetBefore) held.delete(id);
    book.replaceSilences([...held.values()]);
  };

  const viewOf = (silence: Silence, now: EpochMs): SilenceView => {
    const state = silenceState(silence, now);
    const { covers } = compileSilence(silence);
    const alerts = state === 'active' ? deps.firing().filter((alert) => covers(muteLabels(alert))).length : 0;
    return toSilenceView(silence, state, alerts);
  };
  const known = (id: string, now: EpochMs): Silence | undefined => {
    const silence = held.get(id);
    return silence === undefined || silence.endsAt < now - KEPT_MS ? undefined : silence;
  };

  return {
    list({ state }, now) {
      const found = [...held.keys()].flatMap((id) => known(id, now) ?? []);
      return found
        .map((silence) => viewOf(silence, now))
        .filter(({ status }) => state === null || status.state === state)
        .sort(inOrder);
    },
    one(id, now) {
      const silence = known(id, now);
      return silence === undefined ? null : viewOf(silence, now);
    },
    set(request, now) {
      const before = request.id === null ? null : (known(request.id, now) ?? undefined);
      if (before === undefined) return { kind: 'not_found' };
      const draft = readDraft(request, now);
      if ('kind' in draft) return draft;
      const change = setSilence(draft, before, now, deps.newId);
      if (change.kind === 'bad_field') return change;
      keep(change.put, now);
      const made = held.get(change.id);
      return made === undefined ? { kind: 'not_found' } : { kind: 'done', silence: viewOf(made, now) };
    },
    expire(id, now) {
      const silence = known(id, now);
      if (silence === undefined) return { kind: 'not_found' };
      if (silenceState(silence, now) === 'expired') {
        return { kind: 'conflict', message: `silence ${id} has expired already, at ${formatInstant(silence.endsAt)}` };
      }
      const ended = expireSilence(silence, now);
      keep([ended], now);
      return { kind: 'done', silence: viewOf(ended, now) };
    },
    preview(matchers, now) {
      return faultOf(matchers) ?? preview(matchers, now);
    },
  };
}

/** What of a request is no silence; null when all is well. */
function faultOf(matchers: readonly SilenceMatcher[]): WrongField | null {
  if (matchers.length === 0) return wrong('matchers', 'is empty; every alert is alertname=~".+"');
  const unnamed = matchers.find(({ name }) => !LABEL_NAME.test(name));
  if (unnamed !== undefined) return wrong('matchers', `names ${JSON.stringify(unnamed.name)}, which no label can be`);
  const compiled = matchers.map(compileSilenceMatcher);
  const bad = matchers[compiled.indexOf(null)];
  if (bad !== undefined) return wrong('matchers', `holds ${JSON.stringify(bad.value)}, which is no pattern`);
  if (asksForSomething(compiled.filter((matcher) => matcher !== null))) return null;
  return wrong('matchers', 'would match every alert; name something, or write alertname=~".+" to mean it');
}

function readDraft(request: SilenceRequest, now: EpochMs): SilenceDraft | WrongField {
  const fault = faultOf(request.matchers);
  if (fault !== null) return fault;
  const startsAt = request.startsAt === null ? now : parseInstant(request.startsAt);
  const endsAt = request.endsAt === null ? undefined : parseInstant(request.endsAt);
  if (startsAt === undefined) return wrong('startsAt', 'is not an RFC 3339 time such as 2026-01-31T09:00:00Z');
  if (endsAt === undefined) return wrong('endsAt', 'is needed, an RFC 3339 time such as 2026-01-31T09:00:00Z');
  const { matchers, createdBy, comment } = request;
  return { matchers, startsAt, endsAt, createdBy: createdBy.trim() || 'unknown', comment: comment.trim() };
}

const RANK = { active: 0, pending: 1, expired: 2 } as const;

function inOrder(a: SilenceView, b: SilenceView): number {
  const rank = RANK[a.status.state] - RANK[b.status.state];
  if (rank !== 0) return rank;
  const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
  const byTime =
    a.status.state === 'pending'
      ? compare(a.startsAt, b.startsAt)
      : a.status.state === 'active'
        ? compare(a.endsAt, b.endsAt)
        : compare(b.endsAt, a.endsAt);
  return byTime || compare(a.id, b.id);
}

const toSilenceView = (silence: Silence, state: SilenceView['status']['state'], alerts: number): SilenceView => ({
  id: silence.id,
  status: { state },
  matchers: silence.matchers,
  startsAt: formatInstant(silence.startsAt),
  endsAt: formatInstant(silence.endsAt),
  updatedAt: formatInstant(silence.updatedAt),
  createdBy: silence.createdBy,
  comment: silence.comment,
  alerts,
});
