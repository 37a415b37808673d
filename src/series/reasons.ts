/**
 * Why a point was not counted. `rejected` reasons are told to the sender; the others are acknowledged and counted.
 */
export const REJECTED = {
  noTime: 'time_missing',
  tooOld: 'too_old',
  noValue: 'value_missing',
  notFinite: 'value_not_finite',
  tooLarge: 'value_too_large',
  temporalityUnspecified: 'temporality_unspecified',
  negativeDelta: 'negative_delta',
  negativeTotal: 'negative_total',
  outOfOrder: 'out_of_order',
  overlap: 'overlapping_interval',
  interleaved: 'interleaved_start',
  bucketsMismatch: 'buckets_do_not_fit_bounds',
  tooManyBuckets: 'too_many_buckets',
  boundsNotIncreasing: 'bounds_not_increasing',
  countMismatch: 'count_is_not_sum_of_buckets',
  scaleRange: 'exponential_range',
  summary: 'summary_not_supported',
  unreadableAttributes: 'attributes_unreadable',
  tooLong: 'attributes_too_long',
  seriesLimit: 'series_limit',
} as const;
export type RejectedReason = (typeof REJECTED)[keyof typeof REJECTED];

/** Acknowledged without counting: seen before, or nothing to count. */
export const PASSED = {
  duplicate: 'duplicate',
  staleMarker: 'stale_marker',
} as const;
export type PassedReason = (typeof PASSED)[keyof typeof PASSED];

/** Noted beside accepting. */
export const NOTED = {
  baseline: 'baseline',
  reset: 'reset',
  gap: 'gap',
  future: 'future',
  newBounds: 'new_bounds',
  clockBack: 'clock_back',
  /** A histogram of nothing that has a sum; the sum is not taken. */
  sumWithoutCount: 'sum_without_count',
  /** The first point of a series in which a sender lumps together what went over its limit of series. */
  overflow: 'sender_overflow',
} as const;
export type NotedReason = (typeof NOTED)[keyof typeof NOTED];

/** Why a point was not accepted. */
export type Refusal = RejectedReason | PassedReason;

/** What applying one point came to; every point comes to exactly one. */
export type PointResult = 'accepted' | Refusal;
