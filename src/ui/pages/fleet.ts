import type { BalancerView } from '../../model/views.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { agoWords, durationWords } from '../phrases.ts';

/** Who reports, how often, and what of it was understood. */
export function fleetPage(balancers: readonly BalancerView[], now: string): Html {
  if (balancers.length === 0) {
    return html`<p>No balancer has pushed yet. Point an OTLP exporter at port 4318 (HTTP) or 4317 (gRPC) of this machine.</p>`;
  }
  return html`<div class="scroll"><table><thead><tr><th scope="col">Balancer</th><th scope="col">Kind</th><th scope="col">Zone</th><th scope="col">Last heard</th><th scope="col">Pushes every</th><th scope="col">State</th><th scope="col">Clusters</th><th scope="col" class="number">Series</th><th scope="col">Ignored metrics</th></tr></thead>
<tbody>${balancers.map(
    (
      balancer,
    ) => html`<tr><th scope="row">${balancer.id}</th><td>${balancer.flavor}${balancer.version === null ? '' : ` ${balancer.version}`}</td><td>${balancer.zone ?? '–'}</td>
<td>${time(balancer.lastSeen)} (${agoWords(balancer.lastSeen, now)})</td><td>${durationWords(balancer.intervalSeconds)}</td>
<td class="state ${balancer.stale ? 'no_data' : 'measured'}">${balancer.stale ? 'stale: it has stopped reporting' : 'reporting'}</td>
<td>${balancer.clusters.join(', ') || '–'}</td><td class="number">${balancer.seriesCount}</td>
<td>${ignored(balancer)}</td></tr>`,
  )}</tbody></table></div>`;
}

function ignored({ metricsIgnored }: BalancerView): Html | string {
  if (metricsIgnored.length === 0) return 'none';
  return html`<details><summary>${metricsIgnored.length}</summary><ul>${metricsIgnored.map((name) => html`<li>${name}</li>`)}</ul></details>`;
}
