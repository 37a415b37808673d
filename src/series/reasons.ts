/** Why a point was not counted. `rejected` reasons are told to the sender; the others are acknowledged and counted. */
export const REJECTED = {
  noTime: 'time_missing',
  noValue: 'value_missing',
  notFinite: 'value_not_finite',
  temporalityUnspecified: 'temporality_unspecified',
  negativeDelta: 'negative_delta',
  outOfOrder: 'out_of_order',
  overlap: 'overlapping_interval',
  bucketsMismatch: 'buckets_do_not_fit_bounds',
  boundsNotIncreasing: 'bounds_not_increasing',
  countMismatch: 'count_is_not_sum_of_buckets',
  scaleRange: 'exponential_range',
  summary: 'summary_not_supported',
  unreadableAttributes: 'attributes_unreadable',
} as const;
export type RejectedReason = (typeof REJECTED)[keyof typeof REJECTED];

/** Acknowledged without counting: seen before, or nothing to count. */
export const PASSED = {
  duplicate: 'duplicate',
  staleMarker: 'stale_marker',
} as const;
export type PassedReason = (typeof PASSED)[keyof typeof PASSED];

/** Noted beside counting. */
export const NOTED = {
  baseline: 'baseline',
  reset: 'reset',
  gap: 'gap',
  future: 'future',
  newBounds: 'new_bounds',
} as const;
export type NotedReason = (typeof NOTED)[keyof typeof NOTED];
