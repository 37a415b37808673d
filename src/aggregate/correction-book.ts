import { DAY, type EpochMs, epochMs } from '../base/units.ts';
import type { ZoneRules } from '../base/zone.ts';
import type { Correction } from '../model/correction.ts';
import { labelsOf, mergeLabels } from '../model/labels.ts';
import { type Matcher, matchesAll, parseMatcher } from '../model/matcher.ts';
import type { Period } from '../slo/calendar.ts';
import { timesOf, wholeSteps } from '../slo/correction.ts';
import type { Slo } from '../slo/slo.ts';
import { CorrectedGroup, Exclusion, type ExclusionSource } from './exclusion.ts';
import { sloLevelsOf } from './step-ring.ts';
import type { GroupView, SloCells } from './view.ts';

/** Back over the longest calendar period, and on over the next midnight, when times are found anew. */
const REACH_MS = 400 * DAY;
const AHEAD_MS = 3 * DAY;

interface InForce {
  readonly correction: Correction;
  readonly slos: ReadonlySet<string>;
  readonly matchers: readonly Matcher[];
}

/** How a group was seen last: as it is where no correction applies. */
interface Seen {
  readonly slo: Slo;
  readonly day: number;
  readonly view: GroupView;
}

/**
 * Which corrections apply to which groups, and when. Without any, groups pass through untouched. Times of planned work
 * that repeats are found once a day.
 */
export class CorrectionBook {
  readonly #zoneOf: (name: string) => ZoneRules | null;
  #inForce: readonly InForce[] = [];
  #seen = new WeakMap<GroupView, Seen>();
  #day = Number.NaN;
  readonly #ranges = new Map<string, readonly Period[]>();
  readonly #exclusions = new Map<string, Exclusion>();

  constructor(zoneOf: (name: string) => ZoneRules | null) {
    this.#zoneOf = zoneOf;
  }

  /** All corrections; those undone change nothing. */
  replace(corrections: readonly Correction[]): void {
    this.#inForce = corrections
      .filter(({ undone }) => undone === null)
      .map((correction) => ({
        correction,
        slos: new Set(correction.slos),
        matchers: correction.matchers.flatMap((text) => parseMatcher(text) ?? []),
      }));
    this.#forget();
    this.#seen = new WeakMap();
  }

  /**
   * The cells as budgets see them, by the corrections of this moment: one made during a tick waits for the next.
   */
  over(cells: SloCells, now: EpochMs): SloCells {
    if (this.#inForce.length === 0) return cells;
    const views = Array.from(cells.groups(), (group) => this.view(group, now));
    return {
      groups: () => views,
      feed: (group, at) => cells.feed(group, at),
    };
  }

  /** One group as its budget sees it. */
  view(group: GroupView, now: EpochMs): GroupView {
    const day = Math.floor(now / DAY);
    const seen = this.#seen.get(group);
    if (seen?.slo === group.slo && seen.day === day) return seen.view;
    if (day !== this.#day) this.#forget();
    this.#day = day;
    const exclusion = this.#exclusionOf(group, () => true);
    const view = exclusion === null ? group : new CorrectedGroup(group, exclusion);
    this.#seen.set(group, { slo: group.slo, day, view });
    return view;
  }

  /** The same as if one of the corrections had been undone. */
  without(id: number, group: GroupView, now: EpochMs): GroupView {
    this.view(group, now);
    const exclusion = this.#exclusionOf(group, ({ correction }) => correction.id !== id);
    return exclusion === null ? group : new CorrectedGroup(group, exclusion);
  }

  #forget(): void {
    this.#ranges.clear();
    this.#exclusions.clear();
  }

  #exclusionOf(group: GroupView, counts: (one: InForce) => boolean): Exclusion | null {
    const applying = this.#inForce.filter((one) => counts(one) && appliesTo(one, group));
    if (applying.length === 0) return null;
    const stepMs = sloLevelsOf(group.slo.window.length).at(-1)?.stepMs ?? DAY;
    const key = `${stepMs}:${applying.map(({ correction: { id, ended } }) => `${id}@${ended?.at ?? ''}`).join()}`;
    const known = this.#exclusions.get(key);
    if (known !== undefined) return known;
    const sources = applying.map(({ correction }): ExclusionSource => {
      const { id, reason } = correction;
      return { id, reason, ranges: this.#rangesOf(correction, stepMs) };
    });
    // Whole steps already; here they are joined.
    const ranges = wholeSteps(
      sources.flatMap((source) => source.ranges),
      stepMs,
    );
    const exclusion = new Exclusion(key, sources, ranges);
    this.#exclusions.set(key, exclusion);
    return exclusion;
  }

  #rangesOf(correction: Correction, stepMs: number): readonly Period[] {
    const key = `${correction.id}/${stepMs}`;
    const known = this.#ranges.get(key);
    if (known !== undefined) return known;
    const midnight = this.#day * DAY;
    const [from, to] = [epochMs(midnight - REACH_MS), epochMs(midnight + AHEAD_MS)];
    // One that is named by its times is kept whole: it may be told long before.
    const times =
      correction.time.kind === 'once'
        ? timesOf(correction, this.#zoneOf, epochMs(Number.NEGATIVE_INFINITY), epochMs(Number.POSITIVE_INFINITY))
        : timesOf(correction, this.#zoneOf, from, to);
    const found = wholeSteps(times, stepMs);
    this.#ranges.set(key, found);
    return found;
  }
}

function appliesTo({ slos, matchers }: InForce, { slo, labels }: GroupView): boolean {
  if (slos.size > 0 && !slos.has(slo.id)) return false;
  if (matchers.length === 0) return slos.size > 0;
  const all = mergeLabels(
    mergeLabels(slo.labels, labels),
    labelsOf([
      ['slo', slo.id],
      ['service', slo.service],
    ]),
  );
  return matchesAll(matchers, all);
}
