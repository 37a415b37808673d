/** Figures as a person reads them in summaries and evidence. */

/** `0.25 %`, `2.5 %`, `35 %`. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0)} %`;
}

/** `2 ms`, `1.2 s`; of seconds. */
export const timeText = (seconds: number): string =>
  seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(1)} s`;

/** `1 host`, `2 hosts`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `3.5 times`. */
export const timesText = (factor: number): string => `${factor.toFixed(factor < 10 ? 1 : 0)} times`;

/** `145000/s`, three digits. */
export const perSecond = (rate: number): string => `${Number(rate.toPrecision(3))}/s`;
