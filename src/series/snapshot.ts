import { Staging } from '../otlp/staging.ts';
import type { ContextsState } from './context-table.ts';
import { ExponentialState } from './exponential.ts';
import type { LayoutsState } from './layout-table.ts';
import type { MetricsState } from './metric-table.ts';
import type { SeriesStateSnapshot } from './series-state.ts';
import type { IdentitiesState, SeriesTable } from './series-table.ts';
import type { Tally } from './tally.ts';

/**
 * All series as plain data that structured clone takes; arrays are copies. Indices and bindings are made anew.
 */
export interface SeriesSnapshot {
  readonly contexts: ContextsState;
  readonly metrics: MetricsState;
  readonly layouts: LayoutsState;
  readonly identities: IdentitiesState;
  readonly bounds: readonly Float64Array[];
  readonly state: SeriesStateSnapshot;
  readonly counters: readonly (readonly [string, number])[];
}

export const takeSnapshot = (table: SeriesTable, tally: Tally): SeriesSnapshot => ({
  contexts: table.contexts.snapshot(),
  metrics: table.metrics.snapshot(),
  layouts: table.layouts.snapshot(),
  identities: table.snapshot(),
  bounds: table.bounds.snapshot(),
  state: table.state.snapshot(),
  counters: [...tally.totals],
});

/** Into a table without series, whose binder then binds them all. */
export function restoreSnapshot(table: SeriesTable, tally: Tally, snapshot: SeriesSnapshot): void {
  table.contexts.restore(snapshot.contexts, new Staging());
  table.metrics.restore(snapshot.metrics);
  table.layouts.restore(snapshot.layouts);
  table.bounds.restore(snapshot.bounds);
  table.state.restore(snapshot.state, (plain) => ExponentialState.from(plain));
  table.restore(snapshot.identities);
  for (const [name, value] of snapshot.counters) tally.totals.set(name, value);
}
