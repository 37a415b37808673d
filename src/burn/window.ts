import { type GroupView, STEP_MS, type WindowSums } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { BudgetWindow } from '../slo/budget.ts';
import type { Calendar, Period } from '../slo/calendar.ts';
import { type ExpectedTraffic, TrafficBook } from './traffic.ts';

/** A window as the budget sees it. Input that contradicts itself reads as no events: it must not become a budget. */
export interface ReadWindow extends BudgetWindow {
  readonly inconsistent: boolean;
}

/** (from, end] of the SLO window, with what was counted in it even where that is kept out of the budget. */
export interface SloWindowRead extends ReadWindow {
  readonly from: EpochMs;
  readonly end: EpochMs;
  readonly observedBad: number;
  readonly observedTotal: number;
  readonly observedInconsistent: boolean;
  /** What corrections take out of it. */
  readonly leftOut: { readonly bad: number; readonly total: number };
}

/** What lies ahead of a calendar budget. */
export interface CalendarRead {
  readonly period: Period;
  readonly next: Period;
  /** Events expected within milliseconds after `to` that the SLO window has not counted yet. */
  readonly arriving: ExpectedTraffic;
}

const NOTHING = { bad: 0, total: 0 };

/** (to - lengthMs, to] of a group. */
export const readWindow = (group: GroupView, to: EpochMs, lengthMs: number): ReadWindow =>
  toWindow(group, group.range(epochMs(to - lengthMs), to), epochMs(to - lengthMs), to);

function toWindow(group: GroupView, sums: WindowSums, from: EpochMs, to: EpochMs): ReadWindow {
  const { inconsistent } = sums;
  const { bad, total } = inconsistent ? NOTHING : sums;
  const lengthMs = to - from;
  const first = group.firstDataAt;
  const isPadded = first !== null && first > from;
  const observedMs = isPadded ? Math.min(lengthMs, Math.max(STEP_MS, to - first)) : lengthMs;
  if (group.corrected === undefined) return { bad, total, lengthMs, observedMs, inconsistent };
  // What is left out is no time either: a missing lead has the rate of the time that counts.
  const counted = Math.max(STEP_MS, observedMs - group.corrected.exclusion.lengthWithin(to - observedMs, to));
  return { bad, total, lengthMs: lengthMs - observedMs + counted, observedMs: counted, inconsistent };
}

function readSlo(group: GroupView, from: EpochMs, end: EpochMs): SloWindowRead {
  const sums = group.range(from, end);
  const seen = group.corrected === undefined ? sums : group.corrected.observed.range(from, end);
  const observedTotal = Math.max(0, seen.total);
  const observedBad = Math.max(0, Math.min(seen.bad, observedTotal));
  const observedInconsistent = seen.inconsistent;
  const leftOut = seen === sums ? NOTHING : { bad: seen.bad - sums.bad, total: seen.total - sums.total };
  return { ...toWindow(group, sums, from, end), from, end, observedTotal, observedBad, observedInconsistent, leftOut };
}

/**
 * The period so far, and what its rest is expected to bring: the same hours of the last 7 days where they are known,
 * else the mean of a whole window back from `to`, since a period that has just begun has no mean of its own.
 */
function readPeriod(
  group: GroupView,
  calendar: Calendar,
  to: EpochMs,
  newest: EpochMs,
  traffic: TrafficBook,
  now: EpochMs,
): CalendarRead & { readonly slo: SloWindowRead } {
  const period = calendar.periodAt(now);
  const end = epochMs(Math.min(period.end, Math.max(newest, period.start + STEP_MS)));
  const soFar = readSlo(group, period.start, end);
  const { total, observedMs } = readWindow(group, to, group.slo.window.length);
  const expect = traffic.expect(group, to, total / observedMs);
  const counted = expect(Math.max(0, end - to));
  const arriving = (ms: number): number => Math.max(0, expect(ms) - counted);
  const expected = soFar.inconsistent ? 0 : arriving(period.end - to);
  return { slo: { ...soFar, expected }, period, next: calendar.next(period), arriving };
}

/** One group's windows at one tick: alert windows end at `to`, each length is read once. */
export class GroupWindows {
  readonly group: GroupView;
  readonly to: EpochMs;
  /** From `to` back by the SLO window, or from its period's start, and on to the end of everything received. */
  readonly slo: SloWindowRead;
  /** Null when the SLO window rolls. */
  readonly calendar: CalendarRead | null;
  readonly #lengths: number[] = [];
  readonly #windows: ReadWindow[] = [];
  #inconsistent: boolean;

  /** A calendar window is the period that holds `now`: `to`, or later when nothing is heard any more. */
  constructor(group: GroupView, to: EpochMs, traffic = new TrafficBook(), now: EpochMs = to) {
    this.group = group;
    this.to = to;
    const { window } = group.slo;
    const end = epochMs(Math.max(to, group.lastEventAt ?? to));
    if (window.rolling) {
      this.slo = readSlo(group, epochMs(to - window.length), end);
      this.calendar = null;
    } else {
      const { slo, ...calendar } = readPeriod(group, window.calendar, to, end, traffic, now);
      this.slo = slo;
      this.calendar = calendar;
    }
    this.#inconsistent = this.slo.inconsistent;
  }

  /** Whether any window read so far contradicted itself. */
  get inconsistent(): boolean {
    return this.#inconsistent;
  }

  /** (to - lengthMs, to]. */
  read(lengthMs: number): ReadWindow {
    const known = this.#lengths.indexOf(lengthMs);
    if (known !== -1) return this.#windows[known] as ReadWindow;
    const window = readWindow(this.group, this.to, lengthMs);
    if (window.inconsistent) this.#inconsistent = true;
    this.#lengths.push(lengthMs);
    this.#windows.push(window);
    return window;
  }
}
