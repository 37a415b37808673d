import { bandText, durationText } from '../model/phrases.ts';
import type { ExhaustionView, GroupViewOut, LabelObject } from '../model/views.ts';

/** Figures in words, as every page says them. */

/** `27 min`, `31 h`, `12 d`. */
export const durationWords = (seconds: number): string => durationText(seconds * 1000);

/** A share as per cent with as many digits as it takes to see that it is not 0 or 100. */
export function percentWords(share: number): string {
  const percent = share * 100;
  for (const digits of [0, 1, 2, 3, 4]) {
    const text = percent.toFixed(digits);
    const isEdge = Number(text) === 0 || Number(text) === 100;
    if (Math.abs(Number(text) - percent) < 10 ** -digits / 4 && !(isEdge && percent !== 0 && percent !== 100))
      return `${text} %`;
  }
  return `${percent.toFixed(4)} %`;
}

/** When the budget is gone: `gone in 31 h (27 to 36 h)`, `exhausted`, `lasts on this course`. */
export function exhaustionWords(exhaustion: ExhaustionView): string {
  if (exhaustion.exhausted) return 'exhausted';
  if (exhaustion.seconds === null) return 'lasts on this course';
  const { low, high } = exhaustion;
  const band = low === null || high === null ? '' : ` (${bandText(low * 1000, high * 1000)})`;
  return `gone in ${durationWords(exhaustion.seconds)}${band}`;
}

/** The state of a group, never a bare 100 %. */
export function stateWords(group: GroupViewOut): string {
  switch (group.state) {
    case 'no_data':
      return 'no data: none of its balancers reports';
    case 'no_traffic':
      return 'no traffic: its balancers report, nothing was asked';
    case 'measured':
      return group.coverage < 1 ? `measured by ${percentWords(group.coverage)} of its balancers` : 'measured';
  }
}

export const labelWords = (labels: LabelObject): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name.replace(/^lb\.upstream\./, '')} ${value === '' ? '(none)' : value}`)
    .join(', ');

/** `2 min ago`, from two RFC 3339 times. */
export function agoWords(then: string, now: string): string {
  const seconds = (Date.parse(now) - Date.parse(then)) / 1000;
  return seconds < 1 ? 'now' : `${durationWords(seconds)} ago`;
}

/** `14.4x`; a dash where nothing was counted. */
export const burnWords = (burn: number | null | undefined): string =>
  burn === null || burn === undefined ? '–' : `${burn >= 10 ? Number(burn.toFixed(1)) : burn.toFixed(2)}x`;

/** A count with its thousands apart, fractions to two digits: `12,345`, `79.25`. */
export function figureWords(value: number): string {
  const [whole = '', fraction] = String(Number(value.toFixed(2))).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** A duration in seconds with three digits, in the unit that fits: `450 µs`, `12.3 ms`, `1.5 s`. */
export function timeWords(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 0.001) return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}
