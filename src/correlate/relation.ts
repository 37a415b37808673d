import { type EpochMs, type Ms, ms } from '../base/units.ts';
import { type Alert, isFleetWide, type Place } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import type { Incident, IncidentMember } from '../model/incident.ts';
import { durationText } from '../model/phrases.ts';
import type { Reach } from './board.ts';
import { commonCause, isKnownKind, leadsTo } from './causes.ts';
import type { CorrelationSettings, Scope } from './settings.ts';

/** Kinds that the cause graph does not know, and burns of one cluster, join within this much event time. */
const UNRELATED_WITHIN: Ms = ms(300_000);

/** From the alert's start to the nearest moment at which the member was firing; 0 while one fires. */
export function distanceMs(alert: Alert, member: IncidentMember): number {
  if (alert.since < member.alert.since) return member.alert.since - alert.since;
  return member.resolvedAt === null ? 0 : Math.max(0, alert.since - member.resolvedAt);
}

/** What balancers have of all their clients: where it sets in at several places at once, clients are what moved. */
const OF_CLIENTS: ReadonlySet<string> = new Set([ALERT.handshakeStorm, ALERT.acceptQueueSaturation]);
const AT_ONCE_WITHIN: Ms = ms(60_000);

/** A cause of everything is found at most so much later than what it causes. */
const FOUND_WITHIN: Ms = ms(120_000);

/** How wide the place is that a relation holds in: what is nearer explains better. */
const SPAN = { host: 0, balancer: 0, cluster: 1, service: 2, zone: 3, region: 4, fleet: 5, all: 6 } as const;

/** Why an alert belongs with a member. */
export interface Relation {
  /** In words. */
  readonly reason: string;
  /** As in `SPAN`. */
  readonly span: number;
  /** Whether the alert is what explains the member. */
  readonly isCause: boolean;
}

/** Why an alert belongs with a member; null when it does not. */
export function relationOf(alert: Alert, member: IncidentMember, settings: CorrelationSettings): Relation | null {
  const distance = distanceMs(alert, member);
  const other = member.alert;
  const explained = explanation(alert, member, distance, settings);
  if (explained !== null) return explained;
  const cluster = sharedPlace(alert, other, 'cluster');
  const common = commonCause(alert, other, settings.causes);
  if (common !== null && cluster !== null && distance <= common.within) {
    const both = `${common.cause} would explain both ${alert.name} and ${other.name} in ${cluster}`;
    return beside(`${both}, ${apart(distance)}`, 'cluster');
  }
  if (distance > UNRELATED_WITHIN) return null;
  if (alert.name === other.name) return sameKind(alert, other, distance);
  const bothKnown = isKnownKind(alert.name, settings.causes) && isKnownKind(other.name, settings.causes);
  return cluster === null || bothKnown ? null : beside(`same ${cluster}, ${apart(distance)}`, 'cluster');
}

/** The least span that a relation of this alert can have. */
export function leastSpan(alert: Alert, settings: CorrelationSettings): number {
  if (isFleetWide(alert)) return SPAN.fleet;
  const scopes = settings.causes.filter(({ cause, effect }) => alert.name === cause || alert.name === effect);
  const beside =
    alert.place.cluster !== undefined ? SPAN.cluster : alert.place.service !== undefined ? SPAN.service : SPAN.all;
  return Math.min(beside, ...scopes.map(({ scope }) => SPAN[scope]));
}

const beside = (reason: string, span: keyof typeof SPAN): Relation => ({
  reason,
  span: SPAN[span],
  isCause: false,
});

/**
 * Whether the incident of an effect has a cause for it that is at least as near as the one that now comes: what befalls
 * every cluster does not draw in the incident of a host whose cluster happened to burn before.
 */
export function isExplainedCloser(
  member: IncidentMember,
  { members }: Incident,
  { span, isCause }: Relation,
  settings: CorrelationSettings,
): boolean {
  if (!isCause || span <= SPAN.service) return false;
  return members.some((other) => {
    const known = other === member ? null : explanation(other.alert, member, distanceMs(other.alert, member), settings);
    return known?.isCause === true && known.span <= span;
  });
}

/**
 * Through what an alert can relate to another: only members that share a part of its place, are of one of these kinds
 * or of the whole fleet need a look. Null = all do.
 */
