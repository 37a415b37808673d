import type { FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs, HOUR, MINUTE } from '../base/units.ts';
import type { HourlyFigures } from '../model/measure.ts';
import { hourlyFigures } from './hourly.ts';
import { type ReviewSource, reviewRows } from './review-rows.ts';

/** What balancers send late of an hour has come by then. */
const SETTLED_AFTER_MS = 5 * MINUTE;
/** After a time without ticks: as far back as the cells know whole hours. */
const HOURS_BACK_MAX = 7 * 24;
const ROWS_PER_STEP = 20;

/** Knows which hours have been worked out. */
export class HourBook {
  #doneTo: EpochMs | null = null;

  /** `newest`: end of the newest hour that was stored. */
  restore(newest: EpochMs | null): void {
    this.#doneTo = newest;
  }

  /** Rows of the hours that are over and not yet worked out, in a step per hour; null where there are none. */
  *due(view: FeatureView, now: EpochMs, review?: ReviewSource): Generator<void, readonly HourlyFigures[] | null> {
    const last = epochMs(Math.floor((now - SETTLED_AFTER_MS) / HOUR) * HOUR);
    const first = Math.max((this.#doneTo ?? last - HOUR) + HOUR, last - (HOURS_BACK_MAX - 1) * HOUR);
    if (first > last) return null;
    const rows: HourlyFigures[] = [];
    for (let hour = first; hour <= last; hour += HOUR) {
      rows.push(...hourlyFigures(view, epochMs(hour)));
      yield;
      if (review === undefined) continue;
      for (const row of reviewRows(review, view, epochMs(hour))) {
        rows.push(row);
        if (rows.length % ROWS_PER_STEP === 0) yield;
      }
    }
    this.#doneTo = last;
    return rows.length === 0 ? null : rows;
  }
}
