import { type GroupView, STEP_MS, type WindowSums } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { BudgetWindow } from '../slo/budget.ts';
import type { Calendar, Period } from '../slo/calendar.ts';
import { compositeWindow, isComposite, type MemberWindow, memberWindows, weightedGroup } from './composite.ts';
import { type ExpectedTraffic, TrafficBook } from './traffic.ts';

/** A window as the budget sees it. Input that contradicts itself reads as no events: it must not become a budget. */
export interface ReadWindow extends BudgetWindow {
  readonly inconsistent: boolean;
  /** Of the bad ones, those between the bounds around a latency threshold: perhaps good. */
  readonly between: number;
  /** Of a composite that counts events, whose own figures are a mean in parts. */
  readonly members?: readonly MemberWindow[];
}

/** (from, end] of the SLO window, with what was counted in it even where that is kept out of the budget. */
export interface SloWindowRead extends ReadWindow {
  readonly from: EpochMs;
  readonly end: EpochMs;
  /** The edge really used for `from`. */
  readonly edge: EpochMs;
  readonly observedBad: number;
  readonly observedTotal: number;
  /** Of the bad ones, those between the bounds around a latency threshold. */
  readonly observedBetween: number;
  readonly observedInconsistent: boolean;
}

/** What lies ahead of a calendar budget. */
export interface CalendarRead {
  readonly period: Period;
  readonly next: Period;
  /** Events expected within milliseconds after `to` that the SLO window has not counted yet. */
  readonly arriving: ExpectedTraffic;
}

const NOTHING = { bad: 0, total: 0, between: 0 };

/** (to - lengthMs, to] of a group. */
export function readWindow(group: GroupView, to: EpochMs, lengthMs: number): ReadWindow {
  const from = epochMs(to - lengthMs);
  if (!isComposite(group)) return readSpan(group, from, to);
  return compositeWindow(
    memberWindows(group, (member) => readSpan(member, from, to)),
    lengthMs,
  );
}

const readSpan = (group: GroupView, from: EpochMs, to: EpochMs): ReadWindow =>
  toWindow(group, group.range(from, to), from, to);

function toWindow(group: GroupView, sums: WindowSums, from: EpochMs, to: EpochMs): ReadWindow {
  const { inconsistent } = sums;
  const { bad, total, between = 0 } = inconsistent ? NOTHING : sums;
  const lengthMs = to - from;
  const first = group.firstDataAt;
  const isPadded = first !== null && first > from;
  const observedMs = isPadded ? Math.min(lengthMs, Math.max(STEP_MS, to - first)) : lengthMs;
  // What is left out is no time either: a missing lead has the rate of the time that counts.
  const counted =
    group.corrected === undefined
      ? observedMs
      : Math.max(STEP_MS, observedMs - group.corrected.exclusion.lengthWithin(to - observedMs, to));
  // Written out here and below: copying objects took a third of a tick.
  return {
    bad,
    total,
    lengthMs: lengthMs - observedMs + counted,
    observedMs: counted,
    inconsistent,
    between: Math.max(0, Math.min(between, bad)),
  };
}

function readSlo(group: GroupView, from: EpochMs, end: EpochMs): SloWindowRead {
  const sums = group.range(from, end);
  const seen = group.corrected === undefined ? sums : group.corrected.observed.range(from, end);
  const observedTotal = Math.max(0, seen.total);
  const observedBad = Math.max(0, Math.min(seen.bad, observedTotal));
  const { bad, total, lengthMs, observedMs, inconsistent, between } = toWindow(group, sums, from, end);
  return {
    bad,
    total,
    lengthMs,
    observedMs,
    inconsistent,
    between,
    from,
    end,
    edge: sums.from,
    observedTotal,
    observedBad,
    observedBetween: Math.max(0, Math.min(seen.between ?? 0, observedBad)),
    observedInconsistent: seen.inconsistent,
  };
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
  /** Of a composite that counts events, its weighted events. */
  readonly group: GroupView;
  /** As it was given. */
  readonly counted: GroupView;
  readonly to: EpochMs;
  /**
   * From `to` back by the SLO window, or from its period's start, and on to the end of everything received. Slices count
   * once the watermark has passed them: they end at `to`.
   */
  readonly slo: SloWindowRead;
  /** Null when the SLO window rolls. */
  readonly calendar: CalendarRead | null;
  readonly #lengths: number[] = [];
  readonly #windows: ReadWindow[] = [];
  #inconsistent: boolean;

  /** A calendar window is the period that holds `now`: `to`, or later when nothing is heard any more. */
  constructor(group: GroupView, to: EpochMs, traffic = new TrafficBook(), now: EpochMs = to) {
    this.counted = group;
    this.to = to;
    const { window, budgeting } = group.slo;
    const newest = budgeting.kind === 'occurrences' ? group.lastEventAt : null;
    const end = epochMs(Math.max(to, newest ?? to));
    const from = epochMs(to - window.length);
    this.group = isComposite(group) ? weightedGroup(group, from, end, readSpan) : group;
    if (window.rolling) {
      this.slo = readSlo(this.group, from, end);
      this.calendar = null;
    } else {
      const { slo, ...calendar } = readPeriod(this.group, window.calendar, to, end, traffic, now);
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
    const window = readWindow(this.counted, this.to, lengthMs);
    if (window.inconsistent) this.#inconsistent = true;
    this.#lengths.push(lengthMs);
    this.#windows.push(window);
    return window;
  }
}
