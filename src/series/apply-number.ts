import { type Staging, VALUE_INT, VALUE_NONE } from '../otlp/staging.ts';
import { cumulativeInterval, deltaInterval, firstInterval, type Interval } from './intervals.ts';
import { type PointContext, type PointResult, shifted } from './point.ts';
import { REJECTED } from './reasons.ts';
import type { Series } from './series.ts';

const interval: Interval = { kind: 'baseline', from: 0, reason: null };
const TWO_32 = 4_294_967_296;

/** A point of a monotonic sum: its increment goes to every bound counter. */
export function applySum(series: Series, staging: Staging, point: number, context: PointContext): PointResult {
  const valueKind = staging.valueKind[point];
  const value = staging.value[point] as number;
  if (valueKind === VALUE_NONE) return REJECTED.noValue;
  if (!Number.isFinite(value)) return REJECTED.notFinite;
  if (context.isDelta && value < 0) return REJECTED.negativeDelta;
  const { values } = series;
  const isFirst = values.timeMs === 0;
  if (isFirst) firstInterval(series, context, context.isDelta, interval);
  else if (context.isDelta) deltaInterval(series, context, interval);
  else cumulativeInterval(series, context, value < values.value, interval);
  if (interval.kind === 'rejected' || interval.kind === 'passed') return interval.reason as PointResult;
  if (interval.reason !== null) context.note(interval.reason as Parameters<PointContext['note']>[0]);

  const increment = incrementOf(series, staging, point, value, context.isDelta);
  if (interval.kind !== 'baseline') {
    const from = shifted(interval.from, context);
    const to = shifted(context.timeMs, context);
    for (const { cell, weight } of series.binding.counters) cell.add(from, to, weight * increment);
  }
  rememberTimes(series, context);
  values.isInt = valueKind === VALUE_INT;
  values.intHigh = staging.intHigh[point] as number;
  values.intLow = staging.intLow[point] as number;
  // A delta series keeps its running total, so that fractions are not lost between whole events.
  values.value = context.isDelta ? values.value + value : value;
  return 'accepted';
}

/**
 * Whole events since the last point. Ints differ exactly over all 64 bits; fractional totals are floored on both
 * sides, so
 * that the increments always add up to the floored total.
 */
function incrementOf(series: Series, staging: Staging, point: number, value: number, isDelta: boolean): number {
  const { values } = series;
  if (isDelta) return Math.floor(values.value + value) - Math.floor(values.value);
  if (interval.kind === 'whole') return Math.floor(value);
  if (values.isInt && staging.valueKind[point] === VALUE_INT) {
    const high = (staging.intHigh[point] as number) - values.intHigh;
    return high * TWO_32 + ((staging.intLow[point] as number) - values.intLow);
  }
  return Math.floor(value) - Math.floor(values.value);
}

/** A gauge, or a sum that may fall: the last value stands. Delta sums are added up. */
export function applyGauge(series: Series, staging: Staging, point: number, context: PointContext): PointResult {
  const value = staging.value[point] as number;
  if (staging.valueKind[point] === VALUE_NONE) return REJECTED.noValue;
  if (!Number.isFinite(value)) return REJECTED.notFinite;
  const { values } = series;
  if (values.timeMs !== 0) {
    if (context.isDelta) deltaInterval(series, context, interval);
    else cumulativeInterval(series, context, false, interval);
    if (interval.kind === 'rejected' || interval.kind === 'passed') return interval.reason as PointResult;
  }
  values.value = context.isDelta ? values.value + value : value;
  rememberTimes(series, context);
  const at = shifted(context.timeMs, context);
  for (const { cell, weight } of series.binding.gauges)
    cell.set(at, series.description.balancer, weight * values.value);
  return 'accepted';
}

export function rememberTimes({ values }: Series, context: PointContext): void {
  values.timeMs = context.timeMs;
  values.timeSubNs = context.timeSubNs;
  values.startMs = context.startMs;
  values.startSubNs = context.startSubNs;
}
