import { type EpochMs, epochMs } from '../base/units.ts';
import type { Labels } from '../model/labels.ts';
import { createMatcher, type Matcher, matches, matchesAll } from '../model/matcher.ts';
import type { Silence, SilenceDraft, SilenceMatcher, SilenceState } from '../model/mute.ts';

const NO_LABELS: Labels = new Map();

export function silenceState({ startsAt, endsAt }: Silence, now: EpochMs): SilenceState {
  if (endsAt <= now) return 'expired';
  return startsAt > now ? 'pending' : 'active';
}

/** Null when its value is no valid pattern. */
export function compileSilenceMatcher({ name, value, isRegex, isEqual }: SilenceMatcher): Matcher | null {
  return createMatcher(name, isRegex ? (isEqual ? '=~' : '!~') : isEqual ? '=' : '!=', value);
}

/** As written in a file: `alertname="DiskFull"`. */
export function silenceMatcherText({ name, value, isRegex, isEqual }: SilenceMatcher): string {
  return `${name}${isEqual ? '=' : '!'}${isRegex ? '~' : isEqual ? '' : '='}${JSON.stringify(value)}`;
}

export const toSilenceMatcher = ({ name, operator, value }: Matcher): SilenceMatcher => ({
  name,
  value,
  isRegex: operator === '=~' || operator === '!~',
  isEqual: operator === '=' || operator === '=~',
});

/** Matchers that fit an alert without any label may fit every alert: one at least must ask for something. */
export const asksForSomething = (matchers: readonly Matcher[]): boolean =>
  matchers.some((matcher) => !matches(matcher, NO_LABELS));

/** A silence with its matchers ready; null when one of them is no valid pattern. */
export interface CompiledSilence {
  readonly silence: Silence;
  readonly covers: (labels: Labels) => boolean;
}

export function compileSilence(silence: Silence): CompiledSilence {
  const matchers = silence.matchers.map(compileSilenceMatcher);
  const sound = matchers.filter((matcher) => matcher !== null);
  // One that cannot be read covers nothing: an alert too many is better than one too few.
  const covers = (labels: Labels): boolean => sound.length === matchers.length && matchesAll(sound, labels);
  return { silence, covers };
}

export type SilenceChange =
  /** What is to be stored; `id` is that of the silence that came of it. */
  | { readonly kind: 'done'; readonly id: string; readonly put: readonly Silence[] }
  | { readonly kind: 'bad_field'; readonly field: string; readonly message: string };

/**
 * Creates a silence, or edits `before` as Alertmanager does: an active one may change its end and its comment, a
 * pending one its start too. Any other change could make it cover more than people agreed to: it ends, and a new one
 * with an id of its own begins.
 */
export function setSilence(
  draft: SilenceDraft,
  before: Silence | null,
  now: EpochMs,
  newId: () => string,
): SilenceChange {
  if (draft.startsAt >= draft.endsAt) {
    return { kind: 'bad_field', field: 'endsAt', message: 'must lie after "startsAt"' };
  }
  if (draft.endsAt <= now) return { kind: 'bad_field', field: 'endsAt', message: 'lies in the past' };
  if (before !== null && isEditable(before, draft, now)) {
    return { kind: 'done', id: before.id, put: [{ ...before, ...draft, updatedAt: now }] };
  }
  const ended = before === null || silenceState(before, now) === 'expired' ? [] : [expireSilence(before, now)];
  const startsAt = epochMs(Math.max(draft.startsAt, now));
  const made: Silence = { ...draft, startsAt, id: newId(), updatedAt: now };
  return { kind: 'done', id: made.id, put: [...ended, made] };
}

/** Ends now; one that has not begun never will. */
export function expireSilence(silence: Silence, now: EpochMs): Silence {
  const isPending = silenceState(silence, now) === 'pending';
  return { ...silence, startsAt: isPending ? now : silence.startsAt, endsAt: now, updatedAt: now };
}

function isEditable(before: Silence, draft: SilenceDraft, now: EpochMs): boolean {
  const textOf = (matchers: readonly SilenceMatcher[]): string => matchers.map(silenceMatcherText).sort().join();
  if (textOf(before.matchers) !== textOf(draft.matchers)) return false;
  switch (silenceState(before, now)) {
    case 'active':
      return before.startsAt === draft.startsAt;
    case 'pending':
      return draft.startsAt >= now;
    case 'expired':
      return false;
  }
}
