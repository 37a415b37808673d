import { formatInstant } from '../base/instant.ts';
import type { HourlyFigures } from '../model/measure.ts';
import { percentText } from '../model/phrases.ts';
import type { HeadroomView, TrafficStandard } from '../model/scorecard.ts';
import { busiestHour } from './peak.ts';
import { rowsOf, SHAPE, tallyOf } from './tally.ts';

const MS_AN_HOUR = 3_600_000;

interface Loaded {
  readonly balancer: string;
  readonly cpu: number;
  readonly ifFull: number;
}

/**
 * CPU in the busiest hour, and what it would be if every handshake that resumed a session had been a full one: each of
 * them would have taken the difference of the two costs. Of the balancer that would use most.
 */
export function headroomOf(rows: readonly HourlyFigures[], standard: TrafficStandard): HeadroomView {
  const hour = busiestHour(rows);
  const own = rowsOf(rows, SHAPE.balancer).filter((row) => row.hour === hour && row.tallies?.cpu !== undefined);
  const unknown = (detail: string): HeadroomView => ({
    hour: hour === null ? null : formatInstant(hour),
    balancer: null,
    cpu: null,
    cpuIfFull: null,
    headroom: null,
    detail,
  });
  if (hour === null) return unknown('no balancer tells its requests or TLS handshakes');
  if (own.length === 0) return unknown('no balancer tells its CPU');
  const { handshakeMs } = standard;
  if (handshakeMs === null) return unknown('what a handshake costs is not set: handshakeMs in scorecard.yaml');
  const loads: Loaded[] = own.flatMap((row) => {
    const cores = row.tallies?.cores ?? standard.balancerCores;
    if (cores === null || cores <= 0) return [];
    const moreMs = tallyOf(row, 'resumed_handshakes') * Math.max(0, handshakeMs.full - handshakeMs.resumed);
    const cpu = tallyOf(row, 'cpu');
    return [{ balancer: row.subject.get('balancer') ?? '', cpu, ifFull: cpu + moreMs / MS_AN_HOUR / cores }];
  });
  const [first, ...others] = [...loads].sort((a, b) => (a.balancer < b.balancer ? -1 : 1));
  if (first === undefined) return unknown('no balancer tells its cores: balancerCores in scorecard.yaml is not set');
  const worst = others.reduce((most, one) => (one.ifFull > most.ifFull ? one : most), first);
  const left = 1 - worst.ifFull;
  return {
    hour: formatInstant(hour),
    balancer: worst.balancer,
    cpu: worst.cpu,
    cpuIfFull: worst.ifFull,
    headroom: left,
    detail:
      left > 0
        ? `${worst.balancer}, of ${loads.length}: ${percentText(worst.cpu)} of its CPU, ${percentText(worst.ifFull)} if every handshake were full`
        : `${worst.balancer}, of ${loads.length}, would need ${percentText(worst.ifFull)} of its CPU if every handshake were full`,
  };
}
