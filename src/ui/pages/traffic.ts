import {
  RED_BY,
  type RedBy,
  type RedView,
  SKEW_BY,
  type SkewBy,
  type SkewRowView,
  type SkewView,
  type TlsRowView,
  type TlsView,
} from '../../model/history-views.ts';
import type { TrendSeriesView } from '../../model/views.ts';
import { chartFigure, figuresTable, plainTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { durationWords, figureWords, percentWords, timeWords } from '../phrases.ts';
import { trendSection } from './trend-map.ts';

export const TRAFFIC_RANGES = ['5m', '1h', '6h', '1d', '7d'] as const;

/** What the page is about, as the address says. */
export interface TrafficAsked {
  readonly by: RedBy;
  readonly skewBy: SkewBy;
  readonly cluster: string | null;
  readonly range: (typeof TRAFFIC_RANGES)[number];
}

export interface TrafficShown {
  readonly red: RedView | null;
  readonly tls: TlsView | null;
  readonly skew: SkewView | null;
  /** Null where nobody asked for weeks: they are many to read. */
  readonly trend: TrendSeriesView | null;
}

const NAMES: Readonly<Record<RedBy, string>> = {
  cluster: 'cluster',
  zone: 'zone of hosts',
  host: 'host',
  balancer: 'balancer',
  configVersion: 'config version',
};

/** Requests, errors and durations; handshakes and their resumption; who carries more than its share. */
export function trafficPage({ red, tls, skew, trend }: TrafficShown, asked: TrafficAsked): Html {
  if (red === null || tls === null || skew === null) return html`<p>No balancer has pushed yet.</p>`;
  return html`${form(asked, skew)}
<p>${time(red.from)} to ${time(red.to)}.</p>
<section aria-labelledby="red"><h2 id="red">Requests by ${NAMES[red.by]}</h2>${redSection(red)}</section>
<section aria-labelledby="tls"><h2 id="tls">TLS</h2>${tlsSection(tls)}</section>
<section aria-labelledby="skew"><h2 id="skew">Skew by ${skew.by}${skew.cluster === null ? '' : html` of ${skew.cluster}`}</h2>${skewSection(skew)}</section>
<section aria-labelledby="weeks"><h2 id="weeks">Skew over weeks</h2>${trendSection(trend, asked, skew.cluster)}</section>`;
}

function form({ by, skewBy, range }: TrafficAsked, { clusters, cluster }: SkewView): Html {
  const choice = (name: string, label: string, values: readonly string[], chosen: string | null): Html =>
    html`<label>${label} <select name="${name}">${values.map((one) => html`<option value="${one}"${one === chosen ? html` selected` : ''}>${NAMES[one as RedBy] ?? one}</option>`)}</select></label>`;
  return html`<form method="get" action="/traffic" class="actions">
${choice('by', 'Requests by', RED_BY, by)}${choice('skew', 'Skew by', SKEW_BY, skewBy)}${clusters.length === 0 ? '' : choice('cluster', 'Skew within', clusters, cluster)}${choice('range', 'Back', TRAFFIC_RANGES, range)}
<div class="buttons"><button type="submit">Show</button></div></form>`;
}

const perSecond = (rate: number): string => `${Number(rate.toPrecision(3))}/s`;
const shareWords = (share: number | null): string =>
  share === null ? '–' : percentWords(Number(share.toPrecision(3)));

function redSection({ rows, points, from, to, stepSeconds, by }: RedView): Html {
  if (rows.length === 0)
    return html`<p class="state no_traffic">Nothing was asked in this time, or nobody tells it by ${NAMES[by]}.</p>`;
  const frame = { from: Date.parse(from), to: Date.parse(to), start: time(from), end: time(to), shows: [0] };
  const ratios = points.flatMap(({ errorRatio }) => errorRatio ?? []);
  const rates = points.map((point) => point.perSecond);
  const said = `${perSecond(Math.min(...rates))} to ${perSecond(Math.max(...rates))}; errors ${ratios.length === 0 ? 'not known' : `${shareWords(Math.min(...ratios))} to ${shareWords(Math.max(...ratios))}`}`;
  const table = rows.map((row) => [
    row.name,
    ...(by === 'host' ? [row.cluster ?? '–', row.zone ?? '–'] : []),
    perSecond(row.perSecond),
    `${figureWords(row.errors)} of ${figureWords(row.requests)}`,
    shareWords(row.errorRatio),
    ...(by === 'host' ? [timeWords(row.meanSeconds)] : []),
  ]);
  const place = by === 'host' ? ['Cluster', 'Zone'] : [];
  return html`${chartFigure({
    ...frame,
    label: `Requests: ${said}`,
    lines: [
      {
        label: 'requests per second',
        look: 'a',
        points: points.map((point) => [Date.parse(point.at), point.perSecond]),
      },
    ],
    words: perSecond,
  })}
${chartFigure({
  ...frame,
  label: `Errors: ${said}`,
  lines: [
    { label: 'share answered 5xx', look: 'b', points: points.map((point) => [Date.parse(point.at), point.errorRatio]) },
  ],
  words: (value) => shareWords(value),
})}
<p>${said}. ${by === 'host' ? 'Times are means of what hosts take.' : html`<a href="/stages">Durations by stage</a>`}</p>
${figuresTable(
  `Figures, every ${durationWords(stepSeconds)}`,
  ['Until', 'Requests', 'Errors'],
  [...points].reverse().map((point) => [time(point.at), perSecond(point.perSecond), shareWords(point.errorRatio)]),
)}
${plainTable([NAMES[by], ...place, 'Rate', 'Failed', 'Share', ...(by === 'host' ? ['Mean time'] : [])], table, 'Requests')}`;
}

function tlsSection({ points, from, to, stepSeconds, zones, balancers, certificates }: TlsView): Html {
  const known = points.flatMap(({ resumption }) => resumption ?? []);
  const said =
    known.length === 0
      ? 'No balancer tells which handshakes were resumed.'
      : `Resumed: ${shareWords(Math.min(...known))} to ${shareWords(Math.max(...known))}, last ${shareWords(known.at(-1) ?? null)}.`;
  const frame = { from: Date.parse(from), to: Date.parse(to), start: time(from), end: time(to), shows: [0] };
  const chart = points.every(({ perSecond: rate }) => rate === 0)
    ? html`<p class="state no_traffic">No handshake was counted in this time, or no balancer tells them.</p>`
    : html`${chartFigure({
        ...frame,
        label: said,
        lines: [
          {
            label: 'share of handshakes resumed',
            look: 'c',
            points: points.map((point) => [Date.parse(point.at), point.resumption]),
          },
        ],
        words: (value) => shareWords(value),
      })}<p>${said}</p>
${figuresTable(
  `Figures, every ${durationWords(stepSeconds)}`,
  ['Until', 'Handshakes', 'Resumed'],
  [...points].reverse().map((point) => [time(point.at), perSecond(point.perSecond), shareWords(point.resumption)]),
)}`;
  const rows = (found: readonly TlsRowView[]) =>
    found.map((row) => [
      row.name,
      figureWords(row.full),
      figureWords(row.resumed),
      shareWords(row.resumption),
      figureWords(row.failed),
    ]);
  const columns = ['Full', 'Resumed', 'Share', 'Failed'];
  return html`${chart}
${zones.length === 0 ? '' : html`<h3>By zone</h3>${plainTable(['Zone', ...columns], rows(zones), 'Handshakes by zone')}`}
${balancers.length === 0 ? '' : html`<h3>By balancer</h3>${plainTable(['Balancer', ...columns], rows(balancers), 'Handshakes by balancer')}`}
${
  certificates.length === 0
    ? ''
    : html`<h3>Certificates</h3>${plainTable(
        ['Certificate', 'Ends', 'Renewed', 'Balancers'],
        certificates.map((one) => [
          one.name,
          time(one.notAfter),
          one.renewedAt === null ? 'not seen' : time(one.renewedAt),
          String(one.balancers.length),
        ]),
        'Certificates',
      )}`
}`;
}

function skewSection(view: SkewView): Html {
  const { rows, days, maxOverMean, by } = view;
  if (rows.length === 0)
    return html`<p class="state no_traffic">Nobody tells requests by ${by} here, or there were none.</p>`;
  const lede =
    maxOverMean === null
      ? 'Too few requests, or only one to compare, to say who carries more than its share.'
      : `${rows[0]?.name} carries ${factorWords(maxOverMean)} the mean, by requests per capacity.`;
  const table = rows.map((row) => [
    row.name,
    row.zone ?? '–',
    figureWords(row.requests),
    row.capacity === 0 ? 'not known' : figureWords(row.capacity),
    factorWords(row.factor),
  ]);
  return html`<p class="lede">${lede}</p>
${plainTable([by, 'Zone', 'Requests', 'Capacity', 'Times the mean'], table, 'Skew now')}
<h3>Heat map</h3><p class="quiet">Times the mean, every ${durationWords(view.stepSeconds)}; a dash where too little was asked.</p>${heatMap(view)}
<h3>By day</h3>${plainTable(
    ['Day (UTC)', 'Hottest', 'Times the mean'],
    [...days].reverse().map((day) => [time(day.from), day.hottest ?? '–', factorWords(day.maxOverMean)]),
    'Skew by day',
  )}<p class="quiet">Days are kept for 8 d.</p>`;
}

const factorWords = (factor: number | null): string => (factor === null ? '–' : `${factor.toFixed(2)}x`);

/** Each cell has its figure: the colour only leads the eye. */
function heatMap({ rows, stepEnds }: SkewView): Html {
  const head = stepEnds.map(
    (end) => html`<th scope="col"><time datetime="${end}">${end.slice(5, 16).replace('T', ' ')}</time></th>`,
  );
  const line = (row: SkewRowView): Html =>
    html`<tr><th scope="row">${row.name}</th>${row.steps.map((factor) => html`<td class="cell ${heatOf(factor)}">${factor === null ? '–' : factor.toFixed(1)}</td>`)}</tr>`;
  return html`<div class="scroll heat" tabindex="0" role="region" aria-label="Heat map"><table><thead><tr><th scope="col">Until (UTC)</th>${head}</tr></thead><tbody>${rows.map(line)}</tbody></table></div>`;
}

function heatOf(factor: number | null): string {
  if (factor === null) return '';
  if (factor < 0.5) return 'h1';
  if (factor < 1.3) return 'h2';
  if (factor < 1.5) return 'h3';
  return factor < 2 ? 'h4' : 'h5';
}
