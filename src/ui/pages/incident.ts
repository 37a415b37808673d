import type { AlertView, IncidentDetailView, MemberView, SloView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { agoWords, exhaustionWords, labelWords, percentWords } from '../phrases.ts';
import { isUnheard, UNHEARD_WORDS } from '../unheard.ts';

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
<ul class="cards">${incident.members.map((member) => memberCard(member, member.alert.key === lead.key))}</ul></section>
${incident.state === 'resolved' ? '' : regroup(incident)}
${brought(incident)}
<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
<div class="scroll"><table><thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Who</th><th scope="col">Why</th></tr></thead>
<tbody>${[...incident.timeline].reverse().map((entry) => html`<tr><td>${time(entry.at)}</td><td>${entry.change.replaceAll('_', ' ')}</td><td>${entry.by}</td><td>${entry.reason}</td></tr>`)}</tbody></table></div></section>
<section aria-labelledby="sends"><h2 id="sends">What was sent</h2>
${
  incident.sends.length === 0
    ? html`<p class="quiet">Nothing: no receiver is configured, or none wanted it.</p>`
    : html`<div class="scroll"><table><thead><tr><th scope="col">When</th><th scope="col">Reason</th><th scope="col">Receiver</th><th scope="col">State</th><th scope="col">Tries</th></tr></thead>
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
<div class="scroll"><table><thead><tr><th scope="col">When</th><th scope="col">Hook</th><th scope="col">State</th><th scope="col">Why</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

function actions(incident: IncidentDetailView): Html {
  const button = (kind: string, label: string): Html =>
    html`<button type="submit" formaction="/incidents/${incident.id}/${kind}">${label}</button>`;
  const buttons =
    incident.state === 'resolved'
      ? [button('reopen', 'Reopen'), button('note', 'Add note')]
      : [
          incident.state === 'open' ? button('acknowledge', 'Acknowledge') : button('unacknowledge', 'Give back'),
          button('resolve', 'Resolve'),
          button('note', 'Add note'),
        ];
  return html`<form method="post" class="actions" action="/incidents/${incident.id}/acknowledge">
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<label>Note <input name="note" maxlength="2000"></label>
<div class="buttons">${buttons}</div></form>`;
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
  const boxes = here.map(
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
