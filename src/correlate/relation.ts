import { type Ms, ms } from '../base/units.ts';
import { type Alert, isFleetWide, type Place } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import type { Incident, IncidentMember } from '../model/incident.ts';
import { durationText } from '../model/phrases.ts';
import { commonCause, isKnownKind } from './causes.ts';
import type { CorrelationSettings, Scope } from './settings.ts';

/** Kinds that the cause graph does not know, and burns of one cluster, join within this much event time. */
const UNRELATED_WITHIN: Ms = ms(300_000);

/** From the alert's start to the nearest moment at which the member was firing; 0 while one fires. */
export function distanceMs(alert: Alert, member: IncidentMember): number {
  if (alert.since < member.alert.since) return member.alert.since - alert.since;
  return member.resolvedAt === null ? 0 : Math.max(0, alert.since - member.resolvedAt);
}

/** How far a relation reaches: what is nearer explains better. */
const REACH = { host: 0, balancer: 0, cluster: 1, service: 2, zone: 3, region: 4, fleet: 5, all: 6 } as const;

/** Why an alert belongs with a member. */
export interface Relation {
  /** In words. */
  readonly reason: string;
  /** As in `REACH`. */
  readonly reach: number;
  /** Whether the alert is what explains the member. */
  readonly isCause: boolean;
}

/** Why an alert belongs with a member; null when it does not. */
export function relationOf(alert: Alert, member: IncidentMember, settings: CorrelationSettings): Relation | null {
  const distance = distanceMs(alert, member);
  const other = member.alert;
  const explained = explanation(alert, other, distance, settings);
  if (explained !== null) return explained;
  const cluster = sharedPlace(alert, other, 'cluster');
  const common = commonCause(alert.name, other.name, settings.causes);
  if (common !== null && cluster !== null && distance <= common.within) {
    const both = `${common.cause} would explain both ${alert.name} and ${other.name} in ${cluster}`;
    return beside(`${both}, ${apart(distance)}`, 'cluster');
  }
  if (distance > UNRELATED_WITHIN) return null;
  if (alert.name === other.name) return sameKind(alert, other, distance);
  const bothKnown = isKnownKind(alert.name, settings.causes) && isKnownKind(other.name, settings.causes);
  return cluster === null || bothKnown ? null : beside(`same ${cluster}, ${apart(distance)}`, 'cluster');
}

const beside = (reason: string, reach: keyof typeof REACH): Relation => ({
  reason,
  reach: REACH[reach],
  isCause: false,
});

/**
 * Whether the incident of an effect has a nearer cause for it than the one that now comes: what befalls every cluster
 * does not draw in the incident of a host whose cluster happened to burn before.
 */
export function isExplainedCloser(
  member: IncidentMember,
  { members }: Incident,
  { reach, isCause }: Relation,
  settings: CorrelationSettings,
): boolean {
  if (!isCause || reach <= REACH.service) return false;
  return members.some((other) => {
    const known =
      other === member ? null : explanation(other.alert, member.alert, distanceMs(other.alert, member), settings);
    return known?.isCause === true && known.reach < reach;
  });
}

/**
 * The parts of its place through which an alert can relate to another: only incidents that share one need a look.
 * Null = it can relate to one anywhere.
 */
export function relatingParts(alert: Alert, settings: CorrelationSettings): ReadonlySet<keyof Place> | null {
  if (alert.name === ALERT.telemetryLost || isFleetWide(alert)) return null;
  const parts = new Set<keyof Place>(['cluster']);
  if (alert.name === ALERT.errorBudgetBurn && alert.place.cluster === undefined) parts.add('service');
  for (const { cause, effect, scope } of settings.causes) {
    if (alert.name !== cause && alert.name !== effect) continue;
    if (scope === 'all') return null;
    parts.add(scope);
  }
  return parts;
}

/** The nearest cause edge between the two, in either direction. */
function explanation(alert: Alert, other: Alert, distance: number, settings: CorrelationSettings): Relation | null {
  let nearest: Relation | null = null;
  for (const { cause, effect, scope, within } of settings.causes) {
    const isForward = alert.name === cause && other.name === effect;
    const isBackward = alert.name === effect && other.name === cause;
    if ((!isForward && !isBackward) || distance > within) continue;
    // What befalls the whole fleet at once explains what follows from it anywhere.
    const isFleet = isFleetWide(isForward ? alert : other);
    const shared = isFleet ? 'the fleet' : sharedPlace(alert, other, scope);
    const reach = REACH[isFleet && scope !== 'all' ? 'fleet' : scope];
    if (shared === null || (nearest !== null && nearest.reach <= reach)) continue;
    // What befalls many places explains what follows it, not what was there long before.
    if (isForward && reach > REACH.service && alert.since - other.since > within) continue;
    nearest = { reason: `${cause} explains ${effect} in ${shared}, ${apart(distance)}`, reach, isCause: isForward };
  }
  return nearest;
}

/** Several budgets of one place burn together; several balancers fall silent together. */
function sameKind(alert: Alert, other: Alert, distance: number): Relation | null {
  const [a, b] = [alert.place, other.place];
  const said = (where: string, reach: keyof typeof REACH): Relation => beside(`${where}, ${apart(distance)}`, reach);
  if (isFleetWide(alert) || isFleetWide(other)) return said(`${alert.name} of the whole fleet`, 'fleet');
  if (a.cluster !== undefined || b.cluster !== undefined) {
    return a.cluster === b.cluster ? said(`${alert.name} in the same cluster ${a.cluster}`, 'cluster') : null;
  }
  if (alert.name === ALERT.errorBudgetBurn) {
    const isShared = a.service !== undefined && a.service === b.service;
    return isShared ? said(`${alert.name} of the same service ${a.service}`, 'service') : null;
  }
  return alert.name === ALERT.telemetryLost ? said('another loss of telemetry', 'all') : null;
}

function sharedPlace(a: Alert, b: Alert, scope: Scope): string | null {
  if (scope === 'all') return 'the fleet';
  const value = a.place[scope];
  return value !== undefined && value === b.place[scope] ? `${scope} ${value}` : null;
}

const apart = (distance: number): string => (distance === 0 ? 'at the same time' : `${durationText(distance)} apart`);
