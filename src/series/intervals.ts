import type { NotedReason, PassedReason, RejectedReason } from './reasons.ts';
import { NOTED, PASSED, REJECTED } from './reasons.ts';
import type { Series } from './series.ts';

const FIVE_YEARS_MS = 5 * 365 * 86_400_000;
/** A new resource whose start lies this close before its first point has just begun: its first value is growth. */
const FRESH_START_MS = 600_000;

/**
 * What a point's times mean for its series. `whole`: the value itself is the increment (a first point, a reset, a delta);
 * `difference`: it is the value less the last one; `baseline`: it counts nothing and is what later ones are compared with.
 */
export interface Interval {
  kind: 'whole' | 'difference' | 'baseline' | 'rejected' | 'passed';
  from: number;
  reason: RejectedReason | PassedReason | NotedReason | null;
}

/** The times of a point; a start outside [time - 5 years, time] is taken as not sent (Envoy sends microseconds). */
export interface PointTimes {
  timeMs: number;
  timeSubNs: number;
  startMs: number;
  startSubNs: number;
}

export function dropImplausibleStart(times: PointTimes): void {
  const isLater =
    times.startMs > times.timeMs || (times.startMs === times.timeMs && times.startSubNs > times.timeSubNs);
  if (isLater || times.startMs < times.timeMs - FIVE_YEARS_MS) {
    times.startMs = 0;
    times.startSubNs = 0;
  }
}

/** Fills and returns the caller's interval, so that nothing is allocated per point. */
function set(into: Interval, kind: Interval['kind'], from: number, reason: Interval['reason']): Interval {
  into.kind = kind;
  into.from = from;
  into.reason = reason;
  return into;
}

/** Compares two times to the nanosecond. */
const compare = (aMs: number, aNs: number, bMs: number, bNs: number): number => (aMs === bMs ? aNs - bNs : aMs - bMs);

/**
 * First points (design section 7): a new series of a known resource covers (the resource's previous point, this one], whatever
 * its start says. A new resource's first point counts if its start lies 0 to 10 min before it, never from a scraper; a start
 * equal to the time is an unknown one.
 */
export function firstInterval(series: Series, times: PointTimes, isDelta: boolean, into: Interval): Interval {
  const { timeMs, startMs } = times;
  const hasStart = startMs > 0 && compare(startMs, times.startSubNs, timeMs, times.timeSubNs) < 0;
  if (isDelta) {
    return set(into, 'whole', hasStart ? startMs : (series.resource.previous(timeMs) ?? timeMs), null);
  }
  const previous = series.resource.previous(timeMs);
  if (previous !== null) return set(into, 'whole', previous, null);
  if (hasStart && timeMs - startMs <= FRESH_START_MS && !series.isScraped) {
    return set(into, 'whole', startMs, null);
  }
  return set(into, 'baseline', timeMs, NOTED.baseline);
}

/** Later points of a cumulative series, by their times alone; `hasDecreased` says that the value fell. */
export function cumulativeInterval(series: Series, times: PointTimes, hasDecreased: boolean, into: Interval): Interval {
  const { values } = series;
  const order = compare(times.timeMs, times.timeSubNs, values.timeMs, values.timeSubNs);
  if (order === 0) return set(into, 'passed', 0, PASSED.duplicate);
  if (order < 0) return set(into, 'rejected', 0, REJECTED.outOfOrder);
  const hasNewStart =
    times.startMs > 0 &&
    values.startMs > 0 &&
    compare(times.startMs, times.startSubNs, values.startMs, values.startSubNs) > 0;
  if (hasNewStart) {
    const isUnknown = compare(times.startMs, times.startSubNs, times.timeMs, times.timeSubNs) === 0;
    if (isUnknown) return set(into, 'baseline', times.timeMs, NOTED.reset);
    return set(into, 'whole', Math.max(values.timeMs, times.startMs), NOTED.reset);
  }
  if (hasDecreased) return set(into, 'whole', values.timeMs, NOTED.reset);
  return set(into, 'difference', values.timeMs, null);
}

/** Later points of a delta series: contiguous, behind a gap, the same again, or overlapping what was counted. */
export function deltaInterval(series: Series, times: PointTimes, into: Interval): Interval {
  const { values } = series;
  const order = compare(times.timeMs, times.timeSubNs, values.timeMs, values.timeSubNs);
  if (order === 0) {
    const isSame = times.startMs === values.startMs && times.startSubNs === values.startSubNs;
    return isSame ? set(into, 'passed', 0, PASSED.duplicate) : set(into, 'rejected', 0, REJECTED.overlap);
  }
  if (order < 0) return set(into, 'rejected', 0, REJECTED.outOfOrder);
  if (times.startMs === 0) return set(into, 'whole', values.timeMs, null);
  const contact = compare(times.startMs, times.startSubNs, values.timeMs, values.timeSubNs);
  if (contact < 0) return set(into, 'rejected', 0, REJECTED.overlap);
  return set(into, 'whole', times.startMs, contact > 0 ? NOTED.gap : null);
}
