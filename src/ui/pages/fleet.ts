import { STAGES, type StageFidelity, type StageName } from '../../model/stages.ts';
import type { BalancerView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { agoWords, durationWords } from '../phrases.ts';

/** Who reports, how often, and what of it was understood. */
export function fleetPage(balancers: readonly BalancerView[], now: string): Html {
  if (balancers.length === 0) {
    return html`<p>No balancer has pushed yet. Point an OTLP exporter at port 4318 (HTTP) or 4317 (gRPC) of this machine.</p>`;
  }
  return html`<div class="scroll"><table><thead><tr><th scope="col">Balancer</th><th scope="col">Kind</th><th scope="col">Zone</th><th scope="col">Last heard</th><th scope="col">Pushes every</th><th scope="col">State</th><th scope="col">Clusters</th><th scope="col">Stages</th><th scope="col" class="number">Series</th><th scope="col">Understood metrics</th><th scope="col">Ignored metrics</th></tr></thead>
<tbody>${balancers.map(
    (
      balancer,
    ) => html`<tr><th scope="row">${balancer.id}</th><td>${balancer.flavor}${balancer.version === null ? '' : ` ${balancer.version}`}</td><td>${balancer.zone ?? '–'}</td>
<td>${time(balancer.lastSeen)} (${agoWords(balancer.lastSeen, now)})</td><td>${durationWords(balancer.intervalSeconds)}</td>
<td class="state ${balancer.stale ? 'no_data' : 'measured'}">${balancer.stale ? 'stale: it has stopped reporting' : 'reporting'}</td>
<td>${balancer.clusters.join(', ') || '–'}</td><td>${stages(balancer)}</td><td class="number">${balancer.seriesCount}</td>
<td>${names(balancer.metricsUnderstood)}</td><td>${names(balancer.metricsIgnored)}</td></tr>`,
  )}</tbody></table></div>`;
}

const STAGE_WORDS: Readonly<Record<StageName, string>> = {
  accept_queue: 'accept queue',
  tls: 'TLS handshake',
  connect: 'connect',
  backend: 'backend',
  write: 'write',
};

const FIDELITY_WORDS: Readonly<Record<StageFidelity, string>> = {
  exact: 'exact',
  includes_tls: 'with the TLS handshake in it',
  whole_response: 'until the last byte, not the first',
  includes_queue_and_retries: 'with queueing and retries in it',
  average_only: 'averages only, no percentiles',
  proxy_signal: 'indirect signs only, no times',
  absent: 'not reported',
};

function stages({ stages: known }: BalancerView): Html {
  const lines = STAGES.map((stage) => html`<li>${STAGE_WORDS[stage]}: ${FIDELITY_WORDS[known[stage]]}</li>`);
  return html`<ul class="plain stages">${lines}</ul>`;
}

function names(metrics: readonly string[]): Html | string {
  if (metrics.length === 0) return 'none';
  return html`<details><summary>${metrics.length}</summary><ul>${metrics.map((name) => html`<li>${name}</li>`)}</ul></details>`;
}
