import { createPrng, type Prng } from '../../src/base/prng.ts';

/** Minute 0 of every history: a Monday, on a step edge of every level. */
export const T0 = Date.UTC(2026, 2, 2);
export const MINUTE_MS = 60_000;
/** Histories start with three clean days, so that no window reaches before them. */
export const CLEAN_MINUTES = 3 * 1440;
export const TROUBLED_MINUTES = 720;
export const MINUTES = CLEAN_MINUTES + TROUBLED_MINUTES;
export const BALANCERS = 2;

/** What one balancer counted for one group, by minute: index m holds what came in (m - 1, m]. */
export interface Source {
  readonly group: string;
  readonly balancer: number;
  readonly good: Int32Array;
  readonly bad: Int32Array;
}

/** A stretch of minutes in which a balancer pushed nothing: the first and the last of them. */
export interface Gap {
  readonly balancer: number;
  readonly first: number;
  readonly last: number;
}

export type Kind = 'steady' | 'bursts' | 'resets' | 'gaps' | 'idle nights' | 'new error series' | 'swings';
export const KINDS: readonly Kind[] = [
  'steady',
  'bursts',
  'resets',
  'gaps',
  'idle nights',
  'new error series',
  'swings',
];

export interface History {
  readonly name: string;
  readonly kind: Kind;
  readonly groups: readonly string[];
  readonly sources: readonly Source[];
  readonly gaps: readonly Gap[];
  /** Minutes at whose beginning a balancer was started again. */
  readonly restarts: readonly { readonly balancer: number; readonly minute: number }[];
  /** A balancer shows an error counter only once it is above 0 (the others show it from minute 0 on). */
  readonly lateErrors: boolean;
}

/** Error ratios around the thresholds of every tier at 99.9 %, and far above. */
const RATIOS = [0, 0.0005, 0.0009, 0.001, 0.0011, 0.0029, 0.0031, 0.0059, 0.0061, 0.0143, 0.0145, 0.05, 0.3, 1];

/** A history from its seed; kinds take turns. */
export function historyOf(seed: number): History {
  const prng = createPrng(seed * 7919 + 1);
  const kind = KINDS[seed % KINDS.length] as Kind;
  const groups = ['a', 'b'].map((letter) => `h${seed}-${letter}`);
  const sources: Source[] = [];
  for (const group of groups) {
    const ratios = courseOf(kind, prng);
    const perMinute = 50 + prng.below(2000);
    for (let balancer = 0; balancer < BALANCERS; balancer += 1) {
      sources.push(sourceOf(group, balancer, kind, prng, ratios, perMinute));
    }
  }
  const gaps: Gap[] = [];
  const restarts: { balancer: number; minute: number }[] = [];
  if (kind === 'gaps') {
    for (const length of [2, 3, 12, 30]) {
      const first = CLEAN_MINUTES + 30 + prng.below(TROUBLED_MINUTES - 90);
      const gap = { balancer: prng.below(BALANCERS), first, last: first + length - 1 };
      // One after the other, with time to be heard between them.
      if (gaps.every((other) => gap.first > other.last + 10 || gap.last < other.first - 10)) gaps.push(gap);
    }
  }
  if (kind === 'resets' || kind === 'steady') {
    for (let index = 0; index < (kind === 'resets' ? 6 : 1); index += 1) {
      restarts.push({ balancer: prng.below(BALANCERS), minute: CLEAN_MINUTES + 2 + prng.below(TROUBLED_MINUTES - 4) });
    }
  }
  return { name: `h${seed}`, kind, groups, sources, gaps, restarts, lateErrors: kind === 'new error series' };
}

/** Error ratio of each troubled minute. */
function courseOf(kind: Kind, prng: Prng): Float64Array {
  const ratios = new Float64Array(TROUBLED_MINUTES + 1);
  const steady = RATIOS[1 + prng.below(RATIOS.length - 1)] as number;
  let until = 0;
  let ratio = steady;
  for (let minute = 1; minute <= TROUBLED_MINUTES; minute += 1) {
    if (kind !== 'steady' && minute > until) {
      ratio = prng.below(2) === 0 ? 0 : (RATIOS[prng.below(RATIOS.length)] as number);
      until = minute + 1 + prng.below(kind === 'bursts' ? 15 : 120);
    }
    ratios[minute] = ratio;
  }
  return ratios;
}

function sourceOf(
  group: string,
  balancer: number,
  kind: Kind,
  prng: Prng,
  ratios: Float64Array,
  perMinute: number,
): Source {
  const good = new Int32Array(MINUTES + 1);
  const bad = new Int32Array(MINUTES + 1);
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    const total = prng.poisson(perMinute * trafficAt(kind, minute));
    const ratio = ratios[minute - CLEAN_MINUTES] ?? 0;
    const failed = ratio === 1 ? total : Math.min(total, prng.poisson(total * ratio));
    good[minute] = total - failed;
    bad[minute] = failed;
  }
  return { group, balancer, good, bad };
}

/** Share of the usual traffic: a swing of 100 to 1 over the day, or nights without any. */
function trafficAt(kind: Kind, minute: number): number {
  const ofDay = (minute % 1440) / 1440;
  if (kind === 'swings') return 0.01 + 0.99 * Math.sin(Math.PI * ofDay) ** 2;
  if (kind === 'idle nights') return minute % 360 < 120 ? 0 : 1;
  return 1;
}

/** Whether a balancer pushed at the end of a minute. */
export const isHeard = ({ gaps }: History, balancer: number, minute: number): boolean =>
  !gaps.some((gap) => gap.balancer === balancer && minute >= gap.first && minute <= gap.last);

/** The minute at whose beginning the counters that a balancer shows at `minute` were 0. */
export function startedAt({ restarts }: History, balancer: number, minute: number): number {
  const before = restarts.filter((one) => one.balancer === balancer && one.minute <= minute);
  return before.reduce((latest, one) => Math.max(latest, one.minute - 1), 0);
}

/** A counter's value at the end of a minute. */
export function valueAt(counts: Int32Array, from: number, minute: number): number {
  let value = 0;
  for (let index = from + 1; index <= minute; index += 1) value += counts[index] as number;
  return value;
}
