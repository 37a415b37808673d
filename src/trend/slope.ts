import { median } from '../base/median.ts';
import { DAY, type EpochMs, HOUR } from '../base/units.ts';

const HOURS_A_DAY = 24;
const DAYS_A_WEEK = 7;
/** Two days are compared by at least so many hours that both have; a day with fewer is none. */
const COMMON_HOURS_MIN = 6;
/** Beyond it a series hardly has two values that are worth two. */
const CORRELATION_MAX = 0.9;
const ROUNDING = 1e-20;
/** Few days per weekday make their deviation look smaller than it is. */
const HALF = 0.5;
/** Makes a median absolute deviation a normal distribution's standard one. */
const DEVIATIONS_PER_MAD = 1.4826;

/** A value of the hour that ends at `at`. */
export interface Sample {
  readonly at: EpochMs;
  readonly value: number;
}

export interface Slope {
  /** In the unit of the values (per day where they are counts), per week. */
  readonly perWeek: number;
  /** 1 less the two-sided chance of so much order without any trend, 0 to 1. */
  readonly confidence: number;
  /** Middle of the first seven days of which anything is known, and of the last seven days of the span. */
  readonly before: number;
  readonly now: number;
  readonly samples: number;
}

/** Values by hour of one day; NaN = none. */
type Day = Float64Array;

/**
 * How a measure changes over `weeks` weeks that end at `until`, whatever its course over a day and a week.
 *
 * Every pair of days a whole number of weeks apart is compared hour by hour (the middle difference, of counts the mean
 * one); the slope is the median of all differences by their distance: the seasonal Kendall slope estimator (Hirsch,
 * Slack and Smith, Water Resources Research 18, 1982), which is Theil and Sen's with seasons.
 *
 * It is as sure as the surer of two tests: the seasonal Kendall test, signs of the differences added up beside their
 * variance without a trend, sum of n(n-1)(2n+5)/18 over the seven weekdays, which so few weeks limit; and half the
 * slope beside its standard error from what deviates from it, by the median absolute deviation. Both variances are made
 * larger by (1 + r)/(1 - r) where days resemble the day before with correlation r (Yue and Wang, Water Resources
 * Management 18, 2004). Ties count as no order, which errs on the quiet side.
 *
 * Null with no two days that can be compared, without a third week (two points always make a line), or with nothing in
 * the last seven days: what is gone does not become worse.
 */
export function slopeOf(
  samples: readonly Sample[],
  until: EpochMs,
  weeks: number,
  kind: 'level' | 'count',
): Slope | null {
  const { days, count } = byDay(samples, until, weeks);
  const known = days.filter((day) => day !== null).length;
  const { slopes, order, variance } = comparisons(days, kind);
  const oldest = days.findLastIndex((day) => day !== null);
  const now = levelOf(days.slice(0, DAYS_A_WEEK), kind);
  if (slopes.length === 0 || known <= 2 * DAYS_A_WEEK || Number.isNaN(now)) return null;
  const perWeek = median(slopes);
  const { correlation, deviation } = residualsOf(days, perWeek, kind);
  // What one day is worth beside days that know nothing of each other.
  const alike = Math.sqrt((1 + correlation) / (1 - correlation));
  // One less: the sum of signs moves in steps of two.
  const bySigns = Math.max(0, Math.abs(order) - 1) / (Math.sqrt(variance) * alike);
  const bySize = deviation > 0 ? (HALF * Math.abs(perWeek)) / (deviation * alike * errorPerWeek(days)) : 0;
  const z = Math.max(bySigns, bySize);
  return {
    perWeek,
    confidence: 1 - 2 * upperTail(z),
    before: levelOf(days.slice(oldest - DAYS_A_WEEK + 1, oldest + 1), kind),
    now,
    samples: count,
  };
}

/** Days back from `until`, the newest first; null = too little is known of it. */
function byDay(samples: readonly Sample[], until: EpochMs, weeks: number) {
  const all: Day[] = Array.from({ length: weeks * DAYS_A_WEEK }, () => new Float64Array(HOURS_A_DAY).fill(Number.NaN));
  for (const { at, value } of samples) {
    const back = until - at;
    const day = all[Math.floor(back / DAY)];
    if (back < 0 || day === undefined || !Number.isFinite(value)) continue;
    day[Math.floor((back % DAY) / HOUR)] = value;
  }
  const hoursIn = (day: Day): number => day.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : 1), 0);
  const days = all.map((day) => (hoursIn(day) >= COMMON_HOURS_MIN ? day : null));
  return { days, count: days.reduce((sum, day) => sum + (day === null ? 0 : hoursIn(day)), 0) };
}

