import { type GroupView, STEP_MS } from '../aggregate/view.ts';
import { DAY, type EpochMs, epochMs, HOUR, MINUTE, type Ms, ms } from '../base/units.ts';
import type { Exhaustion } from '../model/alert.ts';
import { type BudgetRatio, burnOf, errorRatio, isExhausted, paddedTotal } from '../slo/budget.ts';
import { ratioBounds } from './bounds.ts';
import { NOISE, timeInCalendar } from './calendar-course.ts';
import { DayBook, type Events } from './day-book.ts';
import { type ExpectedTraffic, TrafficBook } from './traffic.ts';
import { GroupWindows, type ReadWindow } from './window.ts';

/** What has left the window by some time from now, and what has come in. */
interface Moment {
  readonly at: number;
  readonly outBad: number;
  readonly outTotal: number;
  readonly incoming: number;
}

type Aim = 'exhausted' | 'recovered';

/** What is kept of a group's past between ticks. It only saves reads: without it the figures are the same. */
export class GroupPast {
  readonly days = new DayBook();
  readonly traffic = new TrafficBook();
}

/**
 * One group's budget walked forward from the watermark (design section 8): expected traffic comes in, with errors at a
 * given ratio; what is older than the SLO window rolls out. A calendar budget starts afresh instead (timeInCalendar).
 * Made once per group and tick and asked for several ratios. By the day first, then by the hour and by the step where
 * the limit may be met, so that a budget that lasts costs little.
 */
export class BudgetCourse {
  readonly exhausted: boolean;
  readonly windows: GroupWindows;
  readonly #budget: BudgetRatio;
  readonly #past: GroupPast;
  readonly #lengthMs: number;
  readonly #origin: number;
  readonly #total: number;
  #expected: ExpectedTraffic | null = null;
  /** Days and hours that the past does not keep, by their start; asked for again with each ratio. */
  readonly #partDays = new Map<number, Events>();
  readonly #partHours = new Map<number, Events>();

  /**
   * Alert windows end at `to`. `past` is that of the ticks before, if there were any. A calendar's period is that of
   * `now`.
   */
  constructor(group: GroupView, budget: BudgetRatio, to: EpochMs, past = new GroupPast(), now: EpochMs = to) {
    const windows = new GroupWindows(group, to, past.traffic, now);
    this.windows = windows;
    this.#budget = budget;
    this.#past = past;
    this.#lengthMs = group.slo.window.length;
    this.#origin = to - this.#lengthMs;
    this.#total = paddedTotal(windows.slo);
    this.exhausted = isExhausted(windows.slo, budget);
  }

  /**
   * Time until bad >= budget x total with errors at `ratio` of the expected traffic; null = never on this course, or
   * not within `withinMs`. 0 = exhausted.
   */
  timeAt(ratio: number, withinMs = Number.POSITIVE_INFINITY): Ms | null {
    if (this.exhausted) return ms(0);
    if (ratio <= 0 || this.#total === 0) return null;
    const { calendar, slo, to } = this.windows;
    if (calendar === null) return this.#find(ratio, 'exhausted', Math.min(withinMs, this.#lengthMs));
    const found = timeInCalendar(calendar, slo, this.#budget, to, ratio);
    return found === null || found > withinMs ? null : ms(Math.ceil(found));
  }

  /** When the budget is positive again if errors stopped now. */
  recoversAt(): EpochMs {
    const { calendar } = this.windows;
    if (calendar !== null) return calendar.period.end;
    const after = this.#find(0, 'recovered', this.#lengthMs);
    return epochMs(this.windows.to + (after ?? this.#lengthMs));
  }

  #find(ratio: number, aim: Aim, withinMs: number): Ms | null {
    const start: Moment = { at: 0, outBad: 0, outTotal: 0, incoming: 0 };
    const found = this.#search(start, Math.min(withinMs, this.#lengthMs), DAY, ratio, aim);
    return found === null || found > withinMs ? null : ms(Math.ceil(found));
  }

  /**
   * The first time after `start` at which the aim is met, looking at pieces of `pieceMs` that begin before `endMs`, and
   * into those that may hold it. Pieces end at full days, hours and steps of the past that rolls out.
   */
  #search(start: Moment, endMs: number, pieceMs: number, ratio: number, aim: Aim): number | null {
    const origin = this.#origin;
    let before = start;
    while (before.at < endMs) {
      const edge = (Math.floor((origin + before.at) / pieceMs) + 1) * pieceMs - origin;
      const after = this.#advance(before, Math.min(edge, this.#lengthMs), pieceMs);
      const finer = pieceMs === DAY ? HOUR : pieceMs === HOUR ? this.#stepAt(before.at) : null;
      if (finer === null) {
        if (this.#isMet(after, ratio, aim)) return this.#crossing(before, after, ratio);
      } else if (this.#mayMeet(before, after, ratio, aim)) {
        const inside = this.#search(before, after.at, finer, ratio, aim);
        if (inside !== null) return inside;
      }
      before = after;
    }
    return null;
  }

  /** Steps of the level at which what rolls out then is kept: the older, the coarser. */
  #stepAt(at: number): number {
    const age = this.#lengthMs - at;
    return age <= 7 * HOUR ? STEP_MS : age <= 3 * DAY ? MINUTE : 5 * MINUTE;
  }

  #advance(before: Moment, at: number, pieceMs: number): Moment {
    const expected = this.#expected ?? this.#expect();
    const start = this.#origin + before.at;
    const end = this.#origin + at;
    const { slo } = this.windows;
    const leadEnd = this.#origin + (slo.lengthMs - slo.observedMs);
    let { outBad, outTotal } = before;
    if (start < leadEnd) outTotal += (slo.total / slo.observedMs) * (Math.min(end, leadEnd) - start);
    if (end > leadEnd) {
      const out = this.#rolledOut(Math.max(start, leadEnd), end, pieceMs);
      outBad += out.bad;
      outTotal += out.total;
    }
    return { at, outBad, outTotal, incoming: expected(at) };
  }

  #expect(): ExpectedTraffic {
    const { slo, group, to } = this.windows;
    this.#expected = this.#past.traffic.expect(group, to, slo.total / slo.observedMs);
    this.#past.days.advance(group, this.#origin, to);
    return this.#expected;
  }

