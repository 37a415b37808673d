import { type EpochMs, epochMs } from '../base/units.ts';
import type { Labels } from '../model/labels.ts';
import type { Period } from '../slo/calendar.ts';
import type { Slo } from '../slo/slo.ts';
import type { GroupView, WindowSums } from './view.ts';

/** One correction's share in what is left out of a group. */
export interface ExclusionSource {
  readonly id: number;
  readonly reason: string;
  readonly ranges: readonly Period[];
}

/** Times that do not count, of one group or several. Ranges (start, end] are joined, in order, and whole steps. */
export class Exclusion {
  /** The same for the same corrections in the same state. */
  readonly key: string;
  readonly sources: readonly ExclusionSource[];
  readonly ranges: readonly Period[];

  constructor(key: string, sources: readonly ExclusionSource[], ranges: readonly Period[]) {
    this.key = key;
    this.sources = sources;
    this.ranges = ranges;
  }

  /** Whether the event at this very time does not count. */
  covers(at: EpochMs): boolean {
    const range = this.ranges[this.#firstEndingAfter(at - 1)];
    return range !== undefined && range.start < at;
  }

  /** Milliseconds of (from, to] that do not count. */
  lengthWithin(from: number, to: number): number {
    let length = 0;
    for (let index = this.#firstEndingAfter(from); index < this.ranges.length; index += 1) {
      const { start, end } = this.ranges[index] as Period;
      if (start >= to) break;
      length += Math.max(0, Math.min(end, to) - Math.max(start, from));
    }
    return length;
  }

  /** What is left of sums over a window of `observed`; costs as much again for each range that meets it. */
  takeFrom(sums: WindowSums, observed: GroupView): WindowSums {
    let { bad, total, between = 0 } = sums;
    const { from, to } = sums;
    let isTouched = false;
    for (let index = this.#firstEndingAfter(from); index < this.ranges.length; index += 1) {
      const { start, end } = this.ranges[index] as Period;
      if (start >= to) break;
      const out = observed.range(epochMs(Math.max(start, from)), epochMs(Math.min(end, to)));
      bad -= out.bad;
      total -= out.total;
      between -= out.between ?? 0;
      isTouched = true;
    }
    if (!isTouched) return sums;
    return { bad, total, from, to, inconsistent: bad < 0 || total < 0 || bad > total, between };
  }

  /** The corrections that leave something of (from, to] out. */
  within(from: EpochMs, to: EpochMs): readonly ExclusionSource[] {
    return this.sources.filter(({ ranges }) => ranges.some(({ start, end }) => start < to && end > from));
  }

  #firstEndingAfter(at: number): number {
    let [low, high] = [0, this.ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ranges[middle] as Period).end <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A group as its budget sees it: what corrections leave out was never there. */
export class CorrectedGroup implements GroupView {
  readonly observed: GroupView;
  readonly exclusion: Exclusion;
  readonly members: readonly CorrectedGroup[];

  constructor(observed: GroupView, exclusion: Exclusion) {
    this.observed = observed;
    this.exclusion = exclusion;
    this.members = (observed.members ?? []).map((member) => new CorrectedGroup(member, exclusion));
  }

  get slo(): Slo {
    return this.observed.slo;
  }

  get labels(): Labels {
    return this.observed.labels;
  }

  get key(): string {
    return this.observed.key;
  }

  get firstDataAt(): EpochMs | null {
    return this.observed.firstDataAt;
  }

  get lastEventAt(): EpochMs | null {
    return this.observed.lastEventAt;
  }

  get corrected(): { readonly observed: GroupView; readonly exclusion: Exclusion } {
    return this;
  }

  contradicts(from: EpochMs, to: EpochMs): boolean {
    return this.observed.contradicts?.(from, to) ?? false;
  }

  range(from: EpochMs, to: EpochMs): WindowSums {
    return this.exclusion.takeFrom(this.observed.range(from, to), this.observed);
  }
}
