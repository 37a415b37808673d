import type { AlertView, IncidentView, SloView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { agoWords, exhaustionWords, figureWords } from '../phrases.ts';
import { isUnheard, UNHEARD_WORDS } from '../unheard.ts';

/** Incidents on one page. */
const PER_PAGE = 50;

/** What needs a person now: open incidents, worst first, and what is known of the rest. */
export function nowPage(view: {
  readonly incidents: readonly IncidentView[];
  readonly recent: readonly IncidentView[];
  readonly alerts: readonly AlertView[];
  readonly slos: readonly SloView[];
  readonly now: string;
  /** From 1. */
  readonly page?: number;
  /** Of what is shown, for the script that renews it. */
  readonly version?: string;
}): Html {
  const order = [...view.incidents].sort(bySeverityThenExhaustion);
  const pages = Math.max(1, Math.ceil(order.length / PER_PAGE));
  const page = Math.min(pages, Math.max(1, Math.floor(view.page ?? 1)));
  const shown = order.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const unheard = unheardIncidents(view.alerts, view.slos, new Set(shown.map(({ id }) => id)));
  const cards = html`<ul class="cards">${shown.map((incident) => card(incident, view.now, unheard.has(incident.id)))}</ul>`;
  return html`<div data-live="${view.version ?? ''}">
<section aria-labelledby="open"><h2 id="open">Open incidents</h2>
${order.length === 0 ? html`<p class="quiet">No incident is open. ${silenceWords(view.slos)}</p>` : html`<p>${countWords(view.incidents, view.alerts)}</p>${cards}${pageLinks(page, pages)}`}
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
</section></div>`;
}

/** Of the incidents that are shown. Only groups without data matter, and they are few. */
function unheardIncidents(
  alerts: readonly AlertView[],
  slos: readonly SloView[],
  shown: ReadonlySet<number>,
): ReadonlySet<number | null> {
  const silent = slos.flatMap((slo) => {
    const groups = slo.groups.filter(({ state }) => state === 'no_data');
    return groups.length === 0 ? [] : [{ ...slo, groups }];
  });
  const own = alerts.filter(({ incident }) => incident !== null && shown.has(incident));
  return new Set(own.filter((alert) => isUnheard(alert, silent)).map(({ incident }) => incident));
}

/** `2 pages and 1 ticket are open; 7 alerts fire.` */
function countWords(incidents: readonly IncidentView[], alerts: readonly AlertView[]): string {
  const pages = incidents.filter(({ severity }) => severity === 'page').length;
  const tickets = incidents.length - pages;
  const of = (count: number, what: string): string => `${figureWords(count)} ${what}${count === 1 ? '' : 's'}`;
  const open = [...(pages > 0 ? [of(pages, 'page')] : []), ...(tickets > 0 ? [of(tickets, 'ticket')] : [])].join(', ');
  return `Open: ${open}. Alerts that fire: ${figureWords(alerts.length)}.`;
}

function pageLinks(page: number, pages: number): Html | '' {
  if (pages === 1) return '';
  const link = (to: number, text: string): Html =>
    to < 1 || to > pages ? html`<span class="quiet">${text}</span>` : html`<a href="/?page=${to}">${text}</a>`;
  return html`<nav aria-label="More incidents"><p>${link(page - 1, 'More urgent')} · Page ${page} of ${pages} · ${link(page + 1, 'Less urgent')}</p></nav>`;
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
  return html`<li class="card ${incident.severity}" data-incident="${incident.id}" data-severity="${incident.severity}">
<h3><a href="/incidents/${incident.id}">${incident.title}</a></h3>
<p>${severityBadge(incident.severity)} ${incident.tier === null ? '' : html`tier ${incident.tier}, `}${incident.exhaustion === null ? '' : html`budget <strong>${exhaustionWords(incident.exhaustion)}</strong>, `}open since ${time(incident.openedAt)} (${agoWords(incident.openedAt, now)})</p>
<p>${lead.summary}</p>
${incident.updateDueAt === null ? '' : html`<p>Customers: update ${incident.updateDueAt <= now ? 'overdue since' : 'due'} ${time(incident.updateDueAt)}.</p>`}
${lead.mutes.length === 0 ? '' : html`<p class="state no_data">Its lead is muted: ${lead.mutes.map(({ text }) => text).join('; ')}.</p>`}
${isUnheard ? html`<p class="state no_data">${UNHEARD_WORDS}</p>` : ''}
<p>${incident.state === 'acknowledged' ? html`Acknowledged by ${incident.acknowledgedBy}.` : 'Nobody has acknowledged it.'} <a href="${incident.runbookUrl}">Runbook ${incident.runbook}</a> · ${incident.alerts.length} alert${incident.alerts.length === 1 ? '' : 's'}</p>
</li>`;
}
