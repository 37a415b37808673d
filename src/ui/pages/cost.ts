import { COSTS, type Cost, type CostShareView, type CostView, type ServiceCostView } from '../../model/scorecard.ts';
import { plainTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { figureWords, percentWords } from '../phrases.ts';

const SHOWN_MAX = 500;

const COLUMNS: Readonly<Record<Cost, string>> = {
  full_handshakes: 'Full handshakes',
  requests: 'Requests',
  bytes_out: 'Bytes out',
  connection_hours: 'Connection-hours',
};

/** What each service took of the balancers in a week. `neighbours`: the weeks before and after. */
export function costPage(view: CostView, neighbours: readonly [before: string, after: string]): Html {
  const [before, after] = neighbours;
  return html`<p>${time(view.from)} to ${time(view.to)}, ${view.hours} of its 168 hours known${view.complete ? '' : '; the week is not over'}.
<a href="/cost/${before}">${before}</a> · <a href="/cost/${after}">${after}</a></p>
<section aria-labelledby="services"><h2 id="services">Share of each service</h2>${services(view)}</section>
<section aria-labelledby="versions"><h2 id="versions">Requests by config version</h2>${versions(view)}</section>`;
}

function services({ services: all, totals }: CostView): Html {
  const notes = COSTS.map((cost) => html`<li>${COLUMNS[cost]}: ${totals[cost].detail}</li>`);
  if (all.length === 0)
    return html`<p class="state no_data">Of this week nothing is known.</p><ul class="plain">${notes}</ul>`;
  const shown = all.slice(0, SHOWN_MAX);
  const sum = ['All', ...COSTS.map((cost) => amountWords(cost, totals[cost].total))];
  const rows = [sum, ...shown.map((one) => [nameOf(one), ...COSTS.map((cost) => shareCell(cost, one.costs[cost]))])];
  const rest =
    all.length > shown.length
      ? html`<p>${all.length - shown.length} more have smaller shares; the API has them all.</p>`
      : '';
  return html`${plainTable(['Service', ...COSTS.map((cost) => COLUMNS[cost])], rows, 'Cost by service')}${rest}
<ul class="plain">${notes}</ul>`;
}

const nameOf = ({ service, kinds }: ServiceCostView): Html =>
  html`${service}${kinds.length === 1 ? html` <small>${kinds[0] ?? ''}</small>` : ''}`;

const shareCell = (cost: Cost, share: CostShareView | null): string =>
  share === null ? '–' : `${shareWords(share.share)} (${amountWords(cost, share.amount)})`;

const shareWords = (share: number): string => percentWords(Number(share.toPrecision(3)));

/** `1.5 GB`, `12,345`; a dash where it is not known. */
function amountWords(cost: Cost, amount: number | null): string {
  if (amount === null) return 'not known';
  if (cost !== 'bytes_out') return figureWords(Math.round(amount));
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length - 1, amount < 1000 ? 0 : Math.floor(Math.log10(amount) / 3));
  return `${Number((amount / 1000 ** power).toPrecision(3))} ${units[power] ?? ''}`;
}

function versions({ versions: all }: CostView): Html {
  if (all.length === 0) return html`<p class="state no_data">No balancer tells its config version.</p>`;
  const rows = all
    .slice(0, SHOWN_MAX)
    .map(({ version, kind, requests, errors, share }) => [
      version,
      kind === '' ? '–' : kind,
      figureWords(requests),
      shareWords(share),
      figureWords(errors),
    ]);
  return plainTable(['Version', 'Kind', 'Requests', 'Share', 'Answered 5xx'], rows, 'Requests by config version');
}
