import { groupKey } from '../../model/history-views.ts';
import type { GroupViewOut, SloView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge } from '../layout.ts';
import { burnWords, exhaustionWords, labelWords, percentWords, stateWords } from '../phrases.ts';

export const SORTS = ['name', 'state', 'alert', 'left', 'time', 'burn'] as const;
export type Sort = (typeof SORTS)[number];

/** What the list is narrowed to and sorted by, as the address says. Null = not asked. */
export interface SloListAsked {
  readonly q: string | null;
  readonly service: string | null;
  readonly state: string | null;
  readonly severity: string | null;
  readonly sort: Sort | null;
  readonly descending: boolean;
}

interface Row {
  readonly slo: SloView;
  readonly group: GroupViewOut;
}

const ROWS_MAX = 500;
const STATES = ['measured', 'no_traffic', 'no_data'];
const NAMES: Readonly<Record<Sort, string>> = {
  name: 'SLO',
  state: 'State',
  alert: 'Alert',
  left: 'Budget left',
  time: 'Gone in',
  burn: 'Burn 1h',
};

/** Whether one table is asked for instead of a section per SLO. */
export const isList = (asked: SloListAsked): boolean =>
  asked.sort !== null || [asked.q, asked.service, asked.state, asked.severity].some((one) => one !== null);

/** The form that narrows, and the way to the list. */
export function sloFilterForm(slos: readonly SloView[], asked: SloListAsked): Html {
  const services = [...new Set(slos.map(({ service }) => service))].sort();
  const options = (values: readonly string[], chosen: string | null): readonly Html[] =>
    values.map(
      (one) => html`<option${one === chosen ? html` selected` : ''} value="${one}">${one.replace('_', ' ')}</option>`,
    );
  return html`<form method="get" action="/slos" class="actions">
<label>Name or label <input name="q" maxlength="200" value="${asked.q ?? ''}"></label>
<label>Service <select name="service"><option value="">any</option>${options(services, asked.service)}</select></label>
<label>State <select name="state"><option value="">any</option>${options(STATES, asked.state)}</select></label>
<label>Alert <select name="severity"><option value="">any</option>${options(['page', 'ticket', 'none'], asked.severity)}</select></label>
<input type="hidden" name="sort" value="${asked.sort ?? 'left'}">${asked.descending ? html`<input type="hidden" name="order" value="desc">` : ''}
<div class="buttons"><button type="submit">Show as a list</button></div></form>`;
}

/** Every group of every SLO in one table. Heads sort by a link, so that the address says what is seen. */
export function sloList(slos: readonly SloView[], asked: SloListAsked): Html {
  const rows = rowsOf(slos, asked);
  const shown = rows.slice(0, ROWS_MAX);
  const more = rows.length > shown.length ? ` Shown are the first ${shown.length}.` : '';
  return html`<p role="status">${rows.length} budget${rows.length === 1 ? '' : 's'}.${more} <a href="/slos">By SLO</a></p>
<div class="scroll" tabindex="0" role="region" aria-label="Budgets"><table><thead><tr>${SORTS.map((one) => head(one, asked))}</tr></thead>
<tbody>${shown.map(row)}</tbody></table></div>`;
}

/** Narrowed and in order; equal ones by name. */
export function rowsOf(slos: readonly SloView[], asked: SloListAsked): readonly Row[] {
  const all = slos.flatMap((slo) => slo.groups.map((group) => ({ slo, group })));
  const sign = asked.descending ? -1 : 1;
  const sort = asked.sort ?? 'left';
  return all
    .filter((one) => fits(one, asked))
    .map((one) => ({ one, key: keyOf(one, sort), name: nameOf(one) }))
    .sort((a, b) => sign * compare(a.key, b.key) || compare(a.name, b.name))
    .map(({ one }) => one);
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
const nameOf = ({ slo, group }: Row): string => `${slo.id} ${Object.values(group.labels).join(' ')}`;

function fits({ slo, group }: Row, { q, service, state, severity }: SloListAsked): boolean {
  const words = `${slo.id} ${slo.displayName} ${Object.values({ ...slo.labels, ...group.labels }).join(' ')}`;
  return (
    (q === null || words.toLowerCase().includes(q.toLowerCase())) &&
    (service === null || slo.service === service) &&
    (state === null || group.state === state) &&
    (severity === null || (group.severity ?? 'none') === severity)
  );
}

/** What is worst comes first when it rises; what is not known comes last. */
function keyOf(one: Row, sort: Sort): string | number {
  const { group } = one;
  const last = Number.POSITIVE_INFINITY;
  switch (sort) {
    case 'name':
      return nameOf(one);
    case 'state':
      return group.state;
    case 'alert':
      return group.severity === 'page' ? 0 : group.severity === 'ticket' ? 1 : 2;
    case 'left':
      return group.state === 'measured' ? (group.budgetRemaining ?? last) : last;
    case 'time':
      return group.state === 'measured' && group.budgetRemaining !== null ? (group.exhaustion.seconds ?? last) : last;
    case 'burn':
      return -(group.state === 'measured' ? (group.burn['1h'] ?? -1) : -1);
  }
}

function head(sort: Sort, asked: SloListAsked): Html {
  const isSorted = (asked.sort ?? 'left') === sort;
  const query = new URLSearchParams();
  for (const name of ['q', 'service', 'state', 'severity'] as const) {
    const value = asked[name];
    if (value !== null) query.set(name, value);
  }
  query.set('sort', sort);
  if (isSorted && !asked.descending) query.set('order', 'desc');
  const order = isSorted ? html` aria-sort="${asked.descending ? 'descending' : 'ascending'}"` : '';
  const arrow = isSorted ? (asked.descending ? ' ▼' : ' ▲') : '';
  return html`<th scope="col"${order}><a href="/slos?${query.toString()}">${NAMES[sort]}${arrow}</a></th>`;
}

function row({ slo, group }: Row): Html {
  const known = group.state === 'measured';
  const label = labelWords(group.labels);
  return html`<tr><th scope="row"><a href="${sloLink(slo, group)}">${slo.id}</a>${label === '' ? '' : html`<br>${label}`}</th>
<td class="state ${group.state}">${stateWords(group)}</td>
<td>${group.severity === null ? 'none' : html`${severityBadge(group.severity)} ${group.tiersHolding.join(', ')}`}</td>
<td class="number">${known && group.budgetRemaining !== null ? percentWords(group.budgetRemaining) : '–'}</td>
<td>${known && group.budgetRemaining !== null ? exhaustionWords(group.exhaustion) : 'not known'}</td>
<td class="number">${burnWords(known ? group.burn['1h'] : null)}</td></tr>`;
}

/** The page of one group's budget. */
export function sloLink(slo: SloView, group: GroupViewOut): string {
  const key = groupKey(group.labels);
  return `/slos/${encodeURIComponent(slo.id)}${Object.keys(group.labels).length === 0 ? '' : `?group=${encodeURIComponent(key)}`}`;
}
