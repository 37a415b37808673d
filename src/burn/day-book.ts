import type { GroupView } from '../aggregate/view.ts';
import { DAY, epochMs, HOUR } from '../base/units.ts';

export interface Events {
  readonly bad: number;
  readonly total: number;
}

/** Longer than any SLO window. */
const DAYS_KEPT = 40;
const HOURS = 24;

/**
 * One group's events of whole days, and of their hours once asked for. Kept between ticks: what is over hardly
 * changes, and one read shows whether it did. Days and hours are counted from the epoch.
 */
export class DayBook {
  #first = 0;
  #end = 0;
  #sum: Events = { bad: 0, total: 0 };
  readonly #days: (Events | null)[] = [];
  readonly #hours: (Events[] | null)[] = [];

  /** Takes up the whole days of (from, to] and forgets older ones. */
  advance(group: GroupView, from: number, to: number): void {
    const first = Math.ceil(from / DAY);
    const end = Math.max(first, Math.floor(to / DAY));
    const isNext = this.#first <= first && first <= this.#end && this.#end <= end;
    if (!isNext) this.#start(first);
    for (; this.#first < first; this.#first += 1) this.#count(this.#days[this.#first % DAYS_KEPT] ?? null, -1);
    for (; this.#end < end; this.#end += 1) this.#read(group, this.#end);
    const { bad, total } = group.range(epochMs(first * DAY), epochMs(end * DAY));
    if (bad === this.#sum.bad && total === this.#sum.total) return;
    this.#start(first);
    for (; this.#end < end; this.#end += 1) this.#read(group, this.#end);
  }

  /** Null where the day is not kept. */
  day(day: number): Events | null {
    return day >= this.#first && day < this.#end ? (this.#days[day % DAYS_KEPT] ?? null) : null;
  }

  /** Null where its day is not kept. */
  hour(group: GroupView, hour: number): Events | null {
    const day = Math.floor(hour / HOURS);
    if (this.day(day) === null) return null;
    const slot = day % DAYS_KEPT;
    const hours =
      this.#hours[slot] ?? Array.from({ length: HOURS }, (_, index) => readHour(group, day * HOURS + index));
    this.#hours[slot] = hours;
    return hours[hour % HOURS] ?? null;
  }

  #start(first: number): void {
    this.#first = this.#end = first;
    this.#sum = { bad: 0, total: 0 };
  }

  #read(group: GroupView, day: number): void {
    const { bad, total } = group.range(epochMs(day * DAY), epochMs((day + 1) * DAY));
    const slot = day % DAYS_KEPT;
    this.#days[slot] = { bad, total };
    this.#hours[slot] = null;
    this.#count({ bad, total }, 1);
  }

  #count(events: Events | null, sign: number): void {
    if (events === null) return;
    this.#sum = { bad: this.#sum.bad + sign * events.bad, total: this.#sum.total + sign * events.total };
  }
}

function readHour(group: GroupView, hour: number): Events {
  const { bad, total } = group.range(epochMs(hour * HOUR), epochMs((hour + 1) * HOUR));
  return { bad, total };
}
