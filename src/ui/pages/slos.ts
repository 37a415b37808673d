import { ATTRIBUTE } from '../../model/conventions.ts';
import type { BracketView, CorrectionView, GroupViewOut, SloView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import { burnWords, durationWords, exhaustionWords, labelWords, percentWords, stateWords } from '../phrases.ts';
import { sloLink } from './slo-list.ts';

const NAMED_MAX = 5;
const BURN_WINDOWS = ['5m', '1h', '6h', '3d'] as const;

/** What the page is narrowed to; links of messages lead to such a view. A group without a cluster or zone fits any. */
export interface SloFilter {
  readonly slo: string | null;
  readonly cluster: string | null;
  readonly zone: string | null;
}

/** Every budget: what is left, how it burns, and whether it is measured at all. */
export function slosPage(
  slos: readonly SloView[],
  filter: SloFilter,
  corrections: readonly CorrectionView[] = [],
): Html {
  if (slos.length === 0) return html`<p>No SLO is in force. Put OpenSLO files into the rules folder under slos/.</p>`;
  const asked = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== null);
  if (asked.length === 0) return sections(slos, corrections);
  const found = narrowed(slos, filter);
  const words = asked.map(([name, value]) => `${name} ${value}`).join(', ');
  return html`<p>${found.length === 0 ? 'No budget fits' : 'Only'} ${words}. <a href="/slos">Show all.</a></p>${sections(found, corrections)}`;
}

function narrowed(slos: readonly SloView[], { slo, cluster, zone }: SloFilter): readonly SloView[] {
  const fits = (value: string | undefined, wanted: string | null): boolean =>
    wanted === null || value === undefined || value === wanted;
  const found = slos.filter(({ id }) => slo === null || id === slo);
  const groups = ({ labels }: GroupViewOut): boolean =>
    fits(labels[ATTRIBUTE.cluster], cluster) && fits(labels[ATTRIBUTE.zone], zone);
  return found
    .map((one) => ({ ...one, groups: one.groups.filter(groups) }))
    .filter((one) => one.groups.length > 0 || slo !== null);
}

function sections(slos: readonly SloView[], corrections: readonly CorrectionView[]): Html {
  return html`${slos.map(
    (
      slo,
    ) => html`<section aria-labelledby="slo-${slo.id}"><h2 id="slo-${slo.id}"><a href="/slos/${encodeURIComponent(slo.id)}">${slo.displayName}</a></h2>
<p class="quiet">${slo.id}: ${percentWords(Number(slo.objective))} of ${slo.window}${sliceWords(slo)}${resetWords(slo)}, service ${slo.service}</p>
${leftOutWords(slo, corrections)}${
  slo.groups.length === 0
    ? html`<p class="state no_data">No data: no balancer has pushed what this SLO counts.</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="Groups of ${slo.id}"><table><thead><tr><th scope="col">Group</th><th scope="col">State</th><th scope="col">Alert</th><th scope="col" class="number">Good</th><th scope="col" class="number">Budget left</th><th scope="col">Budget</th>${BURN_WINDOWS.map((window) => html`<th scope="col" class="number">Burn ${window}</th>`)}<th scope="col" class="number">Events</th></tr></thead>
<tbody>${slo.groups.map((group) => groupRow(slo, group))}</tbody></table></div>`
}</section>`,
  )}`;
}

