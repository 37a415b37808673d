import { HOUR } from '../base/units.ts';
import { runbookUrlFor } from '../correlate/runbook-link.ts';
import { presentAlerts } from '../model/blast-radius.ts';
import { dashboardOf, dashboardUrl } from '../model/dashboards.ts';
import type { Incident } from '../model/incident.ts';
import type { RunbookStep } from '../model/runbook-step.ts';
import type { MessageLinks } from './notifier.ts';

/**
 * The links of a message about an incident. `step` is the first step of its runbook, if it is one of ours: the link
 * leads there, with commands filled in. With a Grafana the dashboard is the one of the lead's alert, else a page of ours.
 */
export function messageLinks(
  incident: Incident,
  step: RunbookStep | null,
  baseUrl: string,
  grafanaUrl: string | null = null,
): MessageLinks {
  return {
    incident: `${baseUrl}/incidents/${incident.id}`,
    runbook: runbookUrlFor(incident.runbook, baseUrl, incident.id, step?.anchor ?? null),
    dashboard: grafanaUrl === null ? `${baseUrl}${dashboardPath(incident)}` : grafanaLink(incident, grafanaUrl),
  };
}

/** Opens an hour before the incident and goes on; narrowed to where its lead is. */
function grafanaLink(incident: Incident, grafanaUrl: string): string {
  const lead = incident.members.find(({ alert }) => alert.key === incident.lead)?.alert;
  const url = dashboardUrl(grafanaUrl, dashboardOf(lead?.name ?? ''), {
    slo: lead?.labels.get('slo'),
    cluster: lead?.place.cluster,
    balancer: lead?.place.balancer,
  });
  return `${url}${url.includes('?') ? '&' : '?'}from=${incident.episodeAt - HOUR}&to=now`;
}

/** The page of the budgets, narrowed to what all that burns has in common; the fleet where only balancers are named. */
function dashboardPath(incident: Incident): string {
  const present = presentAlerts(incident);
  const burning = present.filter(({ burn }) => burn !== null);
  const alerts = burning.length > 0 ? burning : present;
  const common = (values: readonly (string | undefined)[]): string | undefined =>
    new Set(values).size === 1 ? values[0] : undefined;
  const filters: readonly [string, string | undefined][] = [
    ['slo', common(alerts.map(({ labels }) => labels.get('slo')))],
    ['cluster', common(alerts.map(({ place }) => place.cluster))],
    ['zone', common(alerts.map(({ place }) => place.zone))],
  ];
  const balancersOnly = alerts.every(({ place }) => place.balancer !== undefined && place.cluster === undefined);
  if (balancersOnly) return '/fleet';
  const query = filters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return query.length === 0 ? '/slos' : `/slos?${query.join('&')}`;
}
