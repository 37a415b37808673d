import { silenceMatcherText } from '../../model/mute.ts';
import type { SilencePreviewView, SilenceView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { labelWords } from '../phrases.ts';

/** What the form holds: as typed, so that nothing is lost when something does not fit. */
export interface SilenceForm {
  /** One matcher a line. */
  readonly matchers: string;
  readonly duration: string;
  readonly by: string;
  readonly comment: string;
}

export const EMPTY_FORM: SilenceForm = { matchers: '', duration: '1h', by: '', comment: '' };

/** Silences, and the form that makes one: what it would mute is shown before anybody has to mean it. */
export function silencesPage(view: {
  readonly silences: readonly SilenceView[];
  readonly form: SilenceForm;
  readonly preview: SilencePreviewView | null;
  readonly message: string | null;
}): Html {
  const { silences, form, preview, message } = view;
  const current = silences.filter(({ status }) => status.state !== 'expired');
  const ended = silences.filter(({ status }) => status.state === 'expired');
  return html`
${message === null ? '' : html`<p class="message" role="status">${message}</p>`}
<p>A silence keeps messages back. It hides no alert, and what closes a page always passes.</p>
<section aria-labelledby="new"><h2 id="new">New silence</h2>
${formOf(form)}
${preview === null ? '' : previewOf(preview)}
</section>
<section aria-labelledby="current"><h2 id="current">In force, or to come</h2>
${current.length === 0 ? html`<p class="quiet">None: people are told of everything.</p>` : table(current, true)}</section>
<section aria-labelledby="ended"><h2 id="ended">Ended in the last 5 days</h2>
${ended.length === 0 ? html`<p class="quiet">None.</p>` : table(ended, false)}</section>`;
}

function formOf(form: SilenceForm): Html {
  return html`<form method="post" class="actions" action="/silences">
<label>Alerts, one matcher a line; all must match <textarea name="matchers" required rows="3" maxlength="10000" placeholder="host=10.0.3.7">${form.matchers}</textarea></label>
<label>For how long <input name="duration" required maxlength="20" value="${form.duration}" placeholder="2h"></label>
<label>Your name <input name="by" required maxlength="100" autocomplete="username" value="${form.by}"></label>
<label>Why <input name="comment" maxlength="2000" value="${form.comment}"></label>
<div class="buttons"><button type="submit" formaction="/silences/preview">Preview</button><button type="submit">Silence</button></div></form>`;
}

function previewOf({ alerts, incidents, past, pastCount, pastSince }: SilencePreviewView): Html {
  const more = pastCount > past.length ? html`<p class="quiet">The newest ${past.length} of ${pastCount}.</p>` : '';
  return html`<h3>It would mute</h3>
${
  alerts.length === 0
    ? html`<p class="quiet">No alert that fires now.</p>`
    : html`<ul class="plain">${alerts.map((alert) => html`<li>${severityBadge(alert.severity)} ${alert.name}, ${labelWords(alert.labels)}</li>`)}</ul>`
}
${incidents.length === 0 ? '' : html`<p>Incidents with one of them:</p><ul class="plain">${incidents.map(({ id, title }) => html`<li><a href="/incidents/${id}">${id} ${title}</a></li>`)}</ul>`}
<h3>It would have muted since ${time(pastSince)}</h3>
${
  past.length === 0
    ? html`<p class="quiet">Nothing that an incident knows of.</p>`
    : html`${more}<ul class="plain">${past.map((alert) => html`<li>${time(alert.since)} ${severityBadge(alert.severity)} ${alert.name}, ${labelWords(alert.labels)}, <a href="/incidents/${alert.incident}">incident ${alert.incident}</a></li>`)}</ul>`
}`;
}

function table(silences: readonly SilenceView[], isCurrent: boolean): Html {
  const expire = (id: string): Html =>
    html`<td><form method="post" action="/silences/expire"><input type="hidden" name="id" value="${id}"><button type="submit">End now</button></form></td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Silences"><table><thead><tr><th scope="col">Alerts</th><th scope="col">State</th><th scope="col">From</th><th scope="col">Until</th><th scope="col">Who</th><th scope="col">Why</th>${isCurrent ? html`<th scope="col">Mutes now</th><th scope="col">End</th>` : ''}</tr></thead>
<tbody>${silences.map(
    ({ id, matchers, status, startsAt, endsAt, createdBy, comment, alerts }) =>
      html`<tr><td>${matchers.map(silenceMatcherText).join(' ')}</td><td>${status.state}</td><td>${time(startsAt)}</td><td>${time(endsAt)}</td><td>${createdBy}</td><td>${comment}</td>${isCurrent ? html`<td>${alerts}</td>${expire(id)}` : ''}</tr>`,
  )}</tbody></table></div>`;
}
