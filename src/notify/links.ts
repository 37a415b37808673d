import { runbookUrl } from '../correlate/runbook-link.ts';
import { presentAlerts } from '../model/blast-radius.ts';
import type { Incident } from '../model/incident.ts';
import type { RunbookStep } from '../model/runbook-step.ts';
import type { MessageLinks } from './notifier.ts';

/**
 * The links of a message about an incident. `step` is the first step of its runbook, if it is one of ours: the link
 * leads there.
 */
export function messageLinks(incident: Incident, step: RunbookStep | null, baseUrl: string): MessageLinks {
  const runbook = runbookUrl(incident.runbook, baseUrl);
  return {
    incident: `${baseUrl}/incidents/${incident.id}`,
    runbook: step === null ? runbook : `${runbook}#${step.anchor}`,
    dashboard: `${baseUrl}${dashboardPath(incident)}`,
  };
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
