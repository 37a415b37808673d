import { assert } from '../base/assert.ts';
import { drained } from '../base/steps.ts';
import type { EpochMs } from '../base/units.ts';
import type { Staging } from '../otlp/staging.ts';
import type { BalancerListener, Binder } from './binding.ts';
import { type HashRange, hashRange } from './bytes.ts';
import { RequestIngest } from './request-ingest.ts';
import { SeriesTable } from './series-table.ts';
import { restoreSnapshot, type SeriesSnapshot, takeSnapshot } from './snapshot.ts';
import { Tally } from './tally.ts';

export interface IngestSource {
  readonly receivedAt: EpochMs;
  /** Address without port. */
  readonly peer: string;
  readonly identityHeader: string | null;
}

export interface ApplyOutcome {
  readonly points: number;
  /** Points that the sender should know were not counted. */
  readonly rejected: number;
  /**
   * English; names up to ten reasons with counts and metrics, and warns of series that say they overflow. Empty when
   * there is neither.
   */
  readonly message: string;
}

/**
 * Decoded requests to increments. Every point ends in exactly one of: accepted, rejected with a reason, passed (a
 * duplicate, a stale marker); `counters()` holds them, so that points = accepted + rejected + passed.
 */
export interface SeriesIngest {
  apply(staging: Staging, source: IngestSource): ApplyOutcome;
  /**
   * The same in steps of a millisecond or a few. Until the last step nothing else may be called but `counters` and
   * `seriesCount`.
   */
  applyInSteps(staging: Staging, source: IngestSource): Generator<void, ApplyOutcome>;
  /** `points`, `accepted`, and one counter per reason (see reasons.ts). */
  counters(): ReadonlyMap<string, number>;
  seriesCount(): number;
  /** Binds all series again, after a change of SLOs. */
  rebind(binder: Binder): void;
  /** Plain data that structured clone takes. */
  snapshot(): SeriesSnapshot;
  /** Takes up a snapshot before anything was applied; everything then goes on exactly as from where it was taken. */
  restore(snapshot: SeriesSnapshot): void;
}

export interface IngestOptions {
  readonly binder: Binder;
  readonly balancers: BalancerListener;
  /** New series beyond this are refused; known ones go on. */
  readonly maxSeries?: number;
  /** Hash of byte ranges; equal hashes are told apart by their bytes. */
  readonly hash?: HashRange;
}

const MAX_SERIES = 2_000_000;

export function createSeriesIngest(options: IngestOptions): SeriesIngest {
  const { binder, hash = hashRange, maxSeries = MAX_SERIES } = options;
  const table = new SeriesTable({ binder, hash, maxSeries });
  const tally = new Tally();
  const request = new RequestIngest(table, tally, maxSeries);
  function* applyInSteps(staging: Staging, source: IngestSource): Generator<void, ApplyOutcome> {
    tally.begin();
    yield* request.apply(staging, source, options.balancers);
    return { points: staging.pointCount, rejected: tally.rejected, message: tally.message() };
  }
  return {
    apply: (staging, source) => drained(applyInSteps(staging, source)),
    applyInSteps,
    counters: () => tally.totals,
    seriesCount: () => table.size,
    rebind: (next) => table.rebind(next),
    snapshot: () => takeSnapshot(table, tally),
    restore(snapshot) {
      assert(table.size === 0, 'a snapshot is restored before anything is applied');
      restoreSnapshot(table, tally, snapshot);
    },
  };
}
