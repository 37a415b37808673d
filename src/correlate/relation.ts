import { type Ms, ms } from '../base/units.ts';
import type { Alert } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import type { IncidentMember } from '../model/incident.ts';
import type { CauseEdge, CorrelationSettings, Scope } from './settings.ts';

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
  for (const edge of settings.causes) {
    const pair = [alert.name, other.name];
    if (!pair.includes(edge.cause) || !pair.includes(edge.effect) || alert.name === other.name) continue;
    const shared = sharedPlace(alert, other, edge.scope);
    if (shared !== null && distance <= edge.within) {
      return `${edge.cause} explains ${edge.effect} in ${shared}, ${apart(distance)}`;
    }
  }
  const cluster = sharedPlace(alert, other, 'cluster');
  const common = commonCause(alert.name, other.name, settings.causes);
  if (common !== null && cluster !== null && distance <= common.within) {
    return `${common.cause} would explain both ${alert.name} and ${other.name} in ${cluster}, ${apart(distance)}`;
  }
  if (distance > UNRELATED_WITHIN) return null;
  if (alert.name === other.name) return sameKind(alert, other, distance);
  const isKnown = (name: string): boolean =>
    settings.causes.some((edge) => edge.cause === name || edge.effect === name);
  if (cluster !== null && !(isKnown(alert.name) && isKnown(other.name))) return `same ${cluster}, ${apart(distance)}`;
  return null;
}

/** Several budgets of one place burn together; several balancers fall silent together. */
function sameKind(alert: Alert, other: Alert, distance: number): string | null {
  const [a, b] = [alert.place, other.place];
  if (a.cluster !== undefined || b.cluster !== undefined) {
    return a.cluster === b.cluster ? `${alert.name} in the same cluster ${a.cluster}, ${apart(distance)}` : null;
  }
  if (alert.name === ALERT.errorBudgetBurn) {
    return a.service === b.service ? `${alert.name} of the same service ${a.service}, ${apart(distance)}` : null;
  }
  return alert.name === ALERT.telemetryLost ? `another loss of telemetry, ${apart(distance)}` : null;
}

function sharedPlace(a: Alert, b: Alert, scope: Scope): string | null {
  if (scope === 'all') return 'the fleet';
  const value = a.place[scope];
  return value !== undefined && value === b.place[scope] ? `${scope} ${value}` : null;
}

function commonCause(a: string, b: string, edges: readonly CauseEdge[]): CauseEdge | null {
  if (a === b) return null;
  for (const edge of edges) {
    if (edge.effect !== a) continue;
    const twin = edges.find((other) => other.cause === edge.cause && other.effect === b);
    if (twin !== undefined) return edge.within <= twin.within ? edge : twin;
  }
  return null;
}

const apart = (distance: number): string =>
  distance === 0
    ? 'at the same time'
    : `${distance < 120_000 ? `${Math.round(distance / 1000)} s` : `${Math.round(distance / 60_000)} min`} apart`;

/** Names that a kind is explained by, directly or through others. */
export function causesOf(name: string, edges: readonly CauseEdge[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { cause, effect } of edges) {
      if (effect !== next || found.has(cause)) continue;
      found.add(cause);
      waiting.push(cause);
    }
  }
  return found;
}
