import type { Exhaustion } from './alert.ts';

/** Figures as sentences of alerts carry them. */

export function percentText(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 ? percent.toFixed(0) : percent >= 1 ? percent.toFixed(1) : percent.toPrecision(2)} %`;
}

/** `40 s`, `27 min`, `31 h`, `12 d`: below two of the larger unit the smaller one is used. */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** A threshold of durations as it was set: `300 ms`, `1.5 s`. 0.57 s are 570 ms, whatever the doubles make of it. */
export function latencyText(milliseconds: number): string {
  const exact = Number(milliseconds.toPrecision(12));
  return exact < 1000 ? `${exact} ms` : `${exact / 1000} s`;
}

/** `27 to 36 h`, `50 min to 2 h`: the unit once where both have it. */
export function bandText(low: number, high: number): string {
  const [from, to] = [durationText(low), durationText(high)];
  const [count = '', unit] = from.split(' ');
  return `${to.endsWith(` ${unit}`) ? count : from} to ${to}`;
}

const PERIODS: ReadonlyMap<string, string> = new Map([
  ['30d', 'the month'],
  ['1M', 'the month'],
  ['1w', 'the week'],
]);

/** What a share of an SLO's budget is a share of: `the month` for 30 days or a calendar month, else `the 7d budget`. */
export const budgetText = (window: string | undefined): string =>
  window === undefined ? 'the budget' : (PERIODS.get(window) ?? `the ${window} budget`);

export function exhaustionText({ exhausted, until, low, high }: Exhaustion): string {
  if (exhausted) return 'the budget is exhausted';
  if (until === null) return 'the budget lasts on this course';
  const band = low === null || high === null ? '' : ` (${bandText(low, high)})`;
  return `budget gone in ${durationText(until)}${band}`;
}

export const burnText = (burn: number): string => `${burn >= 10 ? burn.toFixed(0) : burn.toFixed(2)}x`;
