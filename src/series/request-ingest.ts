import { type EpochMs, epochMs } from '../base/units.ts';
import {
  KIND_EXPONENTIAL_HISTOGRAM,
  KIND_HISTOGRAM,
  KIND_SUM,
  type Staging,
  TEMPORALITY_DELTA,
  timeOrder,
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

/**
 * Work between two ends of a step, in bytes that are looked at. A new series costs some 20 us whatever its length,
 * which is what WORK_PER_POINT stands for.
 */
const WORK_PER_STEP = 16_384;
const WORK_PER_POINT = 256;
const WORK_PER_CONTEXT = 256;
const METRICS_PER_STEP = 64;
const POINTS_PER_STEP = 256;

/** Resource, scope and schema URL together: they are kept once per scope of each sender. */
const CONTEXT_BYTES_MAX = 65_536;

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
  /** Of the request in hand: a series has more than one point; points accepted so far. */
  #isRepeating = false;
  #accepted = 0;
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

  /** Ends at each step after WORK_PER_STEP of work, a millisecond or a few; no other request may come in between. */
  *apply(staging: Staging, source: Source, balancers: BalancerListener): Generator<void, void> {
    this.#request += 1;
    this.#table.bounds.begin();
    this.#contexts.length = 0;
    const senderKey = senderKeyOf(source);
    while (this.#contexts.length < staging.contextCount) {
      this.#findContexts(staging, source, senderKey);
      yield;
    }
    for (let metric = 0; metric < staging.metricCount; ) {
      metric = this.#findMetrics(staging, metric);
      yield;
    }
    const overflowing = this.#table.overflowSeries;
    this.#isRepeating = false;
    if (this.#rows.length < staging.pointCount) this.#rows = new Int32Array(staging.pointCount * 2);
    for (let point = 0; point < staging.pointCount; ) {
      point = this.#findSeries(staging, point, source.receivedAt - KEPT_MS);
      yield;
    }
    this.#tally.noteOverflow(this.#table.overflowSeries - overflowing);
    const order = this.#isRepeating ? (staging.order ?? timeOrder(staging)) : null;
    this.#accepted = 0;
    for (let place = 0; place < staging.pointCount; ) {
      place = this.#applyPoints(staging, order, place, source);
      yield;
    }
    this.#tally.add('points', staging.pointCount);
    this.#tally.add('accepted', this.#accepted);
    yield* this.#finish(balancers, source.receivedAt);
  }

  #findContexts(staging: Staging, source: Source, sender: string): void {
    const { contexts } = this.#table;
    for (let work = 0; work < WORK_PER_STEP; ) {
      const index = this.#contexts.length;
      if (index === staging.contextCount) return;
      const bytes = contextBytes(staging, index);
      work += WORK_PER_CONTEXT + bytes;
      let found: Context | RejectedReason;
      try {
        const mayAdd = contexts.size < this.#maxRows && !contexts.isFull;
        found =
          bytes > CONTEXT_BYTES_MAX
            ? REJECTED.tooLong
            : (contexts.find(staging, index, source, sender, mayAdd) ?? REJECTED.seriesLimit);
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

  /** From `first` on, as far as one step goes; the next metric. */
  #findMetrics(staging: Staging, first: number): number {
    const { metrics } = this.#table;
    const { metricCount, metricContext } = staging;
    if (this.#metricRows.length < metricCount) this.#metricRows = new Int32Array(metricCount * 2);
    const end = Math.min(metricCount, first + METRICS_PER_STEP);
    for (let metric = first; metric < end; metric += 1) {
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
    return end;
  }

  #refusal(reason: RejectedReason): number {
    return -1 - this.#refusals.indexOf(reason);
  }

  /** Finds the series of good points and counts the others, from `first` on as far as one step goes. */
  #findSeries(staging: Staging, first: number, oldestMs: number): number {
    const { pointCount, attributesFrom, attributesTo } = staging;
    let point = first;
    for (let work = 0; work < WORK_PER_STEP && point < pointCount; point += 1) {
      work += WORK_PER_POINT + (attributesTo[point] as number) - (attributesFrom[point] as number);
      const row = this.#findRow(staging, point, oldestMs);
      this.#rows[point] = row;
      if (row < 0) continue;
      if (row >= this.#seenIn.length) this.#seenIn = withRoom(this.#seenIn, row + 1);
      if (this.#seenIn[row] === this.#request) this.#isRepeating = true;
      this.#seenIn[row] = this.#request;
    }
    return point;
  }

  #applyPoints(staging: Staging, order: Int32Array | null, first: number, source: Source): number {
    const end = Math.min(staging.pointCount, first + POINTS_PER_STEP);
    let accepted = 0;
    if (order === null) for (let at = first; at < end; at += 1) accepted += this.#applyPoint(staging, at, source);
    else {
      for (let at = first; at < end; at += 1) accepted += this.#applyPoint(staging, order[at] as number, source);
    }
    this.#accepted += accepted;
    return end;
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
  *#finish(balancers: BalancerListener, receivedAt: EpochMs): Generator<void, void> {
    const newest = new Map<string, Context>();
    let done = 0;
    for (const context of this.#contexts) {
      done += 1;
      if (done % POINTS_PER_STEP === 0) yield;
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

const contextBytes = (staging: Staging, index: number): number =>
  (staging.resourceTo[index] as number) -
  (staging.resourceFrom[index] as number) +
  (staging.scopeTo[index] as number) -
  (staging.scopeFrom[index] as number) +
  (staging.schemaTo[index] as number) -
  (staging.schemaFrom[index] as number);
