import { CORRECTION_KINDS, type CorrectionKind, WEEKDAYS } from '../../model/correction.ts';
import type {
  CorrectionDetailView,
  CorrectionEffectView,
  CorrectionPreviewView,
  CorrectionView,
  RecurrenceView,
} from '../../model/views.ts';
import { plainTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { durationWords, figureWords, labelWords, percentWords } from '../phrases.ts';

/** What the form holds, as typed, by the names of its fields. */
export type CorrectionForm = Readonly<Record<string, string>>;

const KIND_WORDS: Readonly<Record<CorrectionKind, string>> = {
  maintenance: 'planned work',
  not_our_fault: 'not our fault',
  bad_data: 'bad data',
  other: 'something else',
};

/** Times that do not count, and the form that takes one out: what that would do is shown before anybody has to mean it. */
export function correctionsPage(view: {
  readonly corrections: readonly CorrectionView[];
  readonly hasMore: boolean;
  readonly slos: readonly string[];
  readonly form: CorrectionForm;
  readonly preview: CorrectionPreviewView | null;
  readonly message: string | null;
}): Html {
  const { corrections, hasMore, slos, form, preview, message } = view;
  const inForce = corrections.filter(({ state }) => state === 'active' || state === 'scheduled');
  const past = corrections.filter(({ state }) => state === 'over');
  const undone = corrections.filter(({ state }) => state === 'undone');
  return html`
${message === null ? '' : html`<p class="message" role="status">${message}</p>`}
<p>A correction leaves a time out of the budgets of some SLOs: what happened then counts neither good nor bad. It can be undone, and stays on record.</p>
<section aria-labelledby="new"><h2 id="new">New correction</h2>
${formOf(form, slos)}
${preview === null ? '' : html`<h3>It would do this</h3>${effectsOf(preview)}`}</section>
<section aria-labelledby="current"><h2 id="current">Runs, or comes</h2>${list(inForce, 'None: every minute counts.')}</section>
<section aria-labelledby="over"><h2 id="over">Over, and left out</h2>${list(past, 'None.')}</section>
${undone.length === 0 ? '' : html`<details><summary>${undone.length} undone</summary>${list(undone, 'None.')}</details>`}
${hasMore ? html`<p class="quiet">Older ones: <a href="/api/v1/corrections">all of them as JSON</a>.</p>` : ''}`;
}

function formOf(form: CorrectionForm, slos: readonly string[]): Html {
  const value = (name: string): string => form[name] ?? '';
  const option = (name: string, one: string, words: string): Html =>
    html`<option value="${one}"${value(name) === one ? html` selected` : ''}>${words}</option>`;
  const days = WEEKDAYS.map(
    (day) =>
      html`<label><input type="checkbox" name="on-${day}" value="${day}"${value(`on-${day}`) === '' ? '' : html` checked`}> ${day}</label>`,
  );
  return html`<form method="post" class="actions" action="/corrections">
<label>Why it does not count <select name="kind">${CORRECTION_KINDS.map((kind) => option('kind', kind, KIND_WORDS[kind]))}</select></label>
<label>Which SLO <select name="slo">${option('slo', '', 'all that the matchers fit')}${slos.map((id) => option('slo', id, id))}</select></label>
<label>Matchers, one a line; all must fit (may be empty for one SLO) <textarea name="matchers" rows="2" maxlength="10000" placeholder="lb.upstream.cluster=checkout">${value('matchers')}</textarea></label>
<label>From (UTC) <input name="from" type="datetime-local" value="${value('from')}"></label>
<label>To (UTC) <input name="to" type="datetime-local" value="${value('to')}"></label>
<details${WEEKDAYS.some((day) => value(`on-${day}`) !== '') ? html` open` : ''}><summary>Or again and again</summary>
<fieldset><legend>On these days, instead of from and to</legend>${days}</fieldset>
<div class="actions"><label>Begins at (local time) <input name="start" type="time" value="${value('start')}"></label>
<label>Lasts <input name="duration" maxlength="20" value="${value('duration')}" placeholder="1h30m"></label>
<label>Time zone <input name="zone" maxlength="100" value="${value('zone')}" placeholder="Europe/Berlin"></label>
<label>First day <input name="firstDate" type="date" value="${value('firstDate')}"></label>
<label>Last day (empty: no end) <input name="lastDate" type="date" value="${value('lastDate')}"></label></div></details>
<label>Reason <input name="reason" required maxlength="2000" value="${value('reason')}"></label>
<label>Your name <input name="by" required maxlength="100" autocomplete="username" value="${value('by')}"></label>
<div class="buttons"><button type="submit" formaction="/corrections/preview">Preview</button><button type="submit">Leave it out</button></div></form>`;
}

const EFFECTS_SHOWN = 50;

function effectsOf({ groups, effects }: CorrectionPreviewView): Html {
  if (groups === 0) return html`<p class="state no_traffic">No budget has anything of that time, or none fits.</p>`;
  const shown = [...effects].sort((a, b) => gainOf(b) - gainOf(a)).slice(0, EFFECTS_SHOWN);
  const more =
    groups > shown.length
      ? html`<p class="quiet">${shown.length} of ${groups} budgets, those that change most.</p>`
      : '';
  return html`${plainTable(
    ['SLO', 'Group', 'Bad left out', 'Good left out', 'Budget left without it', 'with it'],
    shown.map(({ slo, labels, bad, good, budgetBefore, budgetAfter }) => [
      slo,
      labelWords(labels) || 'all',
      figureWords(bad),
      figureWords(good),
      shareWords(budgetBefore),
      shareWords(budgetAfter),
    ]),
    'What it does to budgets',
  )}${more}`;
}

const gainOf = ({ budgetBefore, budgetAfter }: CorrectionEffectView): number =>
  (budgetAfter ?? 0) - (budgetBefore ?? 0);

const shareWords = (share: number | null): string =>
  share === null ? '–' : percentWords(Number(share.toPrecision(4)));

function list(corrections: readonly CorrectionView[], none: string): Html {
  if (corrections.length === 0) return html`<p class="quiet">${none}</p>`;
  return plainTable(
    ['Correction', 'State', 'When', 'Of what', 'Who'],
    corrections.map((one) => [
      html`<a href="/corrections/${one.id}">${one.id} ${one.reason}</a>`,
      stateWords(one),
      whenWords(one),
      scopeWords(one),
      one.by,
    ]),
    'Corrections',
  );
}

const stateWords = ({ state, kind, ended }: CorrectionView): Html =>
  html`<strong>${state}</strong>, ${KIND_WORDS[kind]}${ended === null ? '' : html`, ended ${time(ended.at)}`}`;

function whenWords({ from, to, recurring, next }: CorrectionView): Html {
  if (recurring === null) return html`${time(from ?? '')} to ${time(to ?? '')}`;
  return html`${recurrenceWords(recurring)}${next === null ? '' : html`; next ${time(next.from)}`}`;
}

const recurrenceWords = ({ weekdays, start, durationSeconds, zone, firstDate, lastDate }: RecurrenceView): string =>
  `${weekdays.join(', ')} at ${start} ${zone} for ${durationWords(durationSeconds)}, from ${firstDate}${lastDate === null ? '' : ` to ${lastDate}`}`;

const scopeWords = ({ slos, matchers }: CorrectionView): string =>
  [slos.length === 0 ? 'any SLO' : slos.join(', '), matchers.length === 0 ? '' : `where ${matchers.join(' and ')}`]
    .filter(Boolean)
    .join(' ');

/** One correction: what it does, how it is ended or taken back, and what was done to it. */
export function correctionPage(correction: CorrectionDetailView, message: string | null): Html {
  const { id, reason, by, createdAt, state, undone, audit } = correction;
  const change = (kind: 'end' | 'undo', label: string, says: string): Html =>
    html`<form method="post" class="actions" action="/corrections/${id}/${kind}"><label>${says}: why <input name="reason" required maxlength="2000"></label>
<label>Your name <input name="by" required maxlength="100" autocomplete="username"></label>
<div class="buttons"><button type="submit">${label}</button></div></form>`;
  const canEnd = state === 'active' || state === 'scheduled';
  return html`
${message === null ? '' : html`<p class="message" role="status">${message}</p>`}
<p class="lede">${stateWords(correction)}: ${reason}. By ${by}, ${time(createdAt)}. <a href="/corrections">All corrections</a></p>
<p>${whenWords(correction)}, of ${scopeWords(correction)}.</p>
${undone === null ? '' : html`<p>Undone ${time(undone.at)} by ${undone.by}: ${undone.reason}.</p>`}
<section aria-labelledby="effect"><h2 id="effect">What it does now</h2>${state === 'undone' ? html`<p class="quiet">Nothing any more.</p>` : effectsOf(correction)}</section>
${canEnd ? change('end', 'End now', 'Nothing from now on is left out') : ''}
${state === 'undone' ? '' : change('undo', 'Undo', 'As if it had never been')}
<section aria-labelledby="record"><h2 id="record">Record</h2>${plainTable(
    ['When', 'What', 'Who', 'Why'],
    [...audit].reverse().map((entry) => [time(entry.at), entry.action, entry.by, entry.note]),
    'Record',
  )}</section>`;
}
