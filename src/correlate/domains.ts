import { type Alert, isFleetWide } from '../model/alert.ts';

const FLEET = 'the whole fleet';

const wholeOf = (cluster: string): string => `all of cluster ${cluster}`;

/**
 * Failure domains of a paging alert: its cluster and its zone, or the whole cluster where it knows no zone; or the
 * whole fleet.
 */
export function domainsOf(alert: Alert): readonly string[] {
  const { cluster, zone } = alert.place;
  if (alert.severity !== 'page') return [];
  if (isFleetWide(alert)) return [FLEET];
  const domains: string[] = [];
  if (cluster !== undefined) domains.push(`cluster ${cluster}`);
  if (zone !== undefined) domains.push(`zone ${zone}`);
  if (cluster !== undefined && zone === undefined) domains.push(wholeOf(cluster));
  return domains;
}

/**
 * Domains of a paging alert that nobody has been told of. A zone of a cluster that was announced as a whole is no news,
 * neither is the whole of a cluster that is known to fail, and nothing is once the whole fleet does.
 */
export function newDomainsOf(alert: Alert, announced: readonly string[]): readonly string[] {
  const { cluster } = alert.place;
  if (announced.includes(FLEET)) return [];
  if (cluster !== undefined && announced.includes(wholeOf(cluster))) return [];
  return domainsOf(alert).filter(
    (domain) => !announced.includes(domain) && (cluster === undefined || domain !== wholeOf(cluster)),
  );
}
