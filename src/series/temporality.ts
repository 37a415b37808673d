import type { Context } from './context-table.ts';
import { NOTED, type NotedReason, PASSED, type PassedReason, REJECTED, type RejectedReason } from './reasons.ts';
import type { ResourceState } from './resource-state.ts';
import type { SeriesState } from './series-state.ts';

const FIVE_YEARS_MS = 5 * 365 * 86_400_000;
/** A new resource whose start lies this close before its first point has just begun: its first value is growth. */
const FRESH_START_MS = 600_000;
/** Start times of one stream may differ by this much: some senders compute them anew each time. */
const START_JITTER_MS = 1000;
/** An interval may reach this far into the one before it: clocks are read twice. */
const OVERLAP_JITTER_MS = 10;
/** A stream that was silent this long may be taken over by one with an older start. */
const TAKEOVER_MS = 300_000;
/** A last point this far ahead of our clock was stamped by a clock that has been set right since. */
const CLOCK_BACK_MS = 600_000;
/** Points further ahead of our clock than this are placed at arrival. */
export const AHEAD_MS_MAX = 60_000;

/** The point in hand. One object is reused for all, so that nothing is allocated per point. */
export interface PointInHand {
  timeMs: number;
  timeSubNs: number;
  /** 0 = unknown. */
  startMs: number;
  startSubNs: number;
  receivedAt: number;
  /** How far its interval is moved back, because it lies ahead of our clock. */
  shiftMs: number;
  isDelta: boolean;
  /** Whose it is. */
  resource: ResourceState;
}

/**
 * What a point's times mean for its series. `whole`: the value itself is the increment (a first point, a reset, a
 * delta); `difference`: it is the value less the last one; `baseline`: it counts nothing, and later ones are compared
 * with it; `refused`: it changes nothing, `reason` says why.
 */
export interface Interval {
  kind: 'whole' | 'difference' | 'baseline' | 'refused';
  /** Start of what the increment covers, by the sender's clock. */
  from: number;
  reason: RejectedReason | PassedReason | NotedReason | null;
}

export const createInterval = (): Interval => ({ kind: 'baseline', from: 0, reason: null });

function set(into: Interval, kind: Interval['kind'], from: number, reason: Interval['reason']): void {
  into.kind = kind;
  into.from = from;
  into.reason = reason;
}

/** Compares two times to the nanosecond. */
const compare = (aMs: number, aNs: number, bMs: number, bNs: number): number => (aMs === bMs ? aNs - bNs : aMs - bMs);

/**
 * A start outside [time - 5 years, time] is not what it says. Envoy from 1.37 on (seen with 1.40.0) writes microseconds
 * into the nanosecond field: such a start is read as microseconds where that lies inside; else it counts as not sent.
 */
export function repairStart(point: PointInHand): void {
  if (isPlausible(point)) return;
  const { startMs, startSubNs } = point;
  point.startMs = startMs * 1000 + Math.floor(startSubNs / 1000);
  point.startSubNs = (startSubNs % 1000) * 1000;
  if (isPlausible(point)) return;
  point.startMs = 0;
  point.startSubNs = 0;
}

const isPlausible = ({ startMs, startSubNs, timeMs, timeSubNs }: PointInHand): boolean =>
  startMs >= timeMs - FIVE_YEARS_MS && compare(startMs, startSubNs, timeMs, timeSubNs) <= 0;

/**
 * First points (design section 7): a new series of a known resource covers (the resource's previous point, this one],
 * whatever its start says. A new resource's first point counts if its start lies 0 to 10 min before it, never from a
 * scraper; a start equal to the time is an unknown one. A delta states its own interval.
 */
export function firstInterval(context: Context, point: PointInHand, into: Interval): void {
  const { timeMs, startMs } = point;
  const hasStart = startMs > 0 && compare(startMs, point.startSubNs, timeMs, point.timeSubNs) < 0;
  const previous = context.state.previous(timeMs);
  const isKnown = previous !== Number.NEGATIVE_INFINITY;
  if (point.isDelta) set(into, 'whole', hasStart ? startMs : isKnown ? previous : timeMs, null);
  else if (isKnown) set(into, 'whole', previous, null);
  else if (hasStart && timeMs - startMs <= FRESH_START_MS && !context.isScraped) set(into, 'whole', startMs, null);
  else set(into, 'baseline', timeMs, NOTED.baseline);
}

/** How a cumulative value relates to the last one: `other` = it has other bounds and cannot be compared. */
export type Change = 'grown' | 'fallen' | 'other';

/**
 * Later points of a cumulative series. A start at or behind the last point's time is a restart and the whole value
 * counts; so does a value that fell, whatever the start says. Starts that contradict the last point (a process that
 * began before it, yet after the one that sent it) come from two senders under one name: the younger becomes the
 * baseline, the older is refused.
 */
