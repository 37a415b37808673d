import type { EpochMs } from '../base/units.ts';
import {
  FLAG_NO_RECORDED_VALUE,
  KIND_EXPONENTIAL_HISTOGRAM,
  KIND_GAUGE,
  KIND_HISTOGRAM,
  KIND_SUM,
  KIND_SUMMARY,
  type Staging,
  TEMPORALITY_CUMULATIVE,
  TEMPORALITY_DELTA,
} from '../otlp/staging.ts';
import { applyExponential, applyHistogram } from './apply-histogram.ts';
import { applyGauge, applySum } from './apply-number.ts';
import type { BalancerListener, Binder } from './binding.ts';
import { UnreadableAttributes } from './identity.ts';
import { dropImplausibleStart } from './intervals.ts';
import type { PointContext, PointResult } from './point.ts';
import { NOTED, PASSED, REJECTED, type RejectedReason } from './reasons.ts';
import { type SeriesState, SeriesTable } from './series-table.ts';

export interface IngestSource {
  readonly receivedAt: EpochMs;
  readonly peer: string;
  readonly identityHeader: string | null;
}

export interface ApplyOutcome {
  readonly points: number;
  /** Points that the sender should know were not counted. */
  readonly rejected: number;
  /** English; names up to ten reasons. Empty when nothing was rejected. */
  readonly message: string;
}

export interface SeriesSnapshot {
  readonly series: readonly SeriesState[];
  readonly counters: readonly (readonly [string, number])[];
}

/**
 * Decoded requests to increments. Every point ends in exactly one of: accepted, rejected with a reason, passed (a
 * duplicate, a
 * stale marker); `counters()` holds them, so that points = accepted + rejected + passed.
 */
export interface SeriesIngest {
  apply(staging: Staging, source: IngestSource): ApplyOutcome;
  /** `points`, `accepted`, and one counter per reason. */
  counters(): ReadonlyMap<string, number>;
  seriesCount(): number;
  /** Binds all series again, after a change of SLOs. */
  rebind(binder: Binder): void;
  snapshot(): SeriesSnapshot;
  restore(snapshot: SeriesSnapshot): void;
}

/** Points further ahead of our clock than this are placed at arrival. */
const AHEAD_MS_MAX = 60_000;
const MESSAGE_REASONS_MAX = 10;

export function createSeriesIngest(deps: { binder: Binder; balancers: BalancerListener }): SeriesIngest {
  const table = new SeriesTable(deps.binder);
  const counters = new Map<string, number>();
  const count = (name: string, by = 1): void => {
    counters.set(name, (counters.get(name) ?? 0) + by);
  };
  const context: PointContext = {
    timeMs: 0,
    timeSubNs: 0,
    startMs: 0,
    startSubNs: 0,
    shiftMs: 0,
    isDelta: false,
    note: (reason) => count(reason),
  };
  let request = 0;

  const apply = (staging: Staging, source: IngestSource): ApplyOutcome => {
    request += 1;
    table.begin(staging, source);
    const refused = new Map<RejectedReason, number>();
    let accepted = 0;
    for (const point of inTimeOrder(staging)) {
      const result = applyPoint(staging, point, source);
      if (result === 'accepted') accepted += 1;
      else if (result !== PASSED.duplicate && result !== PASSED.staleMarker) {
        refused.set(result, (refused.get(result) ?? 0) + 1);
        count(result);
      } else count(result);
    }
    count('points', staging.pointCount);
    count('accepted', accepted);
    table.tellBalancers(deps.balancers, source.receivedAt);
    const rejected = [...refused.values()].reduce((sum, one) => sum + one, 0);
    return { points: staging.pointCount, rejected, message: messageOf(refused) };
  };

  const applyPoint = (staging: Staging, point: number, source: IngestSource): PointResult => {
    const metric = staging.pointMetric[point] as number;
    const kind = staging.metricKind[metric] as number;
    const temporality = staging.temporality[metric] as number;
    const timeMs = staging.timeMs[point] as number;
    if (kind === KIND_SUMMARY) return REJECTED.summary;
    if (timeMs === 0 && staging.timeSubNs[point] === 0) return REJECTED.noTime;
    if (((staging.flags[point] as number) & FLAG_NO_RECORDED_VALUE) !== 0) return PASSED.staleMarker;
    if (kind !== KIND_GAUGE && temporality !== TEMPORALITY_CUMULATIVE && temporality !== TEMPORALITY_DELTA) {
      return REJECTED.temporalityUnspecified;
    }
    context.timeMs = timeMs;
    context.timeSubNs = staging.timeSubNs[point] as number;
    context.startMs = staging.startMs[point] as number;
    context.startSubNs = staging.startSubNs[point] as number;
    context.isDelta = temporality === TEMPORALITY_DELTA;
    dropImplausibleStart(context);
    const aheadMs = timeMs - source.receivedAt;
    context.shiftMs = aheadMs > AHEAD_MS_MAX ? aheadMs : 0;
    if (context.shiftMs > 0) context.note(NOTED.future);
    let series: ReturnType<SeriesTable['find']>;
    try {
      series = table.find(staging, point, request);
    } catch (error) {
      if (error instanceof UnreadableAttributes) return REJECTED.unreadableAttributes;
      throw error;
    }
    const result =
      kind === KIND_HISTOGRAM
        ? applyHistogram(series, staging, point, context)
        : kind === KIND_EXPONENTIAL_HISTOGRAM
          ? applyExponential(series, staging, point, context)
          : kind === KIND_SUM && staging.monotonic[metric] === 1
            ? applySum(series, staging, point, context)
            : applyGauge(series, staging, point, context);
    if (result === 'accepted' || result === PASSED.duplicate) table.observe(series, timeMs - context.shiftMs);
    return result;
  };

  return {
    apply,
    counters: () => counters,
    seriesCount: () => table.size,
    rebind: (binder) => table.rebind(binder),
    snapshot: () => ({ series: table.snapshot(), counters: [...counters] }),
    restore(snapshot) {
      table.restore(snapshot.series);
      for (const [name, value] of snapshot.counters) counters.set(name, value);
    },
  };
}

/**
 * Points of one request in the order of their times; the usual case, all of one time or already in order, costs no
 * sort.
 */
function inTimeOrder(staging: Staging): Iterable<number> {
  const { pointCount, timeMs, timeSubNs } = staging;
  const isBefore = (a: number, b: number): number =>
    (timeMs[a] as number) - (timeMs[b] as number) || (timeSubNs[a] as number) - (timeSubNs[b] as number) || a - b;
  const order = Array.from({ length: pointCount }, (_, index) => index);
  for (let point = 1; point < pointCount; point += 1) {
    if (isBefore(point - 1, point) > 0) return order.sort(isBefore);
  }
  return order;
}

function messageOf(refused: ReadonlyMap<RejectedReason, number>): string {
  if (refused.size === 0) return '';
  const parts = [...refused].slice(0, MESSAGE_REASONS_MAX).map(([reason, points]) => `${points} ${reason}`);
  return `data points not counted: ${parts.join(', ')}`;
}
