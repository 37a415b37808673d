import { epochMs, ms } from '../../src/base/units.ts';
import { zoneRulesOf } from '../../src/config/zone-rules.ts';
import type { InhibitRule } from '../../src/correlate/inhibit.ts';
import type { MuteInterval } from '../../src/correlate/interval.ts';
import { MuteBook } from '../../src/correlate/mute.ts';
import { toSilenceMatcher } from '../../src/correlate/silence.ts';
import { type Matcher, parseMatcher } from '../../src/model/matcher.ts';
import type { Silence } from '../../src/model/mute.ts';
import { MINUTE, T0 } from './alerts.ts';

export function matchersOf(...texts: readonly string[]): readonly Matcher[] {
  return texts.map((text) => {
    const matcher = parseMatcher(text);
    if (matcher === null) throw new Error(`${text} is no matcher`);
    return matcher;
  });
}

/** From one minute after T0 until another. */
export const silenceOf = (id: string, from: number, to: number, ...matchers: readonly string[]): Silence => ({
  id,
  matchers: matchersOf(...matchers).map(toSilenceMatcher),
  startsAt: epochMs(T0 + from * MINUTE),
  endsAt: epochMs(T0 + to * MINUTE),
  createdBy: 'ada',
  comment: 'work',
  updatedAt: epochMs(T0 + from * MINUTE),
});

export const inhibitOf = (source: string, target: string, ...equal: readonly string[]): InhibitRule => ({
  source: matchersOf(source),
  target: matchersOf(target),
  equal,
});

export const intervalOf = (
  zone: string,
  fromHour: number,
  toHour: number,
  over: Partial<MuteInterval> = {},
): MuteInterval => ({
  name: 'nightly',
  weekdays: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: ms(fromHour * 60 * MINUTE),
  to: ms(toHour * 60 * MINUTE),
  zone,
  matchers: matchersOf('alertname=~".+"'),
  ...over,
});

export function muteBookOf(parts: {
  readonly inhibit?: readonly InhibitRule[];
  readonly intervals?: readonly MuteInterval[];
  readonly silences?: readonly Silence[];
}): MuteBook {
  const { inhibit = [], intervals = [], silences = [] } = parts;
  const book = new MuteBook({ inhibit, intervals }, zoneRulesOf);
  book.replaceSilences(silences);
  return book;
}
