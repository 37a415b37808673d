import type { Alert } from '../model/alert.ts';

const wholeOf = (cluster: string): string => `all of cluster ${cluster}`;

/** Failure domains of a paging alert: its cluster and its zone, or the whole cluster where it knows no zone. */
export function domainsOf({ severity, place: { cluster, zone } }: Alert): readonly string[] {
  if (severity !== 'page') return [];
  const domains: string[] = [];
  if (cluster !== undefined) domains.push(`cluster ${cluster}`);
  if (zone !== undefined) domains.push(`zone ${zone}`);
  if (cluster !== undefined && zone === undefined) domains.push(wholeOf(cluster));
  return domains;
}

/**
 * Domains of a paging alert that nobody has been told of. A zone of a cluster that was announced as a whole is no news,
 * and neither is the whole of a cluster that is known to fail.
 */
export function newDomainsOf(alert: Alert, announced: readonly string[]): readonly string[] {
  const { cluster } = alert.place;
  if (cluster !== undefined && announced.includes(wholeOf(cluster))) return [];
  return domainsOf(alert).filter(
    (domain) => !announced.includes(domain) && (cluster === undefined || domain !== wholeOf(cluster)),
  );
}
