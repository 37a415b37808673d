import { formatInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import { toSilenceMatcher } from '../correlate/silence.ts';
import { parseMatcher } from '../model/matcher.ts';
import type { SilenceMatcher } from '../model/mute.ts';
import type { Silences } from './silences.ts';

type Fields = Readonly<Record<string, unknown>>;

/** `silence` with matchers; without any it is about an incident, which is a snooze. */
export const isSilenceOfAlerts = (fields: Fields): boolean =>
  fields['action'] === 'silence' && fields['matchers'] !== undefined;

/** Does what such a line says: `matchers` (texts, or objects as in the API), `until`, `from`, `by`, `note`. */
export function silenceFrom(silences: Silences, fields: Fields, now: EpochMs): string | null {
  const given = fields['matchers'];
  const matchers = Array.isArray(given) ? given.map(readMatcher) : [null];
  if (matchers.includes(null)) return '"matchers" is a list of texts such as team=edge, or of matchers as in the API';
  const text = (name: string): string | null => (typeof fields[name] === 'string' ? (fields[name] as string) : null);
  const outcome = silences.set(
    {
      id: null,
      matchers: matchers.filter((matcher) => matcher !== null),
      startsAt: text('from') ?? formatInstant(now),
      endsAt: text('until'),
      createdBy: text('by') ?? 'replay',
      comment: text('note') ?? '',
    },
    now,
  );
  if (outcome.kind !== 'bad_field') return null;
  const names: Readonly<Record<string, string>> = { startsAt: 'from', endsAt: 'until' };
  return `"${names[outcome.field] ?? outcome.field}" ${outcome.message}`;
}

function readMatcher(value: unknown): SilenceMatcher | null {
  if (typeof value === 'string') {
    const matcher = parseMatcher(value);
    return matcher === null ? null : toSilenceMatcher(matcher);
  }
  if (typeof value !== 'object' || value === null) return null;
  const { name, value: text, isRegex = false, isEqual = true } = value as Fields;
  if (typeof name !== 'string' || typeof text !== 'string') return null;
  return { name, value: text, isRegex: isRegex === true, isEqual: isEqual !== false };
}
