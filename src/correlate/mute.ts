import type { EpochMs } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';
import type { Alert } from '../model/alert.ts';
import type { Labels } from '../model/labels.ts';
import { matchesAll } from '../model/matcher.ts';
import { alertText, type Mute, muteLabels, type Silence } from '../model/mute.ts';
import { createInhibitor, type InhibitRule } from './inhibit.ts';
import { intervalUntil, type MuteInterval } from './interval.ts';
import { type CompiledSilence, compileSilence, silenceState } from './silence.ts';

/** What the rules mute, by whom nothing has to be asked. */
export interface MuteRules {
  readonly inhibit: readonly InhibitRule[];
  readonly intervals: readonly MuteInterval[];
}

export const NO_MUTE_RULES: MuteRules = { inhibit: [], intervals: [] };

/** Every mute that applies to an alert now. Of several sources that inhibit it, one of `before` is kept. */
export type MuteSource = (alert: Alert, before: readonly Mute[]) => readonly Mute[];

export const NOTHING_MUTED: MuteSource = () => [];

/** Silences, mute intervals and inhibition as one: what of the firing alerts nobody is told of. */
export class MuteBook {
  readonly #rules: MuteRules;
  readonly #intervals: readonly { readonly interval: MuteInterval; readonly zone: ZoneRules }[];
  #silences: readonly CompiledSilence[] = [];
  /** Alerts never change: one that does is another object. */
  readonly #labels = new WeakMap<Alert, Labels>();

  /** An interval whose zone is unknown mutes nothing. */
  constructor(rules: MuteRules, zoneOf: (name: string) => ZoneRules | null) {
    this.#rules = rules;
    this.#intervals = rules.intervals.flatMap((interval) => {
      const zone = zoneOf(interval.zone);
      return zone === null ? [] : [{ interval, zone }];
    });
  }

  /** All silences that there are, in whatever state. */
  replaceSilences(silences: readonly Silence[]): void {
    this.#silences = [...silences].sort((a, b) => (a.id < b.id ? -1 : 1)).map(compileSilence);
  }

  /** The mutes at one moment, given all alerts that fire then. */
  over(firing: Iterable<Alert>, now: EpochMs): MuteSource {
    const silences = this.#silences.filter(({ silence }) => silenceState(silence, now) === 'active');
    const intervals = this.#intervals.flatMap(({ interval, zone }) => {
      const until = intervalUntil(interval, zone, now);
      return until === null ? [] : [{ interval, until }];
    });
    if (silences.length + intervals.length + this.#rules.inhibit.length === 0) return NOTHING_MUTED;
    const labelsOf = (alert: Alert): Labels => this.#labelsOf(alert);
    const inhibitor = createInhibitor(this.#rules.inhibit, firing, labelsOf);
    return (alert, before) => {
      const labels = labelsOf(alert);
      const known = new Set(before.flatMap((mute) => (mute.kind === 'inhibition' ? [mute.source] : [])));
      return [
        ...silences.filter(({ covers }) => covers(labels)).map(({ silence }) => toMute(silence)),
        ...intervals
          .filter(({ interval }) => matchesAll(interval.matchers, labels))
          .map(({ interval: { name }, until }): Mute => ({ kind: 'interval', name, until })),
        ...inhibitor(alert, known).map(
          (source): Mute => ({ kind: 'inhibition', source: source.key, text: alertText(source) }),
        ),
      ];
    };
  }

  #labelsOf(alert: Alert): Labels {
    const known = this.#labels.get(alert);
    if (known !== undefined) return known;
    const labels = muteLabels(alert);
    this.#labels.set(alert, labels);
    return labels;
  }
}

const toMute = ({ id, createdBy, comment, endsAt }: Silence): Mute => ({
  kind: 'silence',
  id,
  by: createdBy,
  comment,
  until: endsAt,
});
