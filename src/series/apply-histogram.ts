import type { EpochMs } from '../base/units.ts';
import type { Staging } from '../otlp/staging.ts';
import { placed } from './apply-number.ts';
import type { ThresholdTarget } from './binding.ts';
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
  const set = table.bounds.match(staging.numbers, boundsFrom, boundsLength, known);
  if (set === null) return REJECTED.tooManyBuckets;
  const isFirst = state.timeMs[row] === 0;
  const hasNewBounds = !isFirst && set.id !== known;
  if (isFirst) firstInterval(table.contextOf(row), hand, interval);
  else if (hand.isDelta) deltaInterval(state, row, hand, interval);
  else {
    const change = hasNewBounds ? 'other' : hasGrown(state, row, staging, point, set.increments) ? 'grown' : 'fallen';
    cumulativeInterval(state, row, hand, change, interval);
  }
  if (interval.kind === 'refused') return interval.reason as PointResult;
  if (interval.kind !== 'baseline') addIncrements(table, row, staging, point, hand, set);
  if (interval.reason !== null) tally.note(interval.reason as NotedReason);
  if (hasNewBounds) tally.note(NOTED.newBounds);
  if (hasSumOfNothing(staging, point)) tally.note(NOTED.sumWithoutCount);
  state.bounds[row] = set.id;
  if (!hand.isDelta) remember(state, row, staging, point);
  rememberTimes(state, row, hand);
  return 'accepted';
}

/**
 * Gives the cells what came since the last point, which `hasGrown` has left in the increments, or the whole value, as
 * `interval` says.
 */
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
  if (!isDifference) fillWhole(staging, point, set.increments);
  for (let index = 0; index < atOrBelow.length; index += 1) {
    const target = atOrBelow[index] as (typeof atOrBelow)[number];
    const { cell, weight, threshold } = target;
    cell.add(from, to, weight * countBelow(set.increments, set.bucketsBelow(threshold)));
    const around = set.bucketAround(threshold);
    if (around >= 0) addBetween(target, set, around, from, to);
  }
  if (histograms.length === 0) return;
  const sum = sumIncrement(state, row, staging, point, isDifference);
  for (let index = 0; index < histograms.length; index += 1) {
    const { cell, toSeconds } = histograms[index] as (typeof histograms)[number];
    cell.add(from, to, set.scaledBy(toSeconds), set.increments, sum === null ? null : sum * toSeconds);
  }
}

/** What lies in the bucket that holds the threshold. Durations begin at 0 and have no end. */
function addBetween(
  { between, weight, toSeconds = 1 }: ThresholdTarget,
  { bounds, increments }: BoundsSet,
  bucket: number,
  from: EpochMs,
  to: EpochMs,
): void {
  if (between === undefined) return;
  const below = bucket === 0 ? 0 : (bounds[bucket - 1] as number) * toSeconds;
  const above = bucket === bounds.length ? Number.POSITIVE_INFINITY : (bounds[bucket] as number) * toSeconds;
  between.add(from, to, weight * (increments[bucket] as number), below, above);
}

/** To cells that count what the values of a histogram count: a number of retries per call, say. */
function addSums(table: SeriesTable, row: number, staging: Staging, point: number, hand: PointInHand): void {
  const { sums = [] } = table.bindings[row] as SeriesTable['bindings'][number];
  const sum = sumIncrement(table.state, row, staging, point, interval.kind === 'difference');
  if (sum === null) return;
  for (const { cell, weight } of sums) {
    cell.add(placed(interval.from, hand), placed(hand.timeMs, hand), Math.round(weight * sum));
  }
}

function fillWhole(staging: Staging, point: number, increments: Float64Array): void {
  const { numbers } = staging;
  const from = staging.countsFrom[point] as number;
  if (staging.countsLength[point] === 0) increments[0] = staging.count[point] as number;
  else for (let index = 0; index < increments.length; index += 1) increments[index] = numbers[from + index] as number;
}

function countBelow(increments: Float64Array, buckets: number): number {
  let sum = 0;
  for (let index = 0; index < buckets; index += 1) sum += increments[index] as number;
  return sum;
}

/** The sum of a point; NaN where none was sent, or where it is the sum of no values and yet not 0. */
function sumOf(staging: Staging, point: number): number {
  if (staging.hasSum[point] === 0 || hasSumOfNothing(staging, point)) return Number.NaN;
  return staging.sum[point] as number;
}

const hasSumOfNothing = (staging: Staging, point: number): boolean =>
  staging.count[point] === 0 && staging.hasSum[point] === 1 && staging.sum[point] !== 0;

/** Null where either point has no sum: senders leave it out when they record negative values. */
function sumIncrement(
  state: SeriesState,
  row: number,
  staging: Staging,
  point: number,
  isDifference: boolean,
): number | null {
  const before = isDifference ? (state.buckets[state.bucketsFrom[row] as number] as number) : 0;
  const sum = sumOf(staging, point) - before;
  return Number.isFinite(sum) ? sum : null;
}

/** Writes what came since the last point of the same bounds; false when its count or any bucket fell. */
function hasGrown(state: SeriesState, row: number, staging: Staging, point: number, increments: Float64Array): boolean {
  const grown = (staging.count[point] as number) - (state.value[row] as number);
  if (staging.countsLength[point] === 0) {
    increments[0] = grown;
    return grown >= 0;
  }
  const { buckets } = state;
  const { numbers } = staging;
  const before = (state.bucketsFrom[row] as number) + 1;
  const from = staging.countsFrom[point] as number;
  let least = grown;
  for (let index = 0; index < increments.length; index += 1) {
    const increment = (numbers[from + index] as number) - (buckets[before + index] as number);
    increments[index] = increment;
    if (increment < least) least = increment;
  }
  return least >= 0;
}

function remember(state: SeriesState, row: number, staging: Staging, point: number): void {
  const length = staging.countsLength[point] as number;
  state.reserveBuckets(row, length + 1);
  state.value[row] = staging.count[point] as number;
  const { buckets } = state;
  const { numbers } = staging;
  const to = state.bucketsFrom[row] as number;
  const from = staging.countsFrom[point] as number;
  buckets[to] = sumOf(staging, point);
  for (let index = 0; index < length; index += 1) buckets[to + 1 + index] = numbers[from + index] as number;
}
