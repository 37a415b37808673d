import { type GroupView, STEP_MS, type WindowSums } from '../aggregate/view.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { BudgetWindow } from '../slo/budget.ts';

/** A window as the budget sees it. Input that contradicts itself reads as no events: it must not become a budget. */
export interface ReadWindow extends BudgetWindow {
  readonly inconsistent: boolean;
}

/** The SLO window, with what was counted in it even where that is kept out of the budget. */
export interface SloWindowRead extends ReadWindow {
  readonly observedBad: number;
  readonly observedTotal: number;
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
  return { bad, total, lengthMs, observedMs, inconsistent };
}

/** One group's windows at one tick: alert windows end at `to`, each length is read once. */
export class GroupWindows {
  readonly group: GroupView;
  readonly to: EpochMs;
  /** From `to` back by the SLO window, and on to the end of everything received. */
  readonly slo: SloWindowRead;
  readonly #lengths: number[] = [];
  readonly #windows: ReadWindow[] = [];
  #inconsistent: boolean;

  constructor(group: GroupView, to: EpochMs) {
    this.group = group;
    this.to = to;
    const end = epochMs(Math.max(to, group.lastEventAt ?? to));
    const from = epochMs(to - group.slo.window.length);
    const sums = group.range(from, end);
    const observedTotal = Math.max(0, sums.total);
    const observedBad = Math.max(0, Math.min(sums.bad, observedTotal));
    this.slo = { ...toWindow(group, sums, from, end), observedTotal, observedBad };
    this.#inconsistent = sums.inconsistent;
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
