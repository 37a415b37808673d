import type { Alert, Place } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import type { Incident, Storm } from '../model/incident.ts';

/** A title that holds as long as the incident does: what and where, no changing figures. */
export function titleOf(lead: Alert): string {
  const where = placeText(lead.place);
  switch (lead.name) {
    case ALERT.errorBudgetBurn:
      return `Error budget of ${lead.labels.get('slo') ?? 'an SLO'} burns${where}`;
    case ALERT.upstreamErrors:
      return `Far more errors than usual${where}`;
    case ALERT.hostEjections:
      return `Balancers eject hosts${where}`;
    case ALERT.fastFailSinkhole:
      return `A host fails fast and draws traffic${where}`;
    case ALERT.hostOutlier:
      return `A host is far worse than its peers${where}`;
    case ALERT.ejectionCapReached:
      return `No more hosts can be ejected${where}`;
    case ALERT.healthCheckCascade:
      return `Health checks take hosts out together${where}`;
    case ALERT.healthCheckFlapping:
      return `A host goes in and out of health${where}`;
    case ALERT.zoneSkew:
      return `A zone carries more than its share${where}`;
    case ALERT.hostSkew:
      return `Hosts of a cluster carry uneven shares${where}`;
    case ALERT.balancerSkew:
      return `Few balancers carry most of the load${where}`;
    case ALERT.noisyNeighbour:
      return `One service crowds out the others on its balancers${where}`;
    case ALERT.retryStorm:
      return `Retries multiply the load${where}`;
    case ALERT.admissionRejections:
      return `Balancers reject requests${where}`;
    case ALERT.trafficStopped:
      return `Traffic has stopped${where}`;
    case ALERT.telemetryLost:
      return `Balancers have stopped reporting${where}`;
    case ALERT.handshakeStorm:
      return `Far more full TLS handshakes than usual${where}`;
    case ALERT.balancerSaturation:
      return `Balancers run out of CPU${where}`;
    case ALERT.stageTailShift:
      return `The slowest requests are slower, hosts are not${where}`;
    case ALERT.acceptQueueSaturation:
      return `Connections wait to be accepted${where}`;
    case ALERT.configPushRegression:
      return `A config push made balancers worse${where}`;
    case ALERT.certificateRenewalStalled:
      return `Certificate ${lead.labels.get('certificate') ?? ''} is not renewed${where}`;
    default:
      return `${lead.name}${where}`;
  }
}

/** In how many clusters a storm is: of the lead's kind where it is one that storms, else beside the lead's own title. */
export function stormTitleOf(lead: Alert, { members }: Incident, { kinds, known }: Storm): string {
  const kind = kinds.includes(lead.name) && lead.place.cluster !== undefined ? lead.name : (kinds[0] ?? lead.name);
  const clusters = new Set(members.flatMap(({ alert }) => (alert.name === kind ? (alert.place.cluster ?? []) : [])));
  const scale = `${kind} in ${clusters.size} of ${Math.max(known, clusters.size)} clusters`;
  return kind === lead.name && lead.place.cluster !== undefined ? scale : `${titleOf(lead)}; ${scale}`;
}

const SHOWN: readonly (keyof Place)[] = ['cluster', 'zone', 'host', 'balancer', 'listener', 'region', 'configVersion'];

function placeText(place: Place): string {
  const parts = SHOWN.flatMap((part) => (place[part] === undefined ? [] : [`${part} ${place[part]}`]));
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
