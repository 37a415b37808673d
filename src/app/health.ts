import type { Clock } from '../base/clock.ts';
import type { EpochMs } from '../base/units.ts';
import type { Health } from '../model/views.ts';
import type { IngestLog } from '../store/ingest-log.ts';
import type { IncidentStore } from '../store/store.ts';
import type { Evaluator } from './evaluate.ts';
import { TICK_MS } from './ticker.ts';

/** Ticks may be this late before the evaluator counts as stuck. */
const TICK_LATE_MS = 3 * TICK_MS;

/** Readiness: store and ingest log take writes, the evaluator ticks. Liveness asks none of this. */
export function createHealth(deps: {
  clock: Clock;
  store: IncidentStore;
  log: IngestLog;
  evaluator: Evaluator;
  /** When the last tick ran, or when the loop started. */
  lastTickAt: () => EpochMs;
}): () => Health {
  return () => {
    const lateMs = deps.clock.now() - deps.lastTickAt();
    const refused = deps.evaluator.uncommitted();
    const store = deps.store.writable() && refused === 0;
    const checks = [
      { name: 'store', ok: store, detail: store ? 'writable' : `cannot be written; ${refused} ticks wait for it` },
      { name: 'ingest_log', ok: deps.log.writable(), detail: deps.log.writable() ? 'writable' : 'cannot be written' },
      { name: 'evaluator', ok: lateMs <= TICK_LATE_MS, detail: `last tick ${Math.round(lateMs / 1000)} s ago` },
    ];
    return { ready: checks.every((check) => check.ok), checks };
  };
}
