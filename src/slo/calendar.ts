import { civilFromDays, daysFromCivil } from '../base/instant.ts';
import { DAY, type EpochMs, epochMs, type Ms, ms } from '../base/units.ts';
import { instantOfLocal, localOf, type ZoneRules } from '../base/zone.ts';

/** (start, end]: as steps do, a period ends with the events of its last moment. */
export interface Period {
  readonly start: EpochMs;
  readonly end: EpochMs;
}

export type CalendarUnit = 'd' | 'w' | 'M' | 'Q' | 'Y';

export interface CalendarSpec {
  readonly unit: CalendarUnit;
  /** How many units a period has; 1 or more. */
  readonly count: number;
  /** Local time of one period's start, in milliseconds as if it were UTC. */
  readonly anchor: number;
  readonly zone: ZoneRules;
}

/** Days or months of one unit; `nominal` is the length in days that factors and paces reckon with. */
const UNITS: Readonly<Record<CalendarUnit, { readonly days?: number; readonly months?: number; nominal: number }>> = {
  d: { days: 1, nominal: 1 },
  w: { days: 7, nominal: 7 },
  M: { months: 1, nominal: 30 },
  Q: { months: 3, nominal: 90 },
  Y: { months: 12, nominal: 365 },
};
const PERIODS_KEPT = 4;

/** The length that factors, paces and tiers reckon with: a month has 30 days, a quarter 90, a year 365. */
export const nominalLength = ({ unit, count }: Pick<CalendarSpec, 'unit' | 'count'>): Ms =>
  ms(UNITS[unit].nominal * count * DAY);

/**
 * The periods of a calendar window, from its anchor on and back from it: every edge shows the anchor's time of day on
 * the zone's clocks, so that a day may have 23 or 25 hours. Months count from the anchor's day; one that lacks it ends
 * at its last (31 January, 28 February, 31 March). Periods are computed, never stored; the last few are remembered.
 */
export class Calendar {
  readonly spec: CalendarSpec;
  #recent: readonly Period[] = [];

  constructor(spec: CalendarSpec) {
    this.spec = spec;
  }

  /** The period that holds `at`; at an edge, the one that ends there. */
  periodAt(at: EpochMs): Period {
    const known = this.#recent.find(({ start, end }) => start < at && at <= end);
    if (known !== undefined) return known;
    let index = this.#guess(at);
    while (this.#edge(index) >= at) index -= 1;
    while (this.#edge(index + 1) < at) index += 1;
    const found = { start: this.#edge(index), end: this.#edge(index + 1) };
    this.#recent = [found, ...this.#recent].slice(0, PERIODS_KEPT);
    return found;
  }

  /** The period after one of this calendar. */
  next({ end }: Period): Period {
    return this.periodAt(epochMs(end + 1));
  }

  #guess(at: EpochMs): number {
    const { unit, count, anchor, zone } = this.spec;
    const { days, months = 0 } = UNITS[unit];
    const local = localOf(zone, at);
    if (days !== undefined) return Math.floor((local - anchor) / (days * count * DAY));
    return Math.floor((monthOf(local) - monthOf(anchor)) / (months * count));
  }

  /** Start of the period `index` after the anchor's. */
  #edge(index: number): EpochMs {
    const { unit, count, anchor, zone } = this.spec;
    const { days, months = 0 } = UNITS[unit];
    const local = days === undefined ? addMonths(anchor, index * months * count) : anchor + index * days * count * DAY;
    return instantOfLocal(zone, local);
  }
}

/** Months since the year 0. */
function monthOf(local: number): number {
  const { year, month } = civilFromDays(Math.floor(local / DAY));
  return year * 12 + month - 1;
}

function addMonths(local: number, months: number): number {
  const days = Math.floor(local / DAY);
  const index = monthOf(local) + months;
  const first = firstOf(index);
  const length = firstOf(index + 1) - first;
  const day = Math.min(civilFromDays(days).day, length);
  return (first + day - 1) * DAY + (local - days * DAY);
}

const firstOf = (month: number): number => daysFromCivil(Math.floor(month / 12), (((month % 12) + 12) % 12) + 1, 1);
