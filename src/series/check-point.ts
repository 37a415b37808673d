import {
  FLAG_NO_RECORDED_VALUE,
  KIND_EXPONENTIAL_HISTOGRAM,
  KIND_GAUGE,
  KIND_HISTOGRAM,
  KIND_SUMMARY,
  type Staging,
  TEMPORALITY_DELTA,
  TEMPORALITY_UNSPECIFIED,
  VALUE_NONE,
} from '../otlp/staging.ts';
import { PASSED, REJECTED, type Refusal } from './reasons.ts';

/** More explicit buckets than any real histogram has. */
const BUCKETS_MAX = 1024;
const ATTRIBUTES_BYTES_MAX = 65_536;
const NAME_BYTES_MAX = 4096;

/** The longest that any cell keeps what it is given (design section 12). */
export const KEPT_MS = 36 * 86_400_000;

/**
 * What makes a point useless in itself, before its series is looked for; null = nothing. A bad point makes no series.
 * No cell keeps points before `oldestMs`.
 */
export function checkPoint(staging: Staging, point: number, oldestMs: number): Refusal | null {
  const metric = staging.pointMetric[point] as number;
  const kind = staging.metricKind[metric] as number;
  if (kind === KIND_SUMMARY) return REJECTED.summary;
  if (staging.timeMs[point] === 0) return REJECTED.noTime;
  if ((staging.timeMs[point] as number) < oldestMs) return REJECTED.tooOld;
  if (((staging.flags[point] as number) & FLAG_NO_RECORDED_VALUE) !== 0) return PASSED.staleMarker;
  if (kind !== KIND_GAUGE && staging.temporality[metric] === TEMPORALITY_UNSPECIFIED) {
    return REJECTED.temporalityUnspecified;
  }
  if ((staging.attributesTo[point] as number) - (staging.attributesFrom[point] as number) > ATTRIBUTES_BYTES_MAX) {
    return REJECTED.tooLong;
  }
  if (kind === KIND_HISTOGRAM) return checkExplicit(staging, point);
  if (kind === KIND_EXPONENTIAL_HISTOGRAM) return null;
  const value = staging.value[point] as number;
  if (staging.valueKind[point] === VALUE_NONE) return REJECTED.noValue;
  if (!Number.isFinite(value)) return REJECTED.notFinite;
  if (value >= 0 || staging.monotonic[metric] === 0) return null;
  return staging.temporality[metric] === TEMPORALITY_DELTA ? REJECTED.negativeDelta : REJECTED.negativeTotal;
}

/** A metric whose name or unit is too long to be one. */
export const hasLongName = ({ nameFrom, nameTo, unitFrom, unitTo }: Staging, metric: number): boolean =>
  (nameTo[metric] as number) - (nameFrom[metric] as number) > NAME_BYTES_MAX ||
  (unitTo[metric] as number) - (unitFrom[metric] as number) > NAME_BYTES_MAX;

function checkExplicit(staging: Staging, point: number): Refusal | null {
  const countsLength = staging.countsLength[point] as number;
  const boundsFrom = staging.boundsFrom[point] as number;
  const boundsLength = staging.boundsLength[point] as number;
  const count = staging.count[point] as number;
  if (count > Number.MAX_SAFE_INTEGER) return REJECTED.tooLarge;
  if (countsLength === 0 && boundsLength === 0) return null;
  if (countsLength !== boundsLength + 1) return REJECTED.bucketsMismatch;
  if (countsLength > BUCKETS_MAX) return REJECTED.tooManyBuckets;
  if (boundsFrom !== staging.orderedBounds && !isOrdered(staging, boundsFrom, boundsLength)) {
    return REJECTED.boundsNotIncreasing;
  }
  return staging.countsSum[point] === count ? null : REJECTED.countMismatch;
}

/** Strictly increasing and without +Inf. What was found so is remembered, since points share their bounds. */
function isOrdered(staging: Staging, from: number, length: number): boolean {
  const { numbers } = staging;
  let last = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < length; index += 1) {
    const bound = numbers[from + index] as number;
    if (!(bound > last)) return false;
    last = bound;
  }
  if (last === Number.POSITIVE_INFINITY) return false;
  if (length > 0) staging.orderedBounds = from;
  return true;
}
