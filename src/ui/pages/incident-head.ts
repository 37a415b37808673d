import type { SloHistoryView, SpentView } from '../../model/history-views.ts';
import type { RunbookStep } from '../../model/runbook-step.ts';
import type { AlertView, IncidentDetailView, SloView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { agoWords, exhaustionWords, figureWords, labelWords, percentWords } from '../phrases.ts';
import { isUnheard, UNHEARD_WORDS } from '../unheard.ts';

export interface HeadShown {
  readonly incident: IncidentDetailView;
  readonly slos: readonly SloView[];
  readonly now: string;
  /** What the burning budget counted around the incident; null where none burns. */
  readonly history: SloHistoryView | null;
  readonly firstStep: RunbookStep | null;
  /** Whether the runbook stands on this page. */
  readonly isInline: boolean;
}

/** The first screen: how bad, until when, who leads, what to do first. Short enough for a phone. */
export function incidentHead(shown: HeadShown): Html {
  const { incident, slos, now } = shown;
  const burning = burningAlert(incident);
  return html`<p class="lede">${severityBadge(incident.severity)} <strong>${incident.state}</strong>${incident.tier === null ? '' : html`, tier ${incident.tier}`}${incident.episode > 1 ? html`, episode ${incident.episode}` : ''}, since ${time(incident.openedAt)} (${agoWords(incident.openedAt, now)})${incident.resolvedAt === null ? '' : html`, resolved ${time(incident.resolvedAt)}`}. ${charge(incident)}</p>
${incident.members.some(({ alert }) => isUnheard(alert, slos)) ? html`<p class="state no_data">${UNHEARD_WORDS}</p>` : ''}
${mutedSummary(incident)}
<dl class="answers">
<div><dt>How bad</dt><dd>${impact(shown, burning)}</dd></div>
<div><dt>Until when</dt><dd>${clock(incident, burning, now)}</dd></div>
<div><dt>Who leads</dt><dd><strong>${incident.lead.name}</strong> (${incident.lead.owner}): ${incident.lead.summary}</dd></div>
<div><dt>Do first</dt><dd>${firstThing(shown)}</dd></div>
</dl>`;
}

/** The firing alert whose budget is gone soonest, else any that burnt. */
export function burningAlert({ members }: IncidentDetailView): AlertView | null {
  const burning = members.map(({ alert }) => alert).filter(({ exhaustion }) => exhaustion !== null);
  const firing = burning.filter(({ state }) => state === 'firing');
  const left = ({ exhaustion }: AlertView): number => exhaustion?.seconds ?? Number.POSITIVE_INFINITY;
  return [...(firing.length > 0 ? firing : burning)].sort((a, b) => left(a) - left(b))[0] ?? null;
}

function charge({ state, acknowledgedBy, snoozedUntil, acknowledgementLapsesAt: lapses }: IncidentDetailView): Html {
  const snoozed = snoozedUntil === null ? '' : html` Snoozed until ${time(snoozedUntil)}.`;
  if (acknowledgedBy === null)
    return html`${state === 'resolved' ? '' : html`<strong>Acknowledged by nobody.</strong>`}${snoozed}`;
  return html`Acknowledged by ${acknowledgedBy}${lapses === null ? '' : html`, lapses ${time(lapses)}`}.${snoozed}`;
}

/** What users had of it, as the burning SLO counts, and its share of the budget. */
function impact({ incident, slos, history }: HeadShown, burning: AlertView | null): Html {
  if (burning === null)
    return html`No error budget burns: of what the SLOs measure, users have nothing of it yet.${placesWords(incident)}`;
  const slo = slos.find(({ id }) => id === burning.labels['slo']);
  const name = html`“${slo?.displayName ?? burning.labels['slo'] ?? burning.name}”`;
  const spent = history?.spent.find(({ by, incident: of }) => by === 'incident' && of === incident.id);
  if (history === null || spent === undefined)
    return html`It eats the budget of ${name}.${leftWords(burning.budgetRemaining)}${placesWords(incident)}`;
  const share = history.points.at(-1)?.left ?? burning.budgetRemaining;
  return html`${sinceWords(history, spent, name)}${leftWords(share)}${placesWords(incident)}`;
}

function sinceWords({ points }: SloHistoryView, spent: SpentView, name: Html): Html {
  const within = points.filter(({ at }) => at > spent.from && at <= endOfStep(points, spent.to));
  const [bad, total] = within.reduce(([b, t], point) => [b + point.bad, t + point.total], [0, 0]);
  const share = spent.share === null ? '' : `, ${percentWords(Number(spent.share.toPrecision(2)))} of the whole budget`;
  if (bad === 0 || total === 0)
    return html`${figureWords(spent.bad)} missed ${name} since ${time(spent.from)}${share}.`;
  return html`<strong>1 in ${ratioWords(total / bad)}</strong> missed ${name} since ${time(spent.from)}: ${figureWords(bad)} of ${figureWords(total)}${share}.`;
}

/** `46`, and `1.2` where almost all of them miss. */
const ratioWords = (ratio: number): string => figureWords(ratio < 10 ? Number(ratio.toFixed(1)) : Math.round(ratio));

/** The step that holds the end counts as a whole. */
const endOfStep = (points: SloHistoryView['points'], end: string): string =>
  points.find(({ at }) => at >= end)?.at ?? end;

const leftWords = (share: number | null): Html | '' =>
  share === null ? '' : html` ${percentWords(Number(share.toPrecision(3)))} of the budget is left.`;

/** Which parts of the fleet its firing alerts name, of all once none fires. */
function placesWords({ members }: IncidentDetailView): Html | '' {
  const alerts = members.map(({ alert }) => alert);
  const firing = alerts.filter(({ state }) => state === 'firing');
  const parts = (['cluster', 'zone', 'host', 'balancer'] as const).flatMap((part) => {
    const names = [...new Set((firing.length > 0 ? firing : alerts).flatMap((one) => one.matchedLabels[part] || []))];
    if (names.length === 0) return [];
    const some = names.slice(0, 3).join(', ');
    return [
      `${part}${names.length === 1 ? '' : 's'} ${names.length > 3 ? `${some} and ${names.length - 3} more` : some}`,
    ];
  });
  return parts.length === 0 ? '' : html` Where: ${parts.join('; ')}.`;
}

/** The countdown with its band, and the hour at which that is; the clock of a person does not count hours. */
function clock(incident: IncidentDetailView, burning: AlertView | null, now: string): Html {
  if (incident.state === 'resolved') return html`It is over.`;
  if (burning?.exhaustion == null) return html`Nothing runs out.`;
  const { exhausted, seconds, recoversAt } = burning.exhaustion;
  const words = html`Budget <strong>${exhaustionWords(burning.exhaustion)}</strong>`;
  if (exhausted)
    return html`${words}${recoversAt === null ? '' : html`; without errors from now on there is some again ${time(recoversAt)}`}.`;
  if (seconds === null) return html`${words}.`;
  return html`${words}, at about ${time(new Date(Date.parse(now) + seconds * 1000).toISOString())}.`;
}

function firstThing({ incident, firstStep, isInline }: HeadShown): Html {
  const href = isInline ? '#runbook' : incident.runbookUrl;
  const link = html`<a href="${href}">Runbook ${incident.runbook}</a>`;
  return firstStep === null ? html`Open the ${link}.` : html`${firstStep.text}. ${link}`;
}

/** Nothing that is muted may be invisible. */
function mutedSummary({ members }: IncidentDetailView): Html | '' {
  const firing = members.filter(({ alert }) => alert.state === 'firing');
  const muted = firing.filter(({ alert }) => alert.mutes.length > 0);
  if (muted.length === 0) return '';
  const others = muted.length === firing.length ? 'nobody is told of this incident' : 'people are told of the others';
  return html`<p class="state no_data">Muted: ${muted.length} of ${firing.length} firing alerts; ${others}. Each alert below says what mutes it.</p>`;
}

/** When customers are to hear of it, and what it is tied to. */
export function incidentFacts(incident: IncidentDetailView, now: string): Html | '' {
  const { updateDueAt, customersToldAt, mergedInto, previous, lead } = incident;
  const told = customersToldAt === null ? 'not told yet' : html`told ${time(customersToldAt)}`;
  const due =
    updateDueAt === null
      ? ''
      : updateDueAt <= now
        ? html`; <strong>update overdue since ${time(updateDueAt)}</strong>`
        : html`; update due ${time(updateDueAt)}`;
  return html`<dl class="facts">
<div><dt>Lead is about</dt><dd>${labelWords(lead.labels) || 'the whole fleet'}</dd></div>
${updateDueAt === null && customersToldAt === null ? '' : html`<div><dt>Customers</dt><dd>${told}${due}</dd></div>`}
${mergedInto === null ? '' : html`<div><dt>Merged into</dt><dd><a href="/incidents/${mergedInto}">incident ${mergedInto}</a></dd></div>`}
${previous === null ? '' : html`<div><dt>Follows</dt><dd><a href="/incidents/${previous}">incident ${previous}</a></dd></div>`}
</dl>`;
}
