import { type GroupView, STEP_MS } from '../aggregate/view.ts';
import { type EpochMs, epochMs, type Ms, ms } from '../base/units.ts';
import type { Exhaustion } from '../model/alert.ts';
import { type BudgetRatio, type BudgetWindow, burnOf, errorRatio, isExhausted, paddedTotal } from '../slo/budget.ts';
import { type ExpectedTraffic, expectedTraffic, HOUR_MS } from './traffic.ts';
import { wilsonBounds } from './wilson.ts';
import { readSloWindow } from './window.ts';

/**
 * One group's budget walked forward from `to` (design section 8): expected traffic comes in, with errors at a given ratio; what
 * is older than the SLO window rolls out. Made once per group and tick, asked for several ratios. Reads the past by
 * the hour
 * only when it is asked.
 */
export class BudgetCourse {
  readonly window: BudgetWindow;
  readonly exhausted: boolean;
  readonly #group: GroupView;
  readonly #budget: BudgetRatio;
  readonly #to: EpochMs;
  readonly #lengthMs: number;
  #expected: ExpectedTraffic | null = null;
  /** Bad and total rolling out in each hour from now, lead included; total coming in. */
  #hours: { readonly outBad: Float64Array; readonly outTotal: Float64Array; readonly in: Float64Array } | null = null;

  constructor(group: GroupView, budget: BudgetRatio, to: EpochMs) {
    this.#group = group;
    this.#budget = budget;
    this.#to = to;
    this.#lengthMs = group.slo.window.length;
    this.window = readSloWindow(group, to);
    this.exhausted = isExhausted(this.window, budget);
  }

  /** Time until bad >= budget x total with errors at `ratio` of the expected traffic. 0 = exhausted, null = never on this course. */
  timeAt(ratio: number): Ms | null {
    if (this.exhausted) return ms(0);
    if (ratio <= 0 || this.window.total === 0) return null;
    const b = this.#budget.value;
    return this.#walk(ratio, (bad, total) => bad >= b * total && bad > 0);
  }

  /** When the budget is positive again if errors stopped now; null when it never is within the window. */
  recoversAt(): EpochMs | null {
    const b = this.#budget.value;
    const after = this.#walk(0, (bad, total) => bad < b * total || bad === 0);
    return after === null ? epochMs(this.#to + this.#lengthMs) : epochMs(this.#to + after);
  }

  /** Hour by hour to the first hour in which `reached` becomes true, then by 10 s steps within it. */
  #walk(ratio: number, reached: (bad: number, total: number) => boolean): Ms | null {
    const hours = this.#readHours();
    let { bad } = this.window;
    let total = paddedTotal(this.window);
    for (let hour = 0; hour * HOUR_MS < this.#lengthMs; hour += 1) {
      const incoming = hours.in[hour] ?? 0;
      const nextBad = bad - (hours.outBad[hour] ?? 0) + ratio * incoming;
      const nextTotal = total - (hours.outTotal[hour] ?? 0) + incoming;
      const isInside = reached(nextBad, nextTotal) || this.#mayCrossInside(hour, bad, total, ratio, reached);
      if (isInside) {
        const inside = this.#refine(hour, bad, total, ratio, reached);
        if (inside !== null) return inside;
        if (reached(nextBad, nextTotal)) return ms((hour + 1) * HOUR_MS);
      }
      bad = nextBad;
      total = nextTotal;
    }
    return null;
  }

  /**
   * Within an hour the course can only touch the limit and leave it if what rolls out is uneven: bad all at its end.
   */
  #mayCrossInside(
    hour: number,
    bad: number,
    total: number,
    ratio: number,
    reached: (bad: number, total: number) => boolean,
  ): boolean {
    const hours = this.#readHours();
    const incoming = hours.in[hour] ?? 0;
    return reached(bad + ratio * incoming, total - (hours.outTotal[hour] ?? 0) + incoming);
  }

  #refine(
    hour: number,
    bad: number,
    total: number,
    ratio: number,
    reached: (bad: number, total: number) => boolean,
  ): Ms | null {
    const start = hour * HOUR_MS;
    const rate = this.#traffic()(epochMs(this.#to + start));
    for (let at = STEP_MS as number; at <= HOUR_MS; at += STEP_MS) {
      const out = this.#rolledOut(start, start + at);
      const incoming = rate * at;
      if (reached(bad - out.bad + ratio * incoming, total - out.total + incoming)) return ms(start + at);
    }
    return null;
  }

  #readHours() {
    if (this.#hours !== null) return this.#hours;
    const count = Math.ceil(this.#lengthMs / HOUR_MS);
    const hours = {
      outBad: new Float64Array(count),
      outTotal: new Float64Array(count),
      in: new Float64Array(count),
    };
    const traffic = this.#traffic();
    for (let hour = 0; hour < count; hour += 1) {
      const start = hour * HOUR_MS;
      const out = this.#rolledOut(start, Math.min(start + HOUR_MS, this.#lengthMs));
      hours.outBad[hour] = out.bad;
      hours.outTotal[hour] = out.total;
      hours.in[hour] = traffic(epochMs(this.#to + start)) * HOUR_MS;
    }
    this.#hours = hours;
    return hours;
  }

  /** What leaves the window between `fromMs` and `toMs` from now, the error-free lead included. */
  #rolledOut(fromMs: number, toMs: number): { bad: number; total: number } {
    const origin = this.#to - this.#lengthMs;
    const { window } = this;
    const leadEnd = origin + (window.lengthMs - window.observedMs);
    const [from, to] = [origin + fromMs, origin + toMs];
    const leadMs = Math.max(0, Math.min(to, leadEnd) - from);
    const leadTotal = leadMs === 0 ? 0 : (window.total / window.observedMs) * leadMs;
    if (to <= leadEnd) return { bad: 0, total: leadTotal };
    const sums = this.#group.range(epochMs(Math.max(from, leadEnd)), epochMs(to));
    return { bad: sums.bad, total: sums.total + leadTotal };
  }

  #traffic(): ExpectedTraffic {
    this.#expected ??= expectedTraffic(this.#group, this.#to);
    return this.#expected;
  }
}

/** The exhaustion figures of a group at the burn of one window: band from its 98 % bounds, pace = SLO window / burn. */
export function exhaustionAt(
  course: BudgetCourse,
  window: BudgetWindow,
  budget: BudgetRatio,
  sloWindowMs: number,
): Exhaustion {
  const ratio = errorRatio(window);
  const burn = burnOf(window, budget);
  const pace = burn === null || burn <= 0 ? null : ms(sloWindowMs / burn);
  if (course.exhausted) {
    const recoversAt = course.recoversAt();
    return { exhausted: true, until: ms(0), low: ms(0), high: ms(0), pace, recoversAt };
  }
  if (ratio === null || ratio <= 0) {
    return { exhausted: false, until: null, low: null, high: null, pace, recoversAt: null };
  }
  const bounds = wilsonBounds(window.bad, paddedTotal(window));
  return {
    exhausted: false,
    until: course.timeAt(ratio),
    low: course.timeAt(bounds.high),
    high: course.timeAt(bounds.low),
    pace,
    recoversAt: null,
  };
}
