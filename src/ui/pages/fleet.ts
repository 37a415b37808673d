import { STAGES } from '../../model/stages.ts';
import type { BalancerView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { agoWords, durationWords } from '../phrases.ts';
import { FIDELITY_WORDS, STAGE_WORDS } from '../stage-words.ts';

/** Who reports, how often, and what of it was understood. */
export function fleetPage(balancers: readonly BalancerView[], now: string): Html {
  if (balancers.length === 0) {
    return html`<p>No balancer has pushed yet. Point an OTLP exporter at port 4318 (HTTP) or 4317 (gRPC) of this machine.</p>`;
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table class="stack"><thead><tr>${COLUMNS.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${balancers.map((balancer) => row(balancer, now))}</tbody></table></div>`;
}

const COLUMNS = ['Balancer', 'Kind', 'Zone', 'Last heard', 'State', 'Clusters', 'Stages', 'Metrics'] as const;

/** On a phone each row is a block, and each cell says its column. */
function row(balancer: BalancerView, now: string): Html {
  const cell = (column: (typeof COLUMNS)[number], content: Html | string | readonly Html[], className = ''): Html =>
    html`<td data-label="${column}" class="${className}">${content}</td>`;
  return html`<tr><th scope="row">${balancer.id}</th>
${cell('Kind', `${balancer.flavor}${balancer.version === null ? '' : ` ${balancer.version}`}`)}${cell('Zone', balancer.zone ?? '–')}
${cell('Last heard', html`${time(balancer.lastSeen)} (${agoWords(balancer.lastSeen, now)}), pushes every ${durationWords(balancer.intervalSeconds)}`)}
${cell('State', balancer.stale ? 'stale: it has stopped reporting' : 'reporting', `state ${balancer.stale ? 'no_data' : 'measured'}`)}
${cell('Clusters', balancer.clusters.join(', ') || '–')}${cell('Stages', stages(balancer))}
${cell('Metrics', html`<div>${balancer.seriesCount} series</div>${names(balancer.metricsUnderstood, 'understood')}${names(balancer.metricsIgnored, 'ignored')}${thresholds(balancer)}`)}</tr>`;
}

function stages({ stages: known }: BalancerView): Html {
  const lines = STAGES.map((stage) => html`<li>${STAGE_WORDS[stage]}: ${FIDELITY_WORDS[known[stage]]}</li>`);
  return html`<ul class="plain stages">${lines}</ul>`;
}

const seconds = (value: number): string => `${Number(value.toPrecision(4))} s`;

/** Latency thresholds that its histograms cannot tell exactly, and what would change that. */
function thresholds({ thresholdsBetweenBounds: found }: BalancerView): Html | string {
  if (found.length === 0) return '';
  const lines = found.map(({ slo, threshold, below, above, fix }) => {
    const end = above === null ? 'no end' : seconds(above);
    return html`<li>${slo}: ${seconds(threshold)} lies between the bounds ${seconds(below)} and ${end}; ${fix}</li>`;
  });
  return html`<details><summary>${found.length} threshold${found.length === 1 ? '' : 's'} between two bounds</summary><ul>${lines}</ul></details>`;
}

function names(metrics: readonly string[], what: string): Html {
  if (metrics.length === 0) return html`<div>none ${what}</div>`;
  return html`<details><summary>${metrics.length} ${what}</summary><ul>${metrics.map((name) => html`<li>${name}</li>`)}</ul></details>`;
}
