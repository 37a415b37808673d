import { type BlankValues, blankValuesOf } from '../model/runbook-blanks.ts';
import type { AlertView, IncidentDetailView, Queries } from '../model/views.ts';
import { type RunbookPage, renderRunbook } from './runbook-page.ts';

/** The runbook of an incident as a part of its page; null where it is no file of ours. */
export type IncidentRunbook = (incident: IncidentDetailView) => RunbookPage | null;

/** Ids of the part begin with this. */
const ID_PREFIX = 'runbook-';

export function createIncidentRunbook(
  queries: Pick<Queries, 'runbook'>,
  baseUrl: () => string | null,
  grafanaUrl: string | null,
): IncidentRunbook {
  return (incident) => {
    const { id, runbook: name } = incident;
    const markdown = queries.runbook(name);
    if (markdown === null) return null;
    const values = runbookValues(name, incident, baseUrl());
    return renderRunbook(name, markdown, { values, incident: id, grafanaUrl, idPrefix: ID_PREFIX });
  };
}

/** What is known of a runbook's blanks. `address` = where people reach the service, null = not known. */
export function runbookValues(
  runbook: string,
  incident: IncidentDetailView | null,
  address: string | null,
): BlankValues {
  return {
    ...(address !== null && { slowburn: address }),
    ...(incident !== null && { incident: String(incident.id), ...valuesOf(incident, runbook) }),
  };
}

/**
 * Of the alert that this is the runbook of, else of the lead: never of several, whose host and cluster need not belong
 * together. Only the SLO may come from elsewhere, where all that burns is one.
 */
function valuesOf({ lead, members }: IncidentDetailView, runbook: string): BlankValues {
  const alerts = members.map(({ alert }) => alert);
  const own = alerts.filter((alert) => alert.runbook === runbook);
  const alert = (lead.runbook === runbook ? lead : own.find(isFiring)) ?? own[0] ?? lead;
  const slos = new Set(alerts.flatMap(({ labels }) => labels['slo'] ?? []));
  return { ...(slos.size === 1 && { slo: [...slos].join() }), ...blankValuesOf(alert.matchedLabels) };
}

const isFiring = ({ state }: AlertView): boolean => state === 'firing';
