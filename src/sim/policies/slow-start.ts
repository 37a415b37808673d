/** A new host reaches its full weight after this long, ms. */
export const SLOW_START_MS = 60_000;
const SHARE_MIN = 0.1;

/** Share of its weight that a host of this age has: max(0.1, age / 60 s), at most 1. */
export const slowStartShare = (ageMs: number): number => Math.min(1, Math.max(SHARE_MIN, ageMs / SLOW_START_MS));
