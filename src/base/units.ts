/**
 * Branded numbers. A plain number is not assignable to any of them, so that a unit is named once,
 * where the number is born. Arithmetic gives a plain number again and is re-branded by the functions below.
 */
declare const unit: unique symbol;
type Branded<Name extends string> = number & { readonly [unit]: Name };

/** A duration in milliseconds. */
export type Ms = Branded<'Ms'>;
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = Branded<'EpochMs'>;
/** A duration in seconds. */
export type Seconds = Branded<'Seconds'>;
/** A share, normally 0 to 1. A spent budget may exceed 1 and what is left of it may be negative. */
export type Ratio = Branded<'Ratio'>;
/** Error ratio divided by the budget ratio: 1 spends exactly the budget in exactly the SLO window. */
export type BurnRate = Branded<'BurnRate'>;

export const ms = (value: number): Ms => value as Ms;
export const epochMs = (value: number): EpochMs => value as EpochMs;
export const seconds = (value: number): Seconds => value as Seconds;
export const ratio = (value: number): Ratio => value as Ratio;
export const burnRate = (value: number): BurnRate => value as BurnRate;

export const msToSeconds = (value: Ms): Seconds => (value / 1000) as Seconds;
export const secondsToMs = (value: Seconds): Ms => (value * 1000) as Ms;
export const later = (at: EpochMs, by: Ms): EpochMs => (at + by) as EpochMs;
export const earlier = (at: EpochMs, by: Ms): EpochMs => (at - by) as EpochMs;
/** `to - from`; negative when `to` lies before `from`. */
export const between = (from: EpochMs, to: EpochMs): Ms => (to - from) as Ms;

export const SECOND: Ms = ms(1000);
export const MINUTE: Ms = ms(60_000);
export const HOUR: Ms = ms(3_600_000);
export const DAY: Ms = ms(86_400_000);
