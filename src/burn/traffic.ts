import type { GroupView } from '../aggregate/view.ts';
import { DAY, type EpochMs, epochMs } from '../base/units.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const HOURS_KEPT = HOURS * 7;

/** Expected events within `ms` from now. Grows with `ms`, never falls. */
export type ExpectedTraffic = (ms: number) => number;

/**
 * One group's traffic of the last 7 days by the hour. Kept between ticks, since whole hours hardly change: a tick reads
 * what is new, and reads all again only where the sum shows that something came late.
 */
export class TrafficBook {
  /** Events of hour h (from the epoch) at h % HOURS_KEPT. */
  readonly #totals = new Float64Array(HOURS_KEPT);
  /** Milliseconds of the hour that corrections do not leave out. */
  readonly #counted = new Float64Array(HOURS_KEPT);
  #from = 0;
  #to = 0;
  #sum = 0;

  /**
   * What to expect after `to`: by hour of the day (UTC) the mean of the same hours of the last 7 days where the group
   * has them, else `mean`, in events per millisecond over what is known. Never the alert window's rate: an outage
   * changes traffic.
   */
  expect(group: GroupView, to: EpochMs, mean: number): ExpectedTraffic {
    this.#advance(group, to);
    // Events from midnight to each full hour.
    const until = new Float64Array(HOURS + 1);
    for (let slot = 0; slot < HOURS; slot += 1) {
      until[slot + 1] = (until[slot] as number) + (this.#rateOf(slot) ?? mean) * HOUR_MS;
    }
    const day = until[HOURS] as number;
    const midnight = Math.floor(to / DAY) * DAY;
    const sinceMidnight = (ms: number): number => {
      const days = Math.floor(ms / DAY);
      const hour = Math.floor((ms - days * DAY) / HOUR_MS);
      const before = until[hour] as number;
      const share = (ms - days * DAY - hour * HOUR_MS) / HOUR_MS;
      return days * day + before + ((until[hour + 1] as number) - before) * share;
    };
    const already = sinceMidnight(to - midnight);
    return (ms) => sinceMidnight(to - midnight + ms) - already;
  }

  /** Holds exactly the whole hours of the last 7 days that the group has data of. */
  #advance(group: GroupView, to: EpochMs): void {
    const last = Math.floor(to / HOUR_MS);
    const first = group.firstDataAt === null ? last : Math.ceil(group.firstDataAt / HOUR_MS);
    const from = Math.min(last, Math.max(first, last - HOURS_KEPT));
    const isNext = this.#from <= from && from <= this.#to && this.#to <= last;
    if (!isNext) {
      this.#from = this.#to = from;
      this.#sum = 0;
    }
    for (; this.#from < from; this.#from += 1) this.#sum -= this.#totals[this.#from % HOURS_KEPT] as number;
    for (; this.#to < last; this.#to += 1) this.#read(group, this.#to);
    if (this.#sum === group.range(epochMs(from * HOUR_MS), epochMs(last * HOUR_MS)).total) return;
    this.#sum = 0;
    for (let hour = from; hour < last; hour += 1) this.#read(group, hour);
  }

  #read(group: GroupView, hour: number): void {
    const [from, to] = [epochMs(hour * HOUR_MS), epochMs((hour + 1) * HOUR_MS)];
    const { total } = group.range(from, to);
    this.#totals[hour % HOURS_KEPT] = total;
    this.#counted[hour % HOURS_KEPT] = HOUR_MS - (group.corrected?.exclusion.lengthWithin(from, to) ?? 0);
    this.#sum += total;
  }

  /** Events per millisecond in this hour of the day; null where no such hour is known, or none of it counts. */
  #rateOf(slot: number): number | null {
    let events = 0;
    let counted = 0;
    const first = this.#from + ((((slot - this.#from) % HOURS) + HOURS) % HOURS);
    for (let hour = first; hour < this.#to; hour += HOURS) {
      events += this.#totals[hour % HOURS_KEPT] as number;
      counted += this.#counted[hour % HOURS_KEPT] as number;
    }
    return counted === 0 ? null : Math.max(0, events) / counted;
  }
}
