import type { EpochMs } from '../base/units.ts';
import type { Severity } from '../model/alert.ts';
import { type Incident, leadAlert } from '../model/incident.ts';
import { type Labels, labelsOf } from '../model/labels.ts';
import { matchesAll } from '../model/matcher.ts';
import type { Receiver, Route } from '../model/receiver.ts';
import { isWithin } from '../model/week-times.ts';

/**
 * Who is told of an incident of this severity at this time: every route that matches, each receiver once, in the order
 * of the receivers. Without routes everything goes to the first receiver.
 */
export function routeIncident(
  incident: Incident,
  severity: Severity,
  routes: readonly Route[],
  receivers: readonly Receiver[],
  at: EpochMs,
): readonly Receiver[] {
  if (routes.length === 0) return receivers.slice(0, 1);
  const labels = routingLabels(incident);
  const service = labels.get('service') ?? '';
  const { owner } = leadAlert(incident);
  const chosen = new Set(
    routes
      .filter((route) => route.severity.length === 0 || route.severity.includes(severity))
      .filter(({ owners = [] }) => owners.length === 0 || owners.includes(owner))
      .filter(({ services = [] }) => services.length === 0 || services.includes(service))
      .filter(({ times = null }) => times === null || isWithin(times, at))
      .filter((route) => matchesAll(route.matchers, labels))
      .map((route) => route.receiver),
  );
  return receivers.filter(({ name }) => chosen.has(name));
}

/**
 * The routes in force. With none written, everything goes to the first receiver, but not to the one that gets the
 * heartbeat while there is another: what watches for our silence is no place to look for pages.
 */
export function effectiveRoutes(
  routes: readonly Route[],
  receivers: readonly Receiver[],
  heartbeat: string | null,
): readonly Route[] {
  if (routes.length > 0) return routes;
  const first = receivers.find(({ name }) => name !== heartbeat) ?? receivers[0];
  return first === undefined ? [] : [{ receiver: first.name, severity: [], matchers: [] }];
}

function routingLabels(incident: Incident): Labels {
  const { labels, name, owner, place } = leadAlert(incident);
  const service: [string, string][] = place.service === undefined ? [] : [['service', place.service]];
  return labelsOf([...service, ...labels, ['alertname', name], ['owner', owner]]);
}
