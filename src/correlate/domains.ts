import { type Alert, isFleetWide } from '../model/alert.ts';

const FLEET = 'the whole fleet';

const wholeOf = (cluster: string): string => `all of cluster ${cluster}`;

const wholeOfService = (service: string): string => `all of service ${service}`;

/**
 * Failure domains of a paging alert: its cluster and its zone, or the whole cluster where it knows no zone; the whole
 * service where it knows no place at all; or the whole fleet.
 */
export function domainsOf(alert: Alert): readonly string[] {
  const { service, cluster, zone } = alert.place;
  if (alert.severity !== 'page') return [];
  if (isFleetWide(alert)) return [FLEET];
  const domains: string[] = [];
  if (cluster !== undefined) domains.push(`cluster ${cluster}`);
  if (zone !== undefined) domains.push(`zone ${zone}`);
  if (cluster !== undefined && zone === undefined) domains.push(wholeOf(cluster));
  if (service !== undefined && Object.keys(alert.place).length === 1) domains.push(wholeOfService(service));
  return domains;
}

/**
 * Domains of the alerts that fire that nobody has been told of. A zone of a cluster that was announced as a whole is no
 * news, nor is one of balancers where a whole service was, or where one of the alerts pages for the whole fleet; nor is
 * the whole of a cluster that is known to fail; and nothing is once the whole fleet was.
 */
export function newDomainsOf(firing: readonly Alert[], announced: readonly string[]): ReadonlySet<string> {
  if (announced.includes(FLEET)) return new Set();
  if (firing.some((alert) => isFleetWide(alert) && alert.severity === 'page')) return new Set([FLEET]);
  const known = new Set(announced);
  const isEverywhere = announced.some((domain) => domain.startsWith(wholeOfService('')));
  return new Set(firing.flatMap((alert) => newOnes(alert, known, isEverywhere)));
}

function newOnes(alert: Alert, announced: ReadonlySet<string>, isEverywhere: boolean): readonly string[] {
  const { service, cluster, zone } = alert.place;
  if (cluster !== undefined && announced.has(wholeOf(cluster))) return [];
  const ofZone = zone !== undefined && cluster === undefined && isEverywhere ? `zone ${zone}` : null;
  return domainsOf(alert).filter(
    (domain) =>
      !announced.has(domain) &&
      domain !== ofZone &&
      (cluster === undefined || domain !== wholeOf(cluster)) &&
      (service === undefined || domain !== wholeOfService(service)),
  );
}
