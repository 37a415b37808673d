import { type EpochMs, epochMs } from '../base/units.ts';
import {
  KIND_EXPONENTIAL_HISTOGRAM,
  KIND_HISTOGRAM,
  KIND_SUM,
  type Staging,
  TEMPORALITY_DELTA,
} from '../otlp/staging.ts';
import { applyExponential, checkExponential } from './apply-exponential.ts';
import { applyHistogram } from './apply-histogram.ts';
import { applyAs, applyGauge, applySum, placed } from './apply-number.ts';
import { UnreadableAttributes } from './attribute-reader.ts';
import type { BalancerListener } from './binding.ts';
import { checkPoint, hasLongName, KEPT_MS } from './check-point.ts';
import { withRoom } from './columns.ts';
import { type Context, senderKeyOf } from './context-table.ts';
import type { Sender } from './identity.ts';
import { NOTED, type PointResult, REJECTED, type RejectedReason } from './reasons.ts';
import { ResourceState } from './resource-state.ts';
import type { SeriesTable } from './series-table.ts';
import type { Tally } from './tally.ts';
import { AHEAD_MS_MAX, type PointInHand, repairStart } from './temporality.ts';

type Source = Sender & { readonly receivedAt: EpochMs };

/** The work on one request; its scratch columns are kept from one to the next. */
export class RequestIngest {
  readonly #table: SeriesTable;
  readonly #tally: Tally;
  readonly #maxRows: number;
  /** By scope of the request: its context, or why its points are refused. */
  #contexts: (Context | RejectedReason)[] = [];
  /** Row of each metric of the request, or minus one minus a place in `#refusals`. */
  #metricRows = new Int32Array(64);
  readonly #refusals: RejectedReason[] = [REJECTED.unreadableAttributes, REJECTED.seriesLimit, REJECTED.tooLong];
  /** Series of each point, -1 = refused. */
  #rows = new Int32Array(256);
  /** Request that last had a point of each series. */
  #seenIn = new Uint32Array(64);
  #request = 0;
  /** Fractions, so that the fields are doubles from the start. */
  readonly #hand: PointInHand = {
    timeMs: 0.5,
    timeSubNs: 0,
    startMs: 0.5,
    startSubNs: 0,
    receivedAt: 0.5,
    shiftMs: 0.5,
    isDelta: false,
    resource: new ResourceState(''),
  };

  /** `maxSeries` also bounds what is remembered of contexts and metrics. */
  constructor(table: SeriesTable, tally: Tally, maxSeries: number) {
    this.#table = table;
    this.#tally = tally;
    this.#maxRows = 2 * maxSeries;
  }

  apply(staging: Staging, source: Source, balancers: BalancerListener): void {
    this.#request += 1;
    this.#table.bounds.begin();
    this.#findContexts(staging, source);
    this.#findMetrics(staging);
    const overflowing = this.#table.overflowSeries;
    const isRepeating = this.#findSeries(staging, source.receivedAt - KEPT_MS);
    this.#tally.noteOverflow(this.#table.overflowSeries - overflowing);
    const { pointCount } = staging;
    let accepted = 0;
    if (isRepeating) for (const point of inTimeOrder(staging)) accepted += this.#applyPoint(staging, point, source);
    else for (let point = 0; point < pointCount; point += 1) accepted += this.#applyPoint(staging, point, source);
    this.#tally.add('points', pointCount);
    this.#tally.add('accepted', accepted);
    this.#finish(balancers, source.receivedAt);
  }

  #findContexts(staging: Staging, source: Source): void {
    const { contexts } = this.#table;
    const sender = senderKeyOf(source);
    this.#contexts.length = 0;
    for (let index = 0; index < staging.contextCount; index += 1) {
      let found: Context | RejectedReason;
      try {
        found = contexts.find(staging, index, source, sender, contexts.size < this.#maxRows) ?? REJECTED.seriesLimit;
      } catch (error) {
        found = reasonOf(error);
      }
      if (typeof found !== 'string') {
        found.state.begin(this.#request);
        found.newestAt = Number.NEGATIVE_INFINITY;
      }
      this.#contexts.push(found);
    }
  }

  #findMetrics(staging: Staging): void {
    const { metrics } = this.#table;
    const { metricCount, metricContext } = staging;
    if (this.#metricRows.length < metricCount) this.#metricRows = new Int32Array(metricCount * 2);
    for (let metric = 0; metric < metricCount; metric += 1) {
      const context = this.#contexts[metricContext[metric] as number] as Context | RejectedReason;
      let row = -1;
      if (typeof context === 'string') row = this.#refusal(context);
      else if (hasLongName(staging, metric)) row = this.#refusal(REJECTED.tooLong);
      else {
        try {
          const mayAdd = !this.#table.isFull && metrics.size < this.#maxRows;
          row = metrics.find(staging, metric, context.id, mayAdd);
          if (row < 0) row = this.#refusal(REJECTED.seriesLimit);
        } catch (error) {
          row = this.#refusal(reasonOf(error));
        }
      }
      this.#metricRows[metric] = row;
    }
  }

  #refusal(reason: RejectedReason): number {
    return -1 - this.#refusals.indexOf(reason);
  }

  /** Finds the series of every good point and counts the others; true when a series has more than one point. */
  #findSeries(staging: Staging, oldestMs: number): boolean {
    const { pointCount } = staging;
    if (this.#rows.length < pointCount) this.#rows = new Int32Array(pointCount * 2);
    let isRepeating = false;
    for (let point = 0; point < pointCount; point += 1) {
      const row = this.#findRow(staging, point, oldestMs);
      this.#rows[point] = row;
      if (row < 0) continue;
      if (row >= this.#seenIn.length) this.#seenIn = withRoom(this.#seenIn, row + 1);
      if (this.#seenIn[row] === this.#request) isRepeating = true;
      this.#seenIn[row] = this.#request;
    }
    return isRepeating;
  }

  #findRow(staging: Staging, point: number, oldestMs: number): number {
    let wrong = checkPoint(staging, point, oldestMs);
    if (wrong === null) {
      const metric = staging.pointMetric[point] as number;
      if (staging.metricKind[metric] === KIND_EXPONENTIAL_HISTOGRAM) wrong = checkExponential(staging, point);
      const metricRow = this.#metricRows[metric] as number;
      if (wrong === null && metricRow < 0) wrong = this.#refusals[-1 - metricRow] as RejectedReason;
      if (wrong === null) {
        try {
          const row = this.#table.find(staging, point, metricRow);
          if (row >= 0) return row;
          wrong = REJECTED.seriesLimit;
        } catch (error) {
          wrong = reasonOf(error);
        }
      }
    }
    this.#tally.refuse(wrong, staging, point);
    return -1;
  }

  /** 1 when the point was accepted. */
  #applyPoint(staging: Staging, point: number, source: Source): 0 | 1 {
    const row = this.#rows[point] as number;
    if (row < 0) return 0;
    const hand = this.#hand;
    const metric = staging.pointMetric[point] as number;
    hand.timeMs = staging.timeMs[point] as number;
    hand.timeSubNs = staging.timeSubNs[point] as number;
    hand.startMs = staging.startMs[point] as number;
    hand.startSubNs = staging.startSubNs[point] as number;
    hand.receivedAt = source.receivedAt;
    hand.isDelta = staging.temporality[metric] === TEMPORALITY_DELTA;
    const aheadMs = hand.timeMs - source.receivedAt;
    hand.shiftMs = aheadMs > AHEAD_MS_MAX ? aheadMs : 0;
    const context = this.#contexts[staging.metricContext[metric] as number] as Context;
    hand.resource = context.state;
    repairStart(hand);
    const result = this.#applyKind(staging, point, row, metric);
    if (result !== 'accepted') {
      this.#tally.refuse(result, staging, point);
      return 0;
    }
    if (hand.shiftMs > 0) this.#tally.note(NOTED.future);
    context.state.observe(hand.timeMs);
    const at = placed(hand.timeMs, hand);
    if (at > context.newestAt) context.newestAt = at;
    return 1;
  }

  #applyKind(staging: Staging, point: number, row: number, metric: number): PointResult {
    const kind = staging.metricKind[metric];
    if (kind === KIND_HISTOGRAM) return applyHistogram(this.#table, row, staging, point, this.#hand, this.#tally);
    if (kind === KIND_EXPONENTIAL_HISTOGRAM) {
      return applyExponential(this.#table, row, staging, point, this.#hand, this.#tally);
    }
    const { reads } = this.#table.bindings[row] as SeriesTable['bindings'][number];
    if (reads !== undefined) return applyAs(reads, this.#table, row, staging, point, this.#hand, this.#tally);
    if (kind === KIND_SUM && staging.monotonic[metric] === 1) {
      return applySum(this.#table, row, staging, point, this.#hand, this.#tally);
    }
    return applyGauge(this.#table, row, staging, point, this.#hand, this.#tally);
  }

  /** Ends the request for its resources, and tells each balancer's newest point once. */
  #finish(balancers: BalancerListener, receivedAt: EpochMs): void {
    const newest = new Map<string, Context>();
    for (const context of this.#contexts) {
      if (typeof context === 'string') continue;
      context.state.finish();
      const other = newest.get(context.balancer)?.newestAt ?? Number.NEGATIVE_INFINITY;
      if (context.newestAt > other) newest.set(context.balancer, context);
    }
    for (const { balancer, resource, newestAt } of newest.values()) {
      balancers.heard(balancer, resource, epochMs(newestAt), receivedAt);
    }
  }
}

function reasonOf(error: unknown): RejectedReason {
  if (error instanceof UnreadableAttributes) return REJECTED.unreadableAttributes;
  throw error;
}

/** The points of a request in the order of their times. */
function inTimeOrder({ pointCount, timeMs, timeSubNs }: Staging): number[] {
  return Array.from({ length: pointCount }, (_, index) => index).sort(
    (a, b) =>
      (timeMs[a] as number) - (timeMs[b] as number) || (timeSubNs[a] as number) - (timeSubNs[b] as number) || a - b,
  );
}
