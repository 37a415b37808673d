import { type EpochMs, epochMs } from '../base/units.ts';
import { type Staging, VALUE_INT } from '../otlp/staging.ts';
import type { Reads } from './binding.ts';
import { type NotedReason, type PointResult, REJECTED } from './reasons.ts';
import type { SeriesState } from './series-state.ts';
import type { SeriesTable } from './series-table.ts';
import type { Tally } from './tally.ts';
import {
  createInterval,
  cumulativeInterval,
  deltaInterval,
  firstInterval,
  lastValueInterval,
  type PointInHand,
  rememberTimes,
} from './temporality.ts';

const interval = createInterval();
const TWO_32 = 4_294_967_296;

/** A point of a monotonic sum: its increment goes to every bound counter. */
export function applySum(
  table: SeriesTable,
  row: number,
  staging: Staging,
  point: number,
  hand: PointInHand,
  tally: Tally,
): PointResult {
  const { state } = table;
  const isFirst = state.timeMs[row] === 0;
  const value = staging.value[point] as number;
  let amount = 0;
  if (isFirst) firstInterval(table.contextOf(row), hand, interval);
  else if (hand.isDelta) deltaInterval(state, row, hand, interval);
  else {
    amount = growthOf(state, row, staging, point);
    const hasFallen = amount < 0 || value < (state.value[row] as number);
    cumulativeInterval(state, row, hand, hasFallen ? 'fallen' : 'grown', interval);
  }
  if (interval.kind === 'refused') return interval.reason as PointResult;
  const carried = hand.isDelta ? (state.value[row] as number) : 0;
  if (interval.kind === 'whole') amount = Math.floor(carried + value);
  if (interval.kind !== 'baseline') {
    if (amount > Number.MAX_SAFE_INTEGER) return REJECTED.tooLarge;
    const from = placed(interval.from, hand);
    const to = placed(hand.timeMs, hand);
    const { counters, gauges } = table.bindings[row] as SeriesTable['bindings'][number];
    for (let index = 0; index < counters.length; index += 1) {
      const { cell, weight } = counters[index] as (typeof counters)[number];
      cell.add(from, to, weight * amount);
    }
    if (gauges.length > 0 && !hand.isDelta) setGauges(table, row, to, value);
  }
  if (interval.reason !== null) tally.note(interval.reason as NotedReason);
  rememberTimes(state, row, hand);
  // A delta series keeps the fraction of an event that is not counted yet.
  state.value[row] = hand.isDelta ? carried + value - amount : value;
  state.isInt[row] = staging.valueKind[point] === VALUE_INT ? 1 : 0;
  state.intHigh[row] = staging.intHigh[point] as number;
  state.intLow[row] = staging.intLow[point] as number;
  return 'accepted';
}

/**
 * Whole events since the last point. Ints differ exactly over all 64 bits; fractional totals are floored on both
 * sides, so that the increments always add up to the floored total.
 */
function growthOf(state: SeriesState, row: number, staging: Staging, point: number): number {
  if (state.isInt[row] === 1 && staging.valueKind[point] === VALUE_INT) {
    const high = (staging.intHigh[point] as number) - (state.intHigh[row] as number);
    return high * TWO_32 + ((staging.intLow[point] as number) - (state.intLow[row] as number));
  }
  return Math.floor(staging.value[point] as number) - Math.floor(state.value[row] as number);
}

/**
 * A number whose declared type lies. A gauge's start says nothing about it. Not known before the series is found, so a
 * total or growth below zero is refused here.
 */
export function applyAs(
  reads: Reads,
  table: SeriesTable,
  row: number,
  staging: Staging,
  point: number,
  hand: PointInHand,
  tally: Tally,
): PointResult {
  hand.isDelta = reads === 'growth';
  if (reads === 'level') return applyGauge(table, row, staging, point, hand, tally);
  if ((staging.value[point] as number) < 0) return hand.isDelta ? REJECTED.negativeDelta : REJECTED.negativeTotal;
  hand.startMs = 0;
  hand.startSubNs = 0;
  return applySum(table, row, staging, point, hand, tally);
}

/** A gauge, or a sum that may fall: the last value stands. Delta sums are added up. */
export function applyGauge(
  table: SeriesTable,
  row: number,
  staging: Staging,
  point: number,
  hand: PointInHand,
  tally: Tally,
): PointResult {
  const { state } = table;
  if (state.timeMs[row] !== 0) {
    if (hand.isDelta) deltaInterval(state, row, hand, interval);
    else lastValueInterval(state, row, hand, interval);
    if (interval.kind === 'refused') return interval.reason as PointResult;
    if (interval.reason !== null) tally.note(interval.reason as NotedReason);
  }
  const sent = staging.value[point] as number;
  const value = hand.isDelta ? sent + (state.value[row] as number) : sent;
  state.value[row] = value;
  rememberTimes(state, row, hand);
  setGauges(table, row, placed(hand.timeMs, hand), value);
  return 'accepted';
}

function setGauges(table: SeriesTable, row: number, at: EpochMs, value: number): void {
  const { gauges } = table.bindings[row] as SeriesTable['bindings'][number];
  if (gauges.length === 0) return;
  const { balancer } = table.contextOf(row);
  for (const { cell, weight } of gauges) cell.set(at, balancer, weight * value);
}

/** A time by the sender's clock, where the receiver places it. */
export const placed = (at: number, { shiftMs }: PointInHand): EpochMs => epochMs(at - shiftMs);
