import { CHECKLIST } from '../../model/practice.ts';
import type { AlertView, IncidentDetailView, MemberView } from '../../model/views.ts';
import { type Html, html, trusted } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { figureWords, labelWords } from '../phrases.ts';
import { type HeadShown, incidentFacts, incidentHead } from './incident-head.ts';

const MEMBERS_MAX = 100;

export interface IncidentShown extends HeadShown {
  readonly message: string | null;
  /** The runbook's parts, filled in; the first stands open. Empty where it is elsewhere. */
  readonly runbook: readonly string[];
  readonly map: Html;
  readonly stages: Html;
  readonly skew: Html;
  readonly config: Html;
}

const PARTS = [
  ['act', 'Act'],
  ['runbook', 'Runbook'],
  ['members', 'Alerts'],
  ['where', 'Where'],
  ['stages', 'Stages'],
  ['skew', 'Skew'],
  ['config', 'Config'],
  ['sends', 'Sent'],
  ['actions', 'Actions'],
  ['noise', 'Noise'],
  ['timeline', 'Timeline'],
] as const;

/**
 * One incident, in the order in which it is read at 3 a.m.: how bad, until when, who leads, what to do; then where and
 * why, then the record.
 */
export function incidentPage(shown: IncidentShown): Html {
  const { incident, now, message, map, stages, skew, config } = shown;
  const section = (id: string, title: string, body: Html): Html =>
    html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${body}</section>`;
  return html`
${message === null ? '' : html`<p class="message" role="status">${message}</p>`}
${incidentHead(shown)}
<nav aria-label="Parts of this page" class="parts"><ul>${PARTS.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
${section('act', 'Act', html`${actions(incident)}${incidentFacts(incident, now)}`)}
${section('runbook', `Runbook ${incident.runbook}`, runbook(shown))}
${section('members', 'Why these are one incident', html`${memberCards(incident)}${incident.state === 'resolved' ? '' : regroup(incident)}`)}
${section('where', 'Where in the fleet', map)}
${section('stages', 'Stages while it lasts', stages)}
${section('skew', 'Skew while it lasts', skew)}
${section('config', 'Config versions', config)}
${brought(incident)}
${section('sends', 'What was sent', sent(incident))}
${followUps(incident)}
${judgement(incident)}
${section('timeline', 'Timeline', timeline(incident))}`;
}

function runbook({ incident, runbook: parts }: IncidentShown): Html {
  const link = html`<p><a class="button" href="${incident.runbookUrl}">Open runbook ${incident.runbook}</a></p>`;
  const [first, ...rest] = parts;
  if (first === undefined) return link;
  return html`<article class="runbook">${trusted(first)}
${rest.length === 0 ? '' : html`<details><summary>The rest of the runbook</summary>${trusted(rest.join(''))}</details>`}</article>${link}`;
}

function timeline({ id, timeline: entries }: IncidentDetailView): Html {
  const rows = [...entries]
    .reverse()
    .map(
      ({ at, change, by, reason }) =>
        html`<tr><td>${time(at)}</td><td>${change.replaceAll('_', ' ')}</td><td>${by}</td><td>${reason}</td></tr>`,
    );
  return html`<p>Export: <a href="/api/v1/incidents/${id}/timeline?format=md">Markdown</a> · <a href="/api/v1/incidents/${id}/timeline?format=json">JSON</a></p>
<div class="scroll" tabindex="0" role="region" aria-label="Timeline"><table><thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Who</th><th scope="col">Why</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function sent({ sends }: IncidentDetailView): Html {
  if (sends.length === 0) return html`<p class="quiet">Nothing: no receiver is configured, or none wanted it.</p>`;
  const rows = sends.map(
    ({ at, reason, receiver, state, lastError, attempts }) =>
      html`<tr><td>${time(at)}</td><td>${reason.replaceAll('_', ' ')}</td><td>${receiver}</td><td>${state}${lastError === null ? '' : html`: ${lastError}`}</td><td>${attempts}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Sent"><table><thead><tr><th scope="col">When</th><th scope="col">Reason</th><th scope="col">Receiver</th><th scope="col">State</th><th scope="col">Tries</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** What hooks brought, and what they did or were not allowed to do. */
function brought({ attachments, hooks }: IncidentDetailView): Html | '' {
  if (hooks.length === 0 && attachments.length === 0) return '';
  const links = attachments.map(
    ({ title, link, at }) => html`<li><a href="${link}" rel="noreferrer">${title}</a> ${time(at)}</li>`,
  );
  const rows = hooks.map(
    ({ at, hook, kind, state, reason }) =>
      html`<tr><td>${time(at)}</td><td>${kind} ${hook}</td><td>${state}</td><td>${reason}</td></tr>`,
  );
  return html`<section aria-labelledby="hooks"><h2 id="hooks">Hooks</h2>
${links.length === 0 ? '' : html`<ul class="plain">${links}</ul>`}
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">When</th><th scope="col">Hook</th><th scope="col">State</th><th scope="col">Why</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

function actions(incident: IncidentDetailView): Html {
  const button = (kind: string, label: string): Html =>
    html`<button type="submit" formaction="/incidents/${incident.id}/${kind}">${label}</button>`;
  const buttons =
    incident.state === 'resolved'
      ? [button('reopen', 'Reopen'), button('note', 'Add note')]
      : [
          incident.state === 'open' ? button('acknowledge', 'Acknowledge') : button('unacknowledge', 'Give back'),
          button('update', 'Customers told'),
          button('note', 'Add note'),
        ];
  return html`<form method="post" class="actions" action="/incidents/${incident.id}/acknowledge">
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<label>Note <input name="note" maxlength="2000"></label>
<div class="buttons">${buttons}</div></form>${incident.state === 'resolved' ? '' : html`${snoozeForm(incident)}${resolveForm(incident)}`}`;
}

/** Nobody is told again for so long, unless it becomes worse. */
function snoozeForm({ id }: IncidentDetailView): Html {
  return html`<details><summary>Snooze</summary><form method="post" class="actions" action="/incidents/${id}/snooze">
<label>For how long <input name="duration" required maxlength="20" value="30m"></label>
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<label>Note <input name="note" maxlength="2000"></label>
<div class="buttons"><button type="submit">Snooze</button></div></form></details>`;
}

/** What to see to first; what is not needs a reason. */
function resolveForm({ id }: IncidentDetailView): Html {
  const boxes = CHECKLIST.map(
    ({ id: check, text }) =>
      html`<label><input type="checkbox" name="check-${check}" value="${check}"> ${text}</label>`,
  );
  return html`<details><summary>Resolve by hand</summary><form method="post" class="actions" action="/incidents/${id}/resolve">
<fieldset><legend>Before it is resolved by hand</legend>${boxes}</fieldset>
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<label>Note (why, where a box is left open) <input name="note" maxlength="2000"></label>
<div class="buttons"><button type="submit">Resolve</button></div></form></details>`;
}

/** What is to be done because of it. */
function followUps({ id, followUps: found }: IncidentDetailView): Html {
  const lines = found.map(
    ({ title, owner, due, state }) =>
      html`<li>${title}: ${owner}, due ${due}${state === 'open' ? '' : html` (${state})`}</li>`,
  );
  return html`<section aria-labelledby="actions"><h2 id="actions">Actions</h2>
${lines.length === 0 ? '' : html`<ul>${lines}</ul>`}
<form method="post" class="actions" action="/incidents/${id}/actions">
<label>What is to be done <input name="title" required maxlength="500"></label>
<label>By whom <input name="owner" required maxlength="100"></label>
<label>Until <input name="due" type="date" required></label>
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<div class="buttons"><button type="submit">Add action</button></div></form></section>`;
}

/** Whether anybody had to be told, as people say; the weekly review counts it. */
function judgement({ id, judgements }: IncidentDetailView): Html {
  const lines = judgements.map(
    ({ at, by, noise, note }) =>
      html`<li>${time(at)} ${by}: ${noise ? 'noise' : 'needed'}${note === null ? '' : html`, ${note}`}</li>`,
  );
  const isNoise = judgements.at(-1)?.noise ?? false;
  return html`<section aria-labelledby="noise"><h2 id="noise">Were its pages needed?</h2>
<p>${isNoise ? 'They count as noise.' : 'They count as needed.'} The <a href="/review">weekly review</a> counts what was noise.</p>
${lines.length === 0 ? '' : html`<ul>${lines}</ul>`}
<form method="post" class="actions" action="/incidents/${id}/noise">
<input type="hidden" name="noise" value="${isNoise ? 'no' : 'yes'}">
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<label>Why <input name="note" maxlength="2000"></label>
<div class="buttons"><button type="submit">${isNoise ? 'They were needed' : 'They were noise'}</button></div></form></section>`;
}

function mutedWords({ state, mutes, matchedLabels }: AlertView): Html {
  const matchers = Object.entries(matchedLabels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const link =
    state === 'firing'
      ? html`<p><a href="/silences?matchers=${encodeURIComponent(matchers.join('\n'))}">Silence this alert</a></p>`
      : '';
  if (mutes.length === 0) return html`${link}`;
  return html`<ul class="evidence">${mutes.map(({ text }) => html`<li>Muted: ${text}</li>`)}</ul>${link}`;
}

/** What a person does about a wrong grouping: some alerts go, or all go elsewhere. */
function regroup(incident: IncidentDetailView): Html {
  const here = incident.members.filter(({ alert }) => alert.state !== 'moved');
  const who = html`<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<label>Why <input name="note" maxlength="2000"></label>`;
  const boxes = here
    .slice(0, MEMBERS_MAX)
    .map(
      ({ alert }, index) =>
        html`<label><input type="checkbox" name="alert-${index}" value="${alert.key}"> ${alert.name} ${labelWords(alert.labels)}</label>`,
    );
  const split = html`<form method="post" class="actions" action="/incidents/${incident.id}/split">
<fieldset><legend>These do not belong here</legend>${boxes}</fieldset>${who}
<div class="buttons"><button type="submit">Split off</button></div></form>`;
  return html`<details class="regroup"><summary>Wrongly grouped?</summary>
${here.length > 1 ? split : ''}
<form method="post" class="actions" action="/incidents/${incident.id}/merge">
<label>All of it belongs to incident <input name="into" type="number" min="1" required></label>${who}
<div class="buttons"><button type="submit">Merge</button></div></form></details>`;
}

/** In a storm the lead and the first of the others; the API has all. */
function memberCards({ id, lead, members }: IncidentDetailView): Html {
  const isLead = ({ alert }: MemberView): boolean => alert.key === lead.key;
  const shown = [...members.filter(isLead), ...members.filter((one) => !isLead(one))].slice(0, MEMBERS_MAX);
  const more =
    members.length > shown.length
      ? html`<p>And ${figureWords(members.length - shown.length)} more: <a href="/api/v1/incidents/${id}">all of them as JSON</a>.</p>`
      : '';
  return html`<ul class="cards">${shown.map((member) => memberCard(member, isLead(member)))}</ul>${more}`;
}

function memberCard(member: MemberView, isLead: boolean): Html {
  const { alert } = member;
  return html`<li class="card ${alert.state === 'firing' ? alert.severity : 'over'}">
<h3>${alert.name}${isLead ? ' (lead)' : ''}</h3>
<p>${severityBadge(alert.severity)} ${alert.state === 'firing' ? html`firing since ${time(alert.since)}` : alert.state === 'moved' ? html`goes on elsewhere` : html`resolved${member.resolvedAt === null ? '' : html` ${time(member.resolvedAt)}`}`}. ${labelWords(alert.labels)}</p>
<p>${alert.summary}</p>
<p class="quiet">${member.reason}</p>
${mutedWords(alert)}
${alert.link === null ? '' : html`<p><a href="${alert.link}" rel="noreferrer">Where it was raised</a></p>`}
${alert.evidence.length === 0 ? '' : html`<ul class="evidence">${alert.evidence.map((evidence) => html`<li>${evidence.text}</li>`)}</ul>`}
</li>`;
}