  /** Events that leave the window between two times. */
  #rolledOut(start: number, end: number, pieceMs: number): Events {
    const { group } = this.windows;
    if (pieceMs < HOUR) return group.range(epochMs(start), epochMs(end));
    if (end - start === pieceMs) {
      const { days } = this.#past;
      const kept = pieceMs === DAY ? days.day(start / DAY) : days.hour(group, start / HOUR);
      if (kept !== null) return kept;
    }
    const memo = pieceMs === DAY ? this.#partDays : this.#partHours;
    const known = memo.get(start) ?? group.range(epochMs(start), epochMs(end));
    memo.set(start, known);
    return known;
  }

  #bad(moment: Moment, ratio: number): number {
    return this.windows.slo.bad - moment.outBad + ratio * moment.incoming;
  }

  /** Bad events beyond what the budget allows; 0 or more = exhausted. */
  #excess(ratio: number, incoming: number, outBad: number, outTotal: number): number {
    const { value } = this.#budget;
    const gain = ratio - value;
    const arriving = Math.abs(gain) < NOISE * value ? 0 : gain * incoming;
    return arriving + (this.windows.slo.bad - outBad) - value * (this.#total - outTotal);
  }

  #isMet(moment: Moment, ratio: number, aim: Aim): boolean {
    const excess = this.#excess(ratio, moment.incoming, moment.outBad, moment.outTotal);
    const noise = NOISE * this.#budget.value * this.#total;
    if (aim === 'recovered') return excess < -noise || this.#bad(moment, ratio) <= 0;
    const isBelowOne = ratio < this.#budget.value * (1 - NOISE);
    return this.#bad(moment, ratio) > 0 && excess >= (isBelowOne ? noise : -noise);
  }

  /** Whether the aim can be met between two moments, whatever the order of things between them. */
  #mayMeet(before: Moment, after: Moment, ratio: number, aim: Aim): boolean {
    const noise = NOISE * this.#budget.value * this.#total;
    const rises = ratio > this.#budget.value;
    if (aim === 'exhausted') {
      const { incoming } = rises ? after : before;
      if (this.#excess(ratio, incoming, before.outBad, after.outTotal) < -noise) return false;
      if (!rises) return true;
      // While the rest only rises, nothing on the way lies above the end by more than the bad events that leave.
      const end = this.#excess(ratio, after.incoming, after.outBad, after.outTotal);
      return end + (after.outBad - before.outBad) >= -noise;
    }
    const { incoming } = rises ? before : after;
    return (
      this.#excess(ratio, incoming, after.outBad, before.outTotal) < -noise ||
      this.#bad({ ...before, outBad: after.outBad }, ratio) <= 0
    );
  }

  /** Within one step things go evenly. */
  #crossing(before: Moment, after: Moment, ratio: number): number {
    const from = this.#excess(ratio, before.incoming, before.outBad, before.outTotal);
    const to = this.#excess(ratio, after.incoming, after.outBad, after.outTotal);
    if (from === to || from * to > 0) return after.at;
    return before.at + ((after.at - before.at) * from) / (from - to);
  }
}

/** The exhaustion figures of a group at the burn of one window: band from its 98 % bounds, pace = SLO window / burn. */
export function exhaustionAt(
  course: BudgetCourse,
  window: ReadWindow,
  budget: BudgetRatio,
  sloWindowMs: number,
): Exhaustion {
  const ratio = errorRatio(window);
  const burn = burnOf(window, budget);
  const pace = burn === null || burn <= 0 ? null : ms(sloWindowMs / burn);
  if (course.exhausted) {
    return { exhausted: true, until: ms(0), low: ms(0), high: ms(0), pace, recoversAt: course.recoversAt() };
  }
  if (ratio === null || ratio <= 0) {
    return { exhausted: false, until: null, low: null, high: null, pace, recoversAt: null };
  }
  const bounds = ratioBounds(window, course.windows.group.slo.budgeting);
  return {
    exhausted: false,
    until: course.timeAt(ratio),
    low: course.timeAt(bounds.high),
    high: course.timeAt(bounds.low),
    pace,
    recoversAt: null,
  };
}
