/** A share as people read it: `0.42 %`, `12.5 %`. */
export const percent = (share: number): string => `${(share * 100).toFixed(Math.abs(share) < 0.01 ? 2 : 1)} %`;

/** A duration given in seconds, with three digits: `2.5 ms`, `1.2 s`. */
export const timeText = (seconds: number): string =>
  seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;

/** `2.9x`; `1 = as much as usual`. */
export const timesText = (factor: number): string => `${Number(factor.toPrecision(2))}x`;

/** A rate per second with three digits. */
export const perSecond = (rate: number): string => `${Number(rate.toPrecision(3))}/s`;
