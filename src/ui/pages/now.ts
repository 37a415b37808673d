import type { AlertView, IncidentView, SloView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { agoWords, exhaustionWords } from '../phrases.ts';
import { isUnheard, UNHEARD_WORDS } from '../unheard.ts';

/** What needs a person now: open incidents, worst first, and what is known of the rest. */
export function nowPage(view: {
  readonly incidents: readonly IncidentView[];
  readonly recent: readonly IncidentView[];
  readonly alerts: readonly AlertView[];
  readonly slos: readonly SloView[];
  readonly now: string;
}): Html {
  const order = [...view.incidents].sort(bySeverityThenExhaustion);
  const unheard = new Set(view.alerts.filter((alert) => isUnheard(alert, view.slos)).map(({ incident }) => incident));
  return html`
<section aria-labelledby="open"><h2 id="open">Open incidents</h2>
${order.length === 0 ? html`<p class="quiet">No incident is open. ${silenceWords(view.slos)}</p>` : html`<ul class="cards">${order.map((incident) => card(incident, view.now, unheard.has(incident.id)))}</ul>`}
</section>
<section aria-labelledby="recent"><h2 id="recent">Resolved lately</h2>
${
  view.recent.length === 0
    ? html`<p class="quiet">None.</p>`
    : html`<ul class="plain">${view.recent.map(
        (incident) =>
          html`<li><a href="/incidents/${incident.id}">${incident.id} ${incident.title}</a>, resolved ${agoWords(incident.resolvedAt ?? incident.changedAt, view.now)}</li>`,
      )}</ul>`
}
</section>`;
}

/** Quiet is only good news where something is measured. */
function silenceWords(slos: readonly SloView[]): string {
  const groups = slos.flatMap((slo) => slo.groups);
  const measured = groups.filter((group) => group.state === 'measured').length;
  if (groups.length === 0) return 'But nothing is measured yet: no balancer has pushed metrics that an SLO counts.';
  if (measured === groups.length) return `${measured} of ${groups.length} budgets are measured.`;
  return `Only ${measured} of ${groups.length} budgets are measured right now; see SLOs for the others.`;
}

function bySeverityThenExhaustion(a: IncidentView, b: IncidentView): number {
  if (a.severity !== b.severity) return a.severity === 'page' ? -1 : 1;
  const left = (incident: IncidentView): number => incident.exhaustion?.seconds ?? Number.POSITIVE_INFINITY;
  const [ofA, ofB] = [left(a), left(b)];
  return ofA === ofB ? b.id - a.id : ofA - ofB;
}

function card(incident: IncidentView, now: string, isUnheard: boolean): Html {
  const { lead } = incident;
  return html`<li class="card ${incident.severity}">
<h3><a href="/incidents/${incident.id}">${incident.title}</a></h3>
<p>${severityBadge(incident.severity)} ${incident.tier === null ? '' : html`tier ${incident.tier}, `}${incident.exhaustion === null ? '' : html`budget <strong>${exhaustionWords(incident.exhaustion)}</strong>, `}open since ${time(incident.openedAt)} (${agoWords(incident.openedAt, now)})</p>
<p>${lead.summary}</p>
${incident.updateDueAt === null ? '' : html`<p>Customers: update ${incident.updateDueAt <= now ? 'overdue since' : 'due'} ${time(incident.updateDueAt)}.</p>`}
${lead.mutes.length === 0 ? '' : html`<p class="state no_data">Its lead is muted: ${lead.mutes.map(({ text }) => text).join('; ')}.</p>`}
${isUnheard ? html`<p class="state no_data">${UNHEARD_WORDS}</p>` : ''}
<p>${incident.state === 'acknowledged' ? html`Acknowledged by ${incident.acknowledgedBy}.` : 'Nobody has acknowledged it.'} <a href="${incident.runbookUrl}">Runbook ${incident.runbook}</a> · ${incident.alerts.length} alert${incident.alerts.length === 1 ? '' : 's'}</p>
</li>`;
}