/** What corrections take out of this SLO's budgets, and which: those that run now first. */
function leftOutWords({ groups }: SloView, corrections: readonly CorrectionView[]): Html | string {
  const leftOut = groups.flatMap((group) => group.leftOut ?? []);
  const ids = new Set(leftOut.flatMap((one) => one.corrections));
  const own = corrections.filter(({ id }) => ids.has(id));
  if (own.length === 0) return '';
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const bad = sum(leftOut.map((one) => one.bad));
  const total = bad + sum(leftOut.map((one) => one.good));
  const shown = [...own]
    .sort((a, b) => Number(b.state === 'active') - Number(a.state === 'active'))
    .slice(0, NAMED_MAX);
  const names = shown.map(
    ({ id, kind, reason, by, state, next }, index) =>
      html`${index === 0 ? '' : '; '}<a href="/api/v1/corrections/${id}">correction ${id}</a> (${kind.replaceAll('_', ' ')} by ${by}: ${reason}${state === 'active' && next !== null ? html`, <strong>in force</strong> until ${time(next.to)}` : ''})`,
  );
  const more = own.length > NAMED_MAX ? ` and ${own.length - NAMED_MAX} more` : '';
  return html`<p class="corrections">Left out of the budget: ${bad} bad of ${total} events, by ${names}${more}.</p>`;
}

function groupRow(slo: SloView, group: GroupViewOut): Html {
  const label = labelWords(group.labels);
  // What was measured before the balancers fell silent says nothing about now.
  const known = group.state === 'measured';
  return html`<tr><th scope="row"><a href="${sloLink(slo, group)}">${label === '' ? 'all' : label}</a></th>
<td class="state ${group.state}">${stateWords(group)}</td>
<td>${group.severity === null ? 'none' : html`${severityBadge(group.severity)} ${group.tiersHolding.join(', ')}`}</td>
<td class="number">${known && group.sli !== null ? goodWords(group.sli, group.sliBracket) : '–'}</td>
<td class="number">${known && group.budgetRemaining !== null ? leftWords(group.budgetRemaining, group.budgetRemainingSoFar) : '–'}</td>
<td>${known && group.budgetRemaining !== null ? exhaustionWords(group.exhaustion) : 'not known'}</td>
${BURN_WINDOWS.map((window) => html`<td class="number">${burnWords(known ? group.burn[window] : null)}</td>`)}
<td class="number">${countWords(group)}${memberWords(group)}</td></tr>`;
}

/** `36 bad of 3600`; of slices how many have no data. */
function countWords({ bad, total, slices }: GroupViewOut): string {
  const figure = (value: number): number => Number(value.toFixed(2));
  const count = `${figure(bad)} bad of ${figure(total)}`;
  if (slices === null) return count;
  const gaps = slices.expected - slices.observed;
  return `${count} slices${gaps > 0 ? `, ${percentWords(slices.coverage)} covered` : ''}`;
}

/** Of a composite, what each member has: `; availability 99.9 %, latency no events`. */
function memberWords({ members }: GroupViewOut): string {
  if (members === null) return '';
  const each = members.map(({ name, sli }) => `${name} ${sli === null ? 'no events' : percentWords(sli)}`);
  return `; ${each.join(', ')}`;
}

/** ` in slices of 60 s, good from 0.95`. */
function sliceWords({ budgetingMethod, timeSliceSeconds, timeSliceTarget }: SloView): string {
  if (timeSliceSeconds === null) return '';
  const how = budgetingMethod === 'Timeslices' ? `good from ${timeSliceTarget}` : 'each by its own ratio';
  return ` in slices of ${durationWords(timeSliceSeconds)}, ${how}`;
}

/** `98 %`, or where a threshold lies between two bounds `98 % (at best 99.5 %)`. */
const goodWords = (sli: number, bracket: BracketView | null): string =>
  bracket === null ? percentWords(sli) : `${percentWords(sli)} (at best ${percentWords(bracket.high)})`;

/** A calendar window says when its budget starts afresh, as its first group knows. */
function resetWords({ rolling, groups }: SloView): Html | string {
  if (rolling) return '';
  const resetsAt = groups[0]?.resetsAt ?? null;
  return resetsAt === null ? ' by the calendar' : html` by the calendar, resets on ${time(resetsAt)}`;
}

/** `62 %`, or of a calendar window `62 % (of the budget so far: 24 %)`. */
const leftWords = (left: number, soFar: number | null): string =>
  soFar === null ? percentWords(left) : `${percentWords(left)} (of the budget so far: ${percentWords(soFar)})`;
