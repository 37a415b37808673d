import type { EpochMs } from '../base/units.ts';
import type { HourlyFigures } from '../model/measure.ts';
import { rowsOf, SHAPE, tallyOf, zoneName } from './tally.ts';

/** Handshakes of the balancers of one zone in an hour. */
export interface PeakZone {
  readonly name: string;
  readonly resumed: number;
  /** Those that say whether they resumed a session. */
  readonly said: number;
}

/** End of the hour with most requests of clients, else with most handshakes; the first of equals. */
export function busiestHour(rows: readonly HourlyFigures[]): EpochMs | null {
  const zones = [...rowsOf(rows, SHAPE.zone), ...rowsOf(rows, SHAPE.balancer)];
  return (
    most(zones, (row) => tallyOf(row, 'requests')) ??
    most(zones, (row) => tallyOf(row, 'full_handshakes') + tallyOf(row, 'resumed_handshakes'))
  );
}

function most(rows: readonly HourlyFigures[], amountOf: (row: HourlyFigures) => number): EpochMs | null {
  const hours = new Map<EpochMs, number>();
  for (const row of rows) hours.set(row.hour, (hours.get(row.hour) ?? 0) + amountOf(row));
  let best: { readonly hour: EpochMs; readonly amount: number } | null = null;
  for (const [hour, amount] of [...hours].sort(([a], [b]) => a - b)) {
    if (amount > (best?.amount ?? 0)) best = { hour, amount };
  }
  return best?.hour ?? null;
}

/** Zones of balancers in one hour. */
export function zonesAt(rows: readonly HourlyFigures[], hour: EpochMs): readonly PeakZone[] {
  return rowsOf(rows, SHAPE.zone)
    .filter((row) => row.hour === hour)
    .map((row) => {
      const resumed = tallyOf(row, 'resumed_handshakes');
      const said = resumed + tallyOf(row, 'full_handshakes') - tallyOf(row, 'unsaid_handshakes');
      return { name: zoneName(row.subject), resumed, said };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
