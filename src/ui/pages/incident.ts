import { CHECKLIST } from '../../model/practice.ts';
import type { AlertView, IncidentDetailView, MemberView, SloView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { agoWords, exhaustionWords, figureWords, labelWords, percentWords } from '../phrases.ts';
import { isUnheard, UNHEARD_WORDS } from '../unheard.ts';

const MEMBERS_MAX = 100;

/**
 * One incident, in the order in which it is read at 3 a.m.: state and clock, impact, cause, first step, then the
 * record.
 */
export function incidentPage(
  incident: IncidentDetailView,
  slos: readonly SloView[],
  now: string,
  message: string | null,
): Html {
  const { lead } = incident;
  const burning = incident.members.map((member) => member.alert).find((alert) => alert.exhaustion !== null) ?? lead;
  return html`
${message === null ? '' : html`<p class="message" role="status">${message}</p>`}
<p class="lede">${severityBadge(incident.severity)} <strong>${incident.state}</strong>${incident.tier === null ? '' : html`, tier ${incident.tier}`}${incident.episode > 1 ? html`, episode ${incident.episode}` : ''}. Opened ${time(incident.openedAt)} (${agoWords(incident.openedAt, now)}).${incident.resolvedAt === null ? '' : html` Resolved ${time(incident.resolvedAt)}.`}</p>
<dl class="facts">
${burning.exhaustion === null ? '' : html`<div><dt>Budget</dt><dd><strong>${exhaustionWords(burning.exhaustion)}</strong></dd></div>`}
${burning.budgetRemaining === null ? '' : html`<div><dt>Budget left</dt><dd>${percentWords(burning.budgetRemaining)}</dd></div>`}
<div><dt>Lead</dt><dd>${lead.name} (${lead.owner})</dd></div>
${customers(incident, now)}
<div><dt>Acknowledged</dt><dd>${incident.acknowledgedBy === null ? 'by nobody' : html`by ${incident.acknowledgedBy}${incident.acknowledgementLapsesAt === null ? '' : html`, lapses ${time(incident.acknowledgementLapsesAt)}`}`}</dd></div>
${incident.mergedInto === null ? '' : html`<div><dt>Merged into</dt><dd><a href="/incidents/${incident.mergedInto}">incident ${incident.mergedInto}</a></dd></div>`}
${incident.previous === null ? '' : html`<div><dt>Follows</dt><dd><a href="/incidents/${incident.previous}">incident ${incident.previous}</a></dd></div>`}
</dl>
<p>${lead.summary}</p>
${incident.members.some(({ alert }) => isUnheard(alert, slos)) ? html`<p class="state no_data">${UNHEARD_WORDS}</p>` : ''}
<p><a class="button" href="${incident.runbookUrl}">Open runbook ${incident.runbook}</a></p>
${mutedSummary(incident)}
${actions(incident)}
<section aria-labelledby="members"><h2 id="members">Why these are one incident</h2>
${memberCards(incident)}</section>
${incident.state === 'resolved' ? '' : regroup(incident)}
${followUps(incident)}
${judgement(incident)}
${brought(incident)}
<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
<p>Export: <a href="/api/v1/incidents/${incident.id}/timeline?format=md">Markdown</a> · <a href="/api/v1/incidents/${incident.id}/timeline?format=json">JSON</a></p>
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Who</th><th scope="col">Why</th></tr></thead>
<tbody>${[...incident.timeline].reverse().map((entry) => html`<tr><td>${time(entry.at)}</td><td>${entry.change.replaceAll('_', ' ')}</td><td>${entry.by}</td><td>${entry.reason}</td></tr>`)}</tbody></table></div></section>
<section aria-labelledby="sends"><h2 id="sends">What was sent</h2>
${
  incident.sends.length === 0
    ? html`<p class="quiet">Nothing: no receiver is configured, or none wanted it.</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">When</th><th scope="col">Reason</th><th scope="col">Receiver</th><th scope="col">State</th><th scope="col">Tries</th></tr></thead>
<tbody>${incident.sends.map((send) => html`<tr><td>${time(send.at)}</td><td>${send.reason.replaceAll('_', ' ')}</td><td>${send.receiver}</td><td>${send.state}${send.lastError === null ? '' : html`: ${send.lastError}`}</td><td>${send.attempts}</td></tr>`)}</tbody></table></div>`
}</section>`;
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
<div class="buttons">${buttons}</div></form>${incident.state === 'resolved' ? '' : resolveForm(incident)}`;
}

/** What to see to first; what is not needs a reason. */
function resolveForm({ id }: IncidentDetailView): Html {
  const boxes = CHECKLIST.map(
    ({ id: check, text }) =>
      html`<label><input type="checkbox" name="check-${check}" value="${check}"> ${text}</label>`,
  );
  return html`<form method="post" class="actions" action="/incidents/${id}/resolve">
<fieldset><legend>Before it is resolved by hand</legend>${boxes}</fieldset>
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<label>Note (why, where a box is left open) <input name="note" maxlength="2000"></label>
<div class="buttons"><button type="submit">Resolve</button></div></form>`;
}

/** When customers are to hear of it. */
function customers({ updateDueAt, customersToldAt }: IncidentDetailView, now: string): Html | '' {
  if (updateDueAt === null) return '';
  const told = customersToldAt === null ? 'not told yet' : html`told ${time(customersToldAt)}`;
  const due =
    updateDueAt <= now
      ? html`<strong>update overdue since ${time(updateDueAt)}</strong>`
      : html`update due ${time(updateDueAt)}`;
  return html`<div><dt>Customers</dt><dd>${told}; ${due}</dd></div>`;
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

/** Nothing that is muted may be invisible. */
function mutedSummary({ members }: IncidentDetailView): Html | '' {
  const firing = members.filter(({ alert }) => alert.state === 'firing');
  const muted = firing.filter(({ alert }) => alert.mutes.length > 0);
  if (muted.length === 0) return '';
  const others = muted.length === firing.length ? 'nobody is told of this incident' : 'people are told of the others';
  return html`<p class="state no_data">Muted: ${muted.length} of ${firing.length} firing alerts; ${others}. Each alert below says what mutes it.</p>`;
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
