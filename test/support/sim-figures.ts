import { at } from '../../src/sim/columns.ts';
import type { Fleet } from '../../src/sim/fleet.ts';
import { BUCKETS, type HistogramColumns, quantileIn } from '../../src/sim/histogram-columns.ts';
import { CLASS, CLASSES, HANDSHAKE, HANDSHAKE_KINDS } from '../../src/sim/measures.ts';

/** What a fleet has counted up to a moment, folded as tests ask for it. */
export interface Figures {
  readonly requests: number;
  readonly errors: number;
  readonly unanswered: number;
  readonly full: number;
  readonly resumed: number;
  readonly failed: number;
  readonly cpuS: number;
  readonly resets: number;
  readonly opened: number;
  readonly noHealthy: number;
  /** Attempts by host. */
  readonly attempts: readonly number[];
}

const sumOf = (column: Float64Array): number => column.reduce((sum, n) => sum + n, 0);
const strided = (column: Float64Array, every: number, offset: number): number =>
  column.reduce((sum, n, i) => sum + (i % every === offset ? n : 0), 0);

export function figuresOf({ measures, balancerCount, hostCount }: Fleet): Figures {
  const attempts = Array.from({ length: hostCount }, (_, host) => {
    let total = 0;
    for (let balancer = 0; balancer < balancerCount; balancer += 1) {
      for (let i = 0; i < CLASSES; i += 1) total += at(measures.attempts, (balancer * hostCount + host) * CLASSES + i);
    }
    return total;
  });
  return {
    requests: sumOf(measures.requests),
    errors: strided(measures.requests, CLASSES, CLASS.serverError),
    unanswered: strided(measures.requests, CLASSES, CLASS.none),
    full: strided(measures.handshakes, HANDSHAKE_KINDS.length, HANDSHAKE.full),
    resumed: strided(measures.handshakes, HANDSHAKE_KINDS.length, HANDSHAKE.resumed),
    failed: strided(measures.handshakes, HANDSHAKE_KINDS.length, HANDSHAKE.failed),
    cpuS: sumOf(measures.cpuS),
    resets: sumOf(measures.resets),
    opened: sumOf(measures.connectionsOpened),
    noHealthy: sumOf(measures.noHealthy),
    attempts,
  };
}

/** What was counted between two moments. */
export function between(before: Figures, after: Figures): Figures {
  return {
    requests: after.requests - before.requests,
    errors: after.errors - before.errors,
    unanswered: after.unanswered - before.unanswered,
    full: after.full - before.full,
    resumed: after.resumed - before.resumed,
    failed: after.failed - before.failed,
    cpuS: after.cpuS - before.cpuS,
    resets: after.resets - before.resets,
    opened: after.opened - before.opened,
    noHealthy: after.noHealthy - before.noHealthy,
    attempts: after.attempts.map((count, host) => count - (before.attempts[host] ?? 0)),
  };
}

/** The bound that `share` of all that was counted in all cells since `before` does not exceed, s. */
export function quantileOf(columns: HistogramColumns, share: number, before: Float64Array | null = null): number {
  const folded = new Float64Array(BUCKETS);
  columns.counts.forEach((count, i) => {
    folded[i % BUCKETS] = at(folded, i % BUCKETS) + count - (before === null ? 0 : at(before, i));
  });
  return quantileIn(folded, 0, share);
}
