import { type Ms, ms } from '../base/units.ts';
import { type Alert, isFleetWide, type Place } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import type { IncidentMember } from '../model/incident.ts';
import { durationText } from '../model/phrases.ts';
import type { Reach } from './board.ts';
import { commonCause, isKnownKind } from './causes.ts';
import type { CorrelationSettings, Scope } from './settings.ts';

/** Kinds that the cause graph does not know, and burns of one cluster, join within this much event time. */
const UNRELATED_WITHIN: Ms = ms(300_000);

/** From the alert's start to the nearest moment at which the member was firing; 0 while one fires. */
export function distanceMs(alert: Alert, member: IncidentMember): number {
  if (alert.since < member.alert.since) return member.alert.since - alert.since;
  return member.resolvedAt === null ? 0 : Math.max(0, alert.since - member.resolvedAt);
}

/** Why an alert belongs with a member, in words; null when it does not. */
export function relationOf(alert: Alert, member: IncidentMember, settings: CorrelationSettings): string | null {
  const distance = distanceMs(alert, member);
  const other = member.alert;
  const explained = explanation(alert, other, distance, settings);
  if (explained !== null) return explained;
  const cluster = sharedPlace(alert, other, 'cluster');
  const common = commonCause(alert.name, other.name, settings.causes);
  if (common !== null && cluster !== null && distance <= common.within) {
    return `${common.cause} would explain both ${alert.name} and ${other.name} in ${cluster}, ${apart(distance)}`;
  }
  if (distance > UNRELATED_WITHIN) return null;
  if (alert.name === other.name) return sameKind(alert, other, distance);
  const bothKnown = isKnownKind(alert.name, settings.causes) && isKnownKind(other.name, settings.causes);
  return cluster === null || bothKnown ? null : `same ${cluster}, ${apart(distance)}`;
}

/**
 * Through what an alert can relate to another: only members that share a part of its place, are of one of these kinds
 * or of the whole fleet need a look. Null = all do.
 */
export function reachOf(alert: Alert, settings: CorrelationSettings): Reach | null {
  if (alert.name === ALERT.telemetryLost || isFleetWide(alert)) return null;
  const parts = new Set<keyof Place>(['cluster']);
  const kinds = new Set<string>();
  if (alert.name === ALERT.errorBudgetBurn && alert.place.cluster === undefined) parts.add('service');
  for (const { cause, effect, scope } of settings.causes) {
    if (alert.name !== cause && alert.name !== effect) continue;
    if (scope === 'all') kinds.add(alert.name === cause ? effect : cause);
    else parts.add(scope);
  }
  return { parts, kinds };
}

/** A cause edge between the two, in either direction. */
function explanation(alert: Alert, other: Alert, distance: number, settings: CorrelationSettings): string | null {
  for (const { cause, effect, scope, within } of settings.causes) {
    const isForward = alert.name === cause && other.name === effect;
    const isBackward = alert.name === effect && other.name === cause;
    if ((!isForward && !isBackward) || distance > within) continue;
    // What befalls the whole fleet at once explains what follows from it anywhere.
    const shared = isFleetWide(isForward ? alert : other) ? 'the fleet' : sharedPlace(alert, other, scope);
    if (shared !== null) return `${cause} explains ${effect} in ${shared}, ${apart(distance)}`;
  }
  return null;
}

/** Several budgets of one place burn together; several balancers fall silent together. */
function sameKind(alert: Alert, other: Alert, distance: number): string | null {
  const [a, b] = [alert.place, other.place];
  if (isFleetWide(alert) || isFleetWide(other)) return `${alert.name} of the whole fleet, ${apart(distance)}`;
  if (a.cluster !== undefined || b.cluster !== undefined) {
    return a.cluster === b.cluster ? `${alert.name} in the same cluster ${a.cluster}, ${apart(distance)}` : null;
  }
  if (alert.name === ALERT.errorBudgetBurn) {
    const isShared = a.service !== undefined && a.service === b.service;
    return isShared ? `${alert.name} of the same service ${a.service}, ${apart(distance)}` : null;
  }
  return alert.name === ALERT.telemetryLost ? `another loss of telemetry, ${apart(distance)}` : null;
}

function sharedPlace(a: Alert, b: Alert, scope: Scope): string | null {
  if (scope === 'all') return 'the fleet';
  const value = a.place[scope];
  return value !== undefined && value === b.place[scope] ? `${scope} ${value}` : null;
}

const apart = (distance: number): string => (distance === 0 ? 'at the same time' : `${durationText(distance)} apart`);
