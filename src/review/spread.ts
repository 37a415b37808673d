import { formatInstant } from '../base/instant.ts';
import type { HourlyFigures } from '../model/measure.ts';
import type { HostSpreadView, ZoneUseView } from '../model/scorecard.ts';
import { bySubject, SHAPE } from './tally.ts';

/** Requests of the busiest host of each cluster over the mean of its hosts, by capacity; the most uneven first. */
export function hostSpreads(rows: readonly HourlyFigures[]): readonly HostSpreadView[] {
  const found = bySubject(rows, SHAPE.cluster).flatMap(({ subject, hours }): HostSpreadView[] => {
    const told = hours.flatMap((row) =>
      row.figures.host_skew === undefined ? [] : [{ row, skew: row.figures.host_skew }],
    );
    const [first, ...others] = told;
    if (first === undefined) return [];
    const worst = others.reduce((most, one) => (one.skew > most.skew ? one : most), first);
    const mean = told.reduce((sum, { skew }) => sum + skew, 0) / told.length;
    const host = worst.row.notes['top_host'];
    return [
      {
        cluster: subject.get('cluster') ?? '',
        maxOverMean: worst.skew,
        host: host === undefined ? '' : String(host),
        hour: formatInstant(worst.row.hour),
        mean,
      },
    ];
  });
  return found.sort((a, b) => b.maxOverMean - a.maxOverMean || (a.cluster < b.cluster ? -1 : 1));
}

/** What the hosts of each zone used of their capacity, where balancers tell it; the highest first. */
export function zoneUses(rows: readonly HourlyFigures[]): readonly ZoneUseView[] {
  const found = bySubject(rows, SHAPE.clusterZone).flatMap(({ subject, hours }): ZoneUseView[] => {
    const told = hours.flatMap(({ hour, notes }) => {
      const used = notes['utilization'];
      return typeof used === 'number' ? [{ hour, used }] : [];
    });
    const [first, ...others] = told;
    if (first === undefined) return [];
    const worst = others.reduce((most, one) => (one.used > most.used ? one : most), first);
    return [
      {
        cluster: subject.get('cluster') ?? '',
        zone: subject.get('zone') ?? '',
        utilization: told.reduce((sum, { used }) => sum + used, 0) / told.length,
        most: worst.used,
        hour: formatInstant(worst.hour),
      },
    ];
  });
  const name = ({ cluster, zone }: ZoneUseView): string => `${cluster} ${zone}`;
  return found.sort((a, b) => b.utilization - a.utilization || (name(a) < name(b) ? -1 : 1));
}
