import type { BalancerView, ComparisonDeltaView, ComparisonView, ConfigVersionView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { durationWords, percentWords } from '../phrases.ts';

/** What stands in the form: as it was asked. */
export interface CompareForm {
  readonly attribute: string;
  readonly a: string;
  readonly b: string;
  readonly cluster: string;
}

const ATTRIBUTES = ['configVersion', 'version', 'zone', 'region', 'balancer', 'cluster'];

/** Two cohorts beside each other: the verdict first, then what it rests on. */
export function comparePage(form: CompareForm, found: ComparisonView | string | null): Html {
  const options = ATTRIBUTES.map(
    (name) => html`<option${name === form.attribute ? html` selected` : ''}>${name}</option>`,
  );
  return html`<form method="get" action="/compare" class="actions">
<label>By <select name="attribute">${options}</select></label>
<label>Judged <input name="a" required maxlength="500" value="${form.a}"></label>
<label>Beside (empty: all others) <input name="b" maxlength="500" value="${form.b}"></label>
<label>Of zones: hosts of cluster <input name="cluster" maxlength="500" value="${form.cluster}"></label>
<div class="buttons"><button type="submit">Compare</button></div></form>
${found === null ? '' : typeof found === 'string' ? html`<p class="state no_data" role="status">${found}</p>` : result(found)}`;
}

const VERDICT_WORDS: Readonly<Record<ComparisonView['verdict'], string>> = {
  worse: 'worse',
  no_worse: 'no worse',
  hold: 'hold: not enough to say',
  withheld: 'withheld',
};

function result(found: ComparisonView): Html {
  const { sample, fault, exposure, drops } = found;
  const needed = fault.requestsNeeded === null ? 'more than there can be' : number(fault.requestsNeeded);
  const left = fault.seconds === null || fault.seconds === 0 ? '' : `, ${durationWords(fault.seconds)} from now`;
  return html`<section aria-labelledby="verdict"><h2 id="verdict">${VERDICT_WORDS[found.verdict]}</h2>
<p class="lede">${found.reason}.</p>
<dl class="facts">
<div><dt>Window</dt><dd>${time(found.from)} to ${time(found.to)}</dd></div>
<div><dt>Sample</dt><dd>${number(sample.requests)} requests beside ${number(sample.otherRequests)}</dd></div>
<div><dt>Rarest fault seen</dt><dd>1 in ${number(1 / Math.max(sample.rarestFault, 1e-12))} with ${percentWords(sample.confidence)}</dd></div>
<div><dt>A fault of 1 in ${number(1 / fault.rate)}</dt><dd>needs ${needed} requests${left}</dd></div>
${exposure === null ? '' : html`<div><dt>Exposed</dt><dd>${exposure.balancers} of ${exposure.of} balancers (${percentWords(exposure.share)}), ${exposure.batches} batches, ${percentWords(exposure.requestShare)} of requests now</dd></div>`}
${drops === null ? '' : html`<div><dt>Copies dropped</dt><dd>${percentWords(drops.share)} of ${number(drops.copies)}</dd></div>`}
</dl>
${found.deltas.length === 0 ? '' : table(found.deltas)}
<p class="quiet">${sample.formula}</p></section>`;
}

function table(deltas: readonly ComparisonDeltaView[]): Html {
  const rows = deltas.map(
    (delta) => html`<tr><td>${delta.measure.replace('_', ' ')}</td><td>${valueWords(delta, delta.value)}</td>
<td>${valueWords(delta, delta.other)} ${delta.against === 'before' ? '(before)' : ''}</td><td>${delta.worse ? 'worse' : 'no worse'}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">Measure</th><th scope="col">Judged</th><th scope="col">Beside</th><th scope="col">Verdict</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

const valueWords = ({ measure }: ComparisonDeltaView, value: number): string =>
  measure === 'errors' || measure === 'cpu' ? percentWords(value) : `${Number((value * 1000).toPrecision(3))} ms`;

const number = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');

const linkTo = (attribute: string, a: string): string => `/compare?attribute=${attribute}&a=${encodeURIComponent(a)}`;

/** Below the balancers: which config versions they run, and what can be compared. */
export function cohortsSection(versions: readonly ConfigVersionView[], balancers: readonly BalancerView[]): Html {
  const zones = [...new Set(balancers.flatMap(({ zone }) => zone ?? []))].sort();
  const rows = versions.map(
    ({ kind, version, previous, since, balancers: running }) => html`<tr><th scope="row">${version}</th>
<td>${kind || '–'}</td><td>${previous ?? '–'}</td><td>${time(since)}</td><td>${running.length}</td>
<td>${previous === null ? '–' : html`<a href="${linkTo('configVersion', version)}">Compare</a>`}</td></tr>`,
  );
  return html`<section aria-labelledby="cohorts"><h2 id="cohorts">Compare</h2>
${versions.length === 0 ? '' : html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">Config version</th><th scope="col">Kind</th><th scope="col">Before</th><th scope="col">Since</th><th scope="col">Balancers</th><th scope="col">Against the rest</th></tr></thead><tbody>${rows}</tbody></table></div>`}
<p>${zones.length < 2 ? '' : zones.map((zone) => html`<a href="${linkTo('zone', zone)}">Zone ${zone} against the others</a> · `)}<a href="/compare">Any two</a></p></section>`;
}
