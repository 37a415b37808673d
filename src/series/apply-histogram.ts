import type { Staging } from '../otlp/staging.ts';
import { placed } from './apply-number.ts';
import type { BoundsSet } from './bounds-table.ts';
import { NOTED, type NotedReason, type PointResult, REJECTED } from './reasons.ts';
import type { SeriesState } from './series-state.ts';
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

const interval = createInterval();
/** Bounds are matched as numbers; this much is rounding of units (0.3 s / 1e-3). */
const TOLERANCE = 1e-12;

/**
 * A point of an explicit histogram: its count goes to counters, its counts at or below a threshold to latency cells,
 * its bucket increments to stage histograms. A histogram without buckets is one bucket over everything. Other bounds
 * than last time begin another stream: its first value counts if its start lies behind the last point, else it is a
 * baseline.
 */
export function applyHistogram(
  table: SeriesTable,
  row: number,
  staging: Staging,
  point: number,
  hand: PointInHand,
  tally: Tally,
): PointResult {
  const { state } = table;
  const known = state.bounds[row] as number;
  const boundsFrom = staging.boundsFrom[point] as number;
  const boundsLength = staging.boundsLength[point] as number;
  let set: BoundsSet | null = known < 0 ? null : table.bounds.get(known);
  if (set === null || !set.equals(staging.numbers, boundsFrom, boundsLength)) {
    set = table.bounds.find(staging.numbers, boundsFrom, boundsLength);
    if (set === null) return REJECTED.tooManyBuckets;
  }
  const isFirst = state.timeMs[row] === 0;
  const hasNewBounds = !isFirst && set.id !== known;
  if (isFirst) firstInterval(table.contextOf(row), hand, interval);
  else if (hand.isDelta) deltaInterval(state, row, hand, interval);
  else {
    const change = hasNewBounds ? 'other' : hasFallen(state, row, staging, point) ? 'fallen' : 'grown';
    cumulativeInterval(state, row, hand, change, interval);
  }
  if (interval.kind === 'refused') return interval.reason as PointResult;
  if (interval.kind !== 'baseline') addIncrements(table, row, staging, point, hand, set);
  if (interval.reason !== null) tally.note(interval.reason as NotedReason);
  if (hasNewBounds) tally.note(NOTED.newBounds);
  state.bounds[row] = set.id;
  if (!hand.isDelta) remember(state, row, staging, point);
  rememberTimes(state, row, hand);
  return 'accepted';
}

/** Gives the cells what came since the last point, or the whole value, as `interval` says. */
function addIncrements(
  table: SeriesTable,
  row: number,
  staging: Staging,
  point: number,
  hand: PointInHand,
  set: BoundsSet,
): void {
  const { counters, atOrBelow, histograms, sums } = table.bindings[row] as SeriesTable['bindings'][number];
  if (sums !== undefined) addSums(table, row, staging, point, hand);
  if (counters.length + atOrBelow.length + histograms.length === 0) return;
  const { state } = table;
  const isDifference = interval.kind === 'difference';
  const from = placed(interval.from, hand);
  const to = placed(hand.timeMs, hand);
  const count = (staging.count[point] as number) - (isDifference ? (state.value[row] as number) : 0);
  for (let index = 0; index < counters.length; index += 1) {
    const { cell, weight } = counters[index] as (typeof counters)[number];
    cell.add(from, to, weight * count);
  }
  if (atOrBelow.length + histograms.length === 0) return;
  fillIncrements(state, row, staging, point, set.increments, isDifference);
  for (let index = 0; index < atOrBelow.length; index += 1) {
    const { cell, weight, threshold } = atOrBelow[index] as (typeof atOrBelow)[number];
    cell.add(from, to, weight * countBelow(set, threshold));
  }
  if (histograms.length === 0) return;
  const sum = sumIncrement(state, row, staging, point, isDifference);
  for (let index = 0; index < histograms.length; index += 1) {
    const { cell, toSeconds } = histograms[index] as (typeof histograms)[number];
    cell.add(from, to, set.scaledBy(toSeconds), set.increments, sum === null ? null : sum * toSeconds);
  }
}

/** To cells that count what the values of a histogram count: a number of retries per call, say. */
function addSums(table: SeriesTable, row: number, staging: Staging, point: number, hand: PointInHand): void {
  const { sums = [] } = table.bindings[row] as SeriesTable['bindings'][number];
  const sum = sumIncrement(table.state, row, staging, point, interval.kind === 'difference');
  if (sum === null) return;
  for (const { cell, weight } of sums) {
    cell.add(placed(interval.from, hand), placed(hand.timeMs, hand), weight * Math.round(sum));
  }
}

function fillIncrements(
  state: SeriesState,
  row: number,
  staging: Staging,
  point: number,
  increments: Float64Array,
  isDifference: boolean,
): void {
  const { numbers } = staging;
  const { buckets } = state;
  const countsFrom = staging.countsFrom[point] as number;
  const before = (state.bucketsFrom[row] as number) + 1;
  if (staging.countsLength[point] === 0) {
    increments[0] = (staging.count[point] as number) - (isDifference ? (state.value[row] as number) : 0);
    return;
  }
  for (let index = 0; index < increments.length; index += 1) {
    const was = isDifference ? (buckets[before + index] as number) : 0;
    increments[index] = (numbers[countsFrom + index] as number) - was;
  }
}

/** Counts in buckets whose upper bound is at or below the threshold. Bounds are inclusive. */
function countBelow({ bounds, increments }: BoundsSet, threshold: number): number {
  const limit = threshold * (1 + TOLERANCE);
  let sum = 0;
  for (let index = 0; index < bounds.length && (bounds[index] as number) <= limit; index += 1) {
    sum += increments[index] as number;
  }
  return sum;
}

/** Null where either point has no sum: senders leave it out when they record negative values. */
function sumIncrement(
  state: SeriesState,
  row: number,
  staging: Staging,
  point: number,
  isDifference: boolean,
): number | null {
  if (staging.hasSum[point] === 0) return null;
  const before = isDifference ? (state.buckets[state.bucketsFrom[row] as number] as number) : 0;
  const sum = (staging.sum[point] as number) - before;
  return Number.isFinite(sum) ? sum : null;
}

function hasFallen(state: SeriesState, row: number, staging: Staging, point: number): boolean {
  if ((staging.count[point] as number) < (state.value[row] as number)) return true;
  const { buckets } = state;
  const { numbers } = staging;
  const before = (state.bucketsFrom[row] as number) + 1;
  const from = staging.countsFrom[point] as number;
  const length = staging.countsLength[point] as number;
  for (let index = 0; index < length; index += 1) {
    if ((numbers[from + index] as number) < (buckets[before + index] as number)) return true;
  }
  return false;
}

function remember(state: SeriesState, row: number, staging: Staging, point: number): void {
  const length = staging.countsLength[point] as number;
  state.reserveBuckets(row, length + 1);
  state.value[row] = staging.count[point] as number;
  const { buckets } = state;
  const { numbers } = staging;
  const to = state.bucketsFrom[row] as number;
  const from = staging.countsFrom[point] as number;
  buckets[to] = staging.hasSum[point] === 1 ? (staging.sum[point] as number) : Number.NaN;
  for (let index = 0; index < length; index += 1) buckets[to + 1 + index] = numbers[from + index] as number;
}