/** All pairs of days with the same weekday: slope per week of each, sum of signs, and its variance by chance. */
function comparisons(days: readonly (Day | null)[], kind: 'level' | 'count') {
  const slopes: number[] = [];
  let [order, variance] = [0, 0];
  for (let weekday = 0; weekday < DAYS_A_WEEK; weekday += 1) {
    let count = 0;
    for (let older = weekday; older < days.length; older += DAYS_A_WEEK) {
      const before = days[older];
      if (before === null || before === undefined) continue;
      count += 1;
      for (let newer = weekday; newer < older; newer += DAYS_A_WEEK) {
        const after = days[newer];
        if (after === null || after === undefined) continue;
        const rise = riseBetween(before, after, kind);
        if (rise === null) continue;
        slopes.push((rise * DAYS_A_WEEK) / (older - newer));
        order += Math.sign(rise);
      }
    }
    variance += (count * (count - 1) * (2 * count + 5)) / 18;
  }
  return { slopes, order, variance };
}

/** By the hours that both days have; null where they are too few. */
function riseBetween(before: Day, after: Day, kind: 'level' | 'count'): number | null {
  const rises: number[] = [];
  for (let hour = 0; hour < HOURS_A_DAY; hour += 1) {
    const rise = (after[hour] as number) - (before[hour] as number);
    if (!Number.isNaN(rise)) rises.push(rise);
  }
  return rises.length < COMMON_HOURS_MIN ? null : middleOf(rises, kind);
}

const middleOf = (values: readonly number[], kind: 'level' | 'count'): number =>
  kind === 'level' ? median(values) : (values.reduce((sum, value) => sum + value, 0) / values.length) * HOURS_A_DAY;

const valuesOf = (day: Day): readonly number[] => [...day].filter((value) => !Number.isNaN(value));

function levelOf(days: readonly (Day | null)[], kind: 'level' | 'count'): number {
  const values = days.flatMap((day) => (day === null ? [] : valuesOf(day)));
  return values.length === 0 ? Number.NaN : middleOf(values, kind);
}

/** Standard error of a slope per week through these days, each of which deviates by 1. */
function errorPerWeek(days: readonly (Day | null)[]): number {
  const known = days.flatMap((day, back) => (day === null ? [] : [back / DAYS_A_WEEK]));
  const mean = known.reduce((sum, back) => sum + back, 0) / known.length;
  return 1 / Math.sqrt(known.reduce((sum, back) => sum + (back - mean) ** 2, 0));
}

/**
 * What is left of the days once trend, hours and weekdays are taken out: how much each resembles the one before it,
 * never below 0, and the deviation of most of them.
 */
function residualsOf(days: readonly (Day | null)[], perWeek: number, kind: 'level' | 'count') {
  const usual = Array.from({ length: HOURS_A_DAY }, (_, hour) =>
    median(days.flatMap((day) => (day === null || Number.isNaN(day[hour]) ? [] : [day[hour] as number]))),
  );
  const levels = days.map((day, back) => {
    if (day === null) return null;
    const above = [...day]
      .map((value, hour) => value - (usual[hour] as number))
      .filter((value) => !Number.isNaN(value));
    return middleOf(above, kind) + (perWeek * back) / DAYS_A_WEEK;
  });
  const weekdays = Array.from({ length: DAYS_A_WEEK }, (_, weekday) =>
    median(levels.filter((level, back) => level !== null && back % DAYS_A_WEEK === weekday) as number[]),
  );
  const residuals = levels.map((level, back) =>
    level === null ? null : level - (weekdays[back % DAYS_A_WEEK] as number),
  );
  let [together, alone] = [0, 0];
  residuals.forEach((residual, back) => {
    if (residual === null) return;
    alone += residual ** 2;
    together += residual * (residuals[back + 1] ?? 0);
  });
  // What is left of a perfect line is rounding.
  const scale = usual.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : value * value), 0);
  const correlation = alone <= ROUNDING * scale ? 0 : Math.min(CORRELATION_MAX, Math.max(0, together / alone));
  const known = residuals.filter((residual) => residual !== null);
  return { correlation, deviation: DEVIATIONS_PER_MAD * median(known.map(Math.abs)) };
}

/** Chance that a standard normal lies above `z` >= 0 (Abramowitz and Stegun 26.2.17, error below 7.5e-8). */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const [a, b, c, d, e] = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429] as const;
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  return Math.max(0, density * t * (a + t * (b + t * (c + t * (d + t * e)))));
}
