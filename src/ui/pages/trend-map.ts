import type { SkewBy } from '../../model/history-views.ts';
import type { MeasureName } from '../../model/measure.ts';
import type { TrendRowView, TrendSeriesView } from '../../model/views.ts';
import { figuresTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { labelWords } from '../phrases.ts';

export const TREND_WEEKS = [5, 13, 26, 52] as const;

/** What of the stored hours tells of each kind of skew. */
export const MEASURE_OF: Readonly<Record<SkewBy, MeasureName>> = {
  host: 'host_skew',
  zone: 'zone_skew',
  balancer: 'connection_skew',
};

const WORDS: Readonly<Record<SkewBy, string>> = {
  host: 'The busiest host of each cluster, times the mean',
  zone: 'Load per capacity of each zone, times that of its cluster',
  balancer: 'New connections of each balancer, times the mean',
};

const ROWS_MAX = 40;
const HEIGHT = 16;
/** Of one day in the drawing; it stretches to the room there is. */
const WIDTH = 4;

interface Asked {
  readonly by: string;
  readonly skewBy: SkewBy;
  readonly range: string;
}

/** Skew by day over weeks: a strip per subject, and all figures in a table. Shown when it is asked for. */
export function trendSection(series: TrendSeriesView | null, asked: Asked, cluster: string | null): Html {
  const links = html`<p>Weeks back: ${TREND_WEEKS.map((weeks) => html`${series?.weeks === weeks ? html`<strong>${weeks}</strong>` : html`<a href="${linkTo(asked, cluster, weeks)}">${weeks}</a>`} `)}</p>`;
  if (series === null) return links;
  const isOf = ({ subject }: TrendRowView): boolean =>
    asked.skewBy !== 'zone' || cluster === null || subject['cluster'] === cluster;
  const found = series.rows.filter(isOf);
  if (found.length === 0)
    return html`${links}<p class="state no_traffic">No hour of that time is stored: each is when it has passed, if it holds enough requests.</p>`;
  const rows = found.slice(0, ROWS_MAX);
  const more = found.length > rows.length ? ` The ${rows.length} worst of ${found.length}.` : '';
  return html`${links}
<p class="quiet">${WORDS[asked.skewBy]}; the middle hour of each day (UTC), ${time(series.from)} to ${time(series.until)}. Shades: below 0.9, to 1.05, to 1.15, to 1.3, above; blank where nothing is known.${more}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Skew over weeks"><table class="strips"><thead><tr><th scope="col">What</th><th scope="col">By day</th><th scope="col">First</th><th scope="col">Last</th><th scope="col">Highest</th></tr></thead>
<tbody>${rows.map((row) => strip(row, series.days))}</tbody></table></div>
${figuresTable(
  'Figures by day',
  ['What', ...series.days.map((day) => day.slice(5, 10))],
  rows.map((row) => [nameOf(row), ...row.values.map((value, index) => cellWords(value, row.top[index] ?? null))]),
)}`;
}

const linkTo = ({ by, skewBy, range }: Asked, cluster: string | null, weeks: number): string => {
  const query = new URLSearchParams({ by, skew: skewBy, range, weeks: String(weeks) });
  if (cluster !== null) query.set('cluster', cluster);
  return `/traffic?${query.toString()}#weeks`;
};

const nameOf = ({ subject }: TrendRowView): string => labelWords(subject) || 'the fleet';

const words = (value: number): string => value.toFixed(2);

const cellWords = (value: number | null, top: string | null): string =>
  value === null ? '–' : `${words(value)}${top === null ? '' : ` (${top})`}`;

function strip(row: TrendRowView, days: readonly string[]): Html {
  const known = row.values.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return html``;
  const highest = known.reduce((most, one) => (one.value > most.value ? one : most));
  const said = `${nameOf(row)}: ${words(first.value)} at first, ${words(last.value)} at last, ${words(highest.value)} at most`;
  const cells = known.map(
    ({ value, index }) =>
      html`<rect class="${heatOf(value)}" x="${index * WIDTH}" y="0" width="${WIDTH}" height="${HEIGHT}"><title>${days[index]?.slice(0, 10) ?? ''}: ${cellWords(value, row.top[index] ?? null)}</title></rect>`,
  );
  const top = row.top[last.index] ?? null;
  const on = (index: number): string => (days[index] ?? '').slice(5, 10);
  return html`<tr><th scope="row">${nameOf(row)}</th><td class="strip"><svg viewBox="0 0 ${days.length * WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">${cells}</svg></td>
<td class="number">${words(first.value)}</td><td class="number">${words(last.value)}${top === null ? '' : html` (${top})`}</td><td class="number">${words(highest.value)} on ${on(highest.index)}</td></tr>`;
}

/** Drifts are small: an hour's bounds would show none. */
function heatOf(value: number): string {
  if (value < 0.9) return 'h1';
  if (value < 1.05) return 'h2';
  if (value < 1.15) return 'h3';
  return value < 1.3 ? 'h4' : 'h5';
}