export function cumulativeInterval(
  state: SeriesState,
  row: number,
  point: PointInHand,
  change: Change,
  into: Interval,
): void {
  const lastMs = state.timeMs[row] as number;
  const order = compare(point.timeMs, point.timeSubNs, lastMs, state.timeSubNs[row] as number);
  if (order <= 0) {
    if (order === 0) set(into, 'refused', 0, PASSED.duplicate);
    else if (!isClockBack(lastMs, point)) set(into, 'refused', 0, REJECTED.outOfOrder);
    else set(into, change === 'grown' ? 'difference' : 'baseline', point.timeMs, NOTED.clockBack);
    return;
  }
  const startMs = point.startMs;
  const lastStartMs = state.startMs[row] as number;
  const hasNewStart = startMs > 0 && (lastStartMs !== startMs || state.startSubNs[row] !== point.startSubNs);
  if (hasNewStart) {
    if (judgeStart(state, row, point, change, into)) return;
  } else if (point.resource.startsAtFlush && startMs > 0) point.resource.observeStart('process');
  if (change === 'grown') set(into, 'difference', lastMs, null);
  else if (change === 'fallen') set(into, 'whole', lastMs, NOTED.reset);
  else set(into, 'baseline', point.timeMs, NOTED.reset);
}

/** True when a start that differs from the last one decides; the interval is then set. */
function judgeStart(state: SeriesState, row: number, point: PointInHand, change: Change, into: Interval): boolean {
  const { startMs, startSubNs } = point;
  const lastMs = state.timeMs[row] as number;
  const lastStartMs = state.startMs[row] as number;
  const sinceLast = compare(startMs, startSubNs, lastMs, state.timeSubNs[row] as number);
  if (compare(startMs, startSubNs, point.timeMs, point.timeSubNs) === 0) {
    // A start equal to the time is an unknown one: nothing counts, and the next point is compared with this one.
    set(into, 'baseline', point.timeMs, NOTED.reset);
    return true;
  }
  if (sinceLast > 0) {
    // Where starts are flushes, this one tells that a request was lost.
    if (point.resource.startsAtFlush && change === 'grown') return false;
    set(into, 'whole', startMs, NOTED.reset);
    return true;
  }
  if (lastStartMs === 0) return false;
  // Equal digits below the millisecond are no coincidence: such a sender gives its last flush as start (Envoy 1.36).
  if (sinceLast === 0 && startSubNs !== 0) point.resource.observeStart('flush');
  if (sinceLast === 0 && (startSubNs !== 0 || change === 'other')) return false;
  if (sinceLast === 0) {
    set(into, 'whole', lastMs, NOTED.reset);
    return true;
  }
  const moved = startMs - lastStartMs;
  if (Math.abs(moved) <= START_JITTER_MS || lastMs - startMs <= START_JITTER_MS) return false;
  if (moved > 0) set(into, 'baseline', point.timeMs, NOTED.reset);
  else if (change === 'fallen') return false;
  else if (point.timeMs - lastMs > TAKEOVER_MS) set(into, 'baseline', point.timeMs, NOTED.reset);
  else set(into, 'refused', 0, REJECTED.interleaved);
  return true;
}

const isClockBack = (lastMs: number, { timeMs, receivedAt }: PointInHand): boolean =>
  lastMs > receivedAt + CLOCK_BACK_MS && timeMs <= receivedAt + AHEAD_MS_MAX;

/** Later points of a delta series: contiguous, behind a gap, the same again, or overlapping what was counted. */
export function deltaInterval(state: SeriesState, row: number, point: PointInHand, into: Interval): void {
  const lastMs = state.timeMs[row] as number;
  const lastSubNs = state.timeSubNs[row] as number;
  const order = compare(point.timeMs, point.timeSubNs, lastMs, lastSubNs);
  if (order === 0) {
    const isSame = point.startMs === state.startMs[row] && point.startSubNs === state.startSubNs[row];
    set(into, 'refused', 0, isSame ? PASSED.duplicate : REJECTED.overlap);
  } else if (order < 0) {
    if (isClockBack(lastMs, point)) set(into, 'whole', point.startMs || point.timeMs, NOTED.clockBack);
    else set(into, 'refused', 0, REJECTED.outOfOrder);
  } else if (point.startMs === 0) {
    set(into, 'whole', lastMs, null);
  } else {
    const contact = compare(point.startMs, point.startSubNs, lastMs, lastSubNs);
    if (lastMs - point.startMs > OVERLAP_JITTER_MS) set(into, 'refused', 0, REJECTED.overlap);
    else set(into, 'whole', Math.max(point.startMs, lastMs), contact > 0 ? NOTED.gap : null);
  }
}

/** Values that replace each other: gauges, and sums that may fall. Only the order of times counts. */
export function lastValueInterval(state: SeriesState, row: number, point: PointInHand, into: Interval): void {
  const lastMs = state.timeMs[row] as number;
  const order = compare(point.timeMs, point.timeSubNs, lastMs, state.timeSubNs[row] as number);
  if (order > 0) set(into, 'difference', lastMs, null);
  else if (order === 0) set(into, 'refused', 0, PASSED.duplicate);
  else if (isClockBack(lastMs, point)) set(into, 'difference', point.timeMs, NOTED.clockBack);
  else set(into, 'refused', 0, REJECTED.outOfOrder);
}

export function rememberTimes(state: SeriesState, row: number, point: PointInHand): void {
  state.timeMs[row] = point.timeMs;
  state.timeSubNs[row] = point.timeSubNs;
  state.startMs[row] = point.startMs;
  state.startSubNs[row] = point.startSubNs;
}
