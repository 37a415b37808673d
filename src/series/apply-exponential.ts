import type { Staging } from '../otlp/staging.ts';
import { placed } from './apply-number.ts';
import {
  countAtOrBelow,
  type ExponentialPoint,
  ExponentialState,
  emptyRun,
  hasFallen,
  isInRange,
  lowerBoundAt,
  seenScale,
  sharedZero,
  sumOf,
  trimZeros,
  upperBoundAt,
} from './exponential.ts';
import { addBuckets, boundsFor } from './exponential-buckets.ts';
import { NOTED, type NotedReason, type PointResult, REJECTED, type Refusal } from './reasons.ts';
import type { SeriesTable } from './series-table.ts';
import type { Tally } from './tally.ts';
import {
  createInterval,
  cumulativeInterval,
  deltaInterval,
  firstInterval,
  type PointInHand,
  rememberTimes,
} from './temporality.ts';

/** Buckets kept of one side: several times the 160 that senders keep to. Empty ones at the edges do not count. */
const BUCKETS_MAX = 1024;

const interval = createInterval();
/** The point in hand, as views into the staging's numbers. */
const current: ExponentialPoint = {
  scale: 0,
  sum: Number.NaN,
  zeroCount: 0,
  zeroThreshold: 0,
  positive: emptyRun(),
  negative: emptyRun(),
};

/** Null, or why the point is refused; its buckets are then in `current`. */
export function checkExponential(staging: Staging, point: number): Refusal | null {
  read(staging, point);
  const { scale, positive, negative, zeroCount, zeroThreshold } = current;
  const count = staging.count[point] as number;
  if (!(count <= Number.MAX_SAFE_INTEGER)) return REJECTED.tooLarge;
  if (!isInRange(scale, positive) || !isInRange(scale, negative)) return REJECTED.scaleRange;
  if (!Number.isFinite(zeroThreshold) || zeroThreshold < 0) return REJECTED.scaleRange;
  if (positive.length > BUCKETS_MAX || negative.length > BUCKETS_MAX) return REJECTED.tooManyBuckets;
  return sumOf(positive) + sumOf(negative) + zeroCount === count ? null : REJECTED.countMismatch;
}

/**
 * A point of an exponential histogram: its count goes to counters, its counts at or below a threshold to latency
 * cells, its bucket increments to stage histograms. Increments are taken at the coarser of the two scales and with the
 * wider of the two zero regions, where both points are exact.
 */
export function applyExponential(
  table: SeriesTable,
  row: number,
  staging: Staging,
  point: number,
  hand: PointInHand,
  tally: Tally,
): PointResult {
  read(staging, point);
  const { state } = table;
  const isFirst = state.timeMs[row] === 0;
  const count = staging.count[point] as number;
  const last = state.exponential.get(row);
  if (isFirst) firstInterval(table.contextOf(row), hand, interval);
  else if (hand.isDelta) deltaInterval(state, row, hand, interval);
  else {
    const fell = count < (state.value[row] as number) || (last !== undefined && hasFallen(last, current));
    cumulativeInterval(state, row, hand, fell ? 'fallen' : 'grown', interval);
  }
  if (interval.kind === 'refused') return interval.reason as PointResult;
  if (interval.kind !== 'baseline') {
    const before = interval.kind === 'difference' ? last : undefined;
    const growth = count - (before === undefined ? 0 : (state.value[row] as number));
    addIncrements(table, row, hand, growth, before);
  }
  if (interval.reason !== null) tally.note(interval.reason as NotedReason);
  if (count === 0 && staging.hasSum[point] === 1 && staging.sum[point] !== 0) tally.note(NOTED.sumWithoutCount);
  if (!hand.isDelta) {
    state.value[row] = count;
    if (last === undefined) state.exponential.set(row, ExponentialState.from(current));
    else last.set(current);
  }
  rememberTimes(state, row, hand);
  return 'accepted';
}

/** Gives the cells what came since `before`, or the whole of the point in hand. */
function addIncrements(
  table: SeriesTable,
  row: number,
  hand: PointInHand,
  growth: number,
  before: ExponentialState | undefined,
): void {
  const from = placed(interval.from, hand);
  const to = placed(hand.timeMs, hand);
  const { counters, atOrBelow, histograms } = table.bindings[row] as SeriesTable['bindings'][number];
  for (const { cell, weight } of counters) cell.add(from, to, weight * growth);
  if (atOrBelow.length + histograms.length === 0) return;
  const scale = before === undefined ? current.scale : Math.min(current.scale, before.scale);
  const zero = before === undefined ? current.zeroThreshold : sharedZero(before, current, scale);
  for (const target of atOrBelow) {
    const { cell, weight, threshold } = target;
    const below = growthAtOrBelow(before, scale, threshold, zero);
    cell.add(from, to, weight * below);
    const upper = upperBound(scale, threshold, zero);
    if (upper === threshold || target.between === undefined) continue;
    const { between, toSeconds = 1 } = target;
    const amount = growthAtOrBelow(before, scale, upper, zero) - below;
    const lower = lowerBoundAt(scale, threshold, zero);
    between.add(from, to, weight * amount, lower * toSeconds, upper * toSeconds);
  }
  const sum = before === undefined ? current.sum : current.sum - before.sum;
  for (const { cell, toSeconds } of histograms) {
    const bounds = boundsFor(scale, toSeconds);
    bounds.set.increments.fill(0);
    addBuckets(bounds, current, zero, 1);
    if (before !== undefined) addBuckets(bounds, before, zero, -1);
    const seconds = Number.isFinite(sum) ? sum * toSeconds : null;
    cell.add(from, to, bounds.set.scaledBy(toSeconds), bounds.set.increments, seconds);
  }
}

/** What was asked last: points of a request share scale and threshold, so that most need no logarithm. */
const asked = { scale: Number.NaN, threshold: Number.NaN, zero: Number.NaN, upper: Number.NaN };

function upperBound(scale: number, threshold: number, zero: number): number {
  if (asked.scale === scale && asked.threshold === threshold && asked.zero === zero) return asked.upper;
  asked.scale = scale;
  asked.threshold = threshold;
  asked.zero = zero;
  asked.upper = upperBoundAt(scale, threshold, zero);
  return asked.upper;
}

/** How many values at or below `limit` have come since `before`. */
function growthAtOrBelow(before: ExponentialState | undefined, scale: number, limit: number, zero: number): number {
  const was = before === undefined ? 0 : countAtOrBelow(before, scale, limit, zero);
  return countAtOrBelow(current, scale, limit, zero) - was;
}

function read(staging: Staging, point: number): void {
  const { positive, negative } = current;
  const hasSum = staging.hasSum[point] === 1 && (staging.count[point] !== 0 || staging.sum[point] === 0);
  current.sum = hasSum ? (staging.sum[point] as number) : Number.NaN;
  current.scale = seenScale(staging.scale[point] as number);
  current.zeroCount = staging.zeroCount[point] as number;
  current.zeroThreshold = staging.zeroThreshold[point] as number;
  positive.numbers = negative.numbers = staging.numbers;
  positive.from = staging.countsFrom[point] as number;
  positive.length = staging.countsLength[point] as number;
  positive.offset = staging.positiveOffset[point] as number;
  negative.from = staging.boundsFrom[point] as number;
  negative.length = staging.boundsLength[point] as number;
  negative.offset = staging.negativeOffset[point] as number;
  trimZeros(positive);
  trimZeros(negative);
}