export function reachOf(alert: Alert, settings: CorrelationSettings): Reach | null {
  if (alert.name === ALERT.telemetryLost || isFleetWide(alert)) return null;
  const parts = new Set<keyof Place>(['cluster']);
  const kinds = new Set<string>(OF_CLIENTS.has(alert.name) ? [alert.name] : []);
  if (alert.name === ALERT.errorBudgetBurn && alert.place.cluster === undefined) parts.add('service');
  for (const { cause, effect, scope } of settings.causes) {
    if (alert.name !== cause && alert.name !== effect) continue;
    if (scope === 'all') kinds.add(alert.name === cause ? effect : cause);
    else parts.add(scope);
  }
  return { parts, kinds };
}

/** The nearest cause edge between the two, in either direction. */
function explanation(
  alert: Alert,
  member: IncidentMember,
  distance: number,
  settings: CorrelationSettings,
): Relation | null {
  const other = member.alert;
  let nearest: Relation | null = null;
  for (const edge of settings.causes) {
    const { cause, effect, scope, within } = edge;
    const isForward = alert.name === cause && leadsTo(edge, other);
    const isBackward = other.name === cause && leadsTo(edge, alert);
    if ((!isForward && !isBackward) || distance > within) continue;
    const [causing, caused] = isForward ? [alert, other] : [other, alert];
    if (edge.atStart === true && Math.abs(caused.since - causing.since) > within) continue;
    const isFleet = isFleetWide(causing);
    const shared = isFleet ? sharedFleet(causing, caused) : sharedPlace(alert, other, scope);
    const isAnywhere = isFleet && causing.clusters !== undefined && caused.place.cluster === undefined;
    const span = SPAN[scope === 'all' || isAnywhere ? 'all' : isFleet ? 'fleet' : scope];
    if (shared === null || (nearest !== null && nearest.span <= span)) continue;
    if (span > SPAN.service && !isInTime(causing, caused, isBackward ? member.resolvedAt : null, span, within))
      continue;
    nearest = { reason: `${cause} explains ${effect} in ${shared}, ${apart(distance)}`, span, isCause: isForward };
  }
  return nearest;
}

/**
 * What befalls many places explains what follows it while it lasts: not what was there long before, nor what sets in
 * once it is over. Where it is about everything, what comes by chance at about the same time is likelier than that it
 * is found much later than what it caused.
 */
function isInTime(cause: Alert, effect: Alert, overAt: EpochMs | null, span: number, within: Ms): boolean {
  const latest = span >= SPAN.fleet ? Math.min(within, FOUND_WITHIN) : within;
  if ((cause.began ?? cause.since) - effect.since > latest) return false;
  return span < SPAN.fleet || overAt === null || (effect.began ?? effect.since) <= overAt;
}

/** What befalls the whole fleet at once explains what follows from it anywhere, or in the clusters that it names. */
function sharedFleet({ clusters }: Alert, { place: { cluster } }: Alert): string | null {
  return clusters === undefined || cluster === undefined || clusters.includes(cluster) ? 'the fleet' : null;
}

/** Several budgets of one place burn together; several balancers fall silent together, or get clients together. */
function sameKind(alert: Alert, other: Alert, distance: number): Relation | null {
  const [a, b] = [alert.place, other.place];
  const said = (where: string, span: keyof typeof SPAN): Relation => beside(`${where}, ${apart(distance)}`, span);
  if (isFleetWide(alert) || isFleetWide(other)) return said(`${alert.name} of the whole fleet`, 'fleet');
  if (a.cluster !== undefined || b.cluster !== undefined) {
    return a.cluster === b.cluster ? said(`${alert.name} in the same cluster ${a.cluster}`, 'cluster') : null;
  }
  if (alert.name === ALERT.errorBudgetBurn) {
    const isShared = a.service !== undefined && a.service === b.service;
    return isShared ? said(`${alert.name} of the same service ${a.service}`, 'service') : null;
  }
  if (OF_CLIENTS.has(alert.name) && Math.abs(alert.since - other.since) <= AT_ONCE_WITHIN) {
    return said(`${alert.name} in several places at once`, 'all');
  }
  return alert.name === ALERT.telemetryLost ? said('another loss of telemetry', 'all') : null;
}

function sharedPlace(a: Alert, b: Alert, scope: Scope): string | null {
  if (scope === 'all') return 'the fleet';
  const value = a.place[scope];
  return value !== undefined && value === b.place[scope] ? `${scope} ${value}` : null;
}

const apart = (distance: number): string => (distance === 0 ? 'at the same time' : `${durationText(distance)} apart`);
