import { type Html, html } from './html.ts';

/**
 * Charts as SVG that the server draws. They carry no text: the figures stand beside them in HTML, so that they are
 * readable at any width, and in a table below.
 */
export interface Line {
  readonly label: string;
  /** Name of its colour and dash in the style sheet: `a` to `e`, `even`, `limit`. */
  readonly look: string;
  /** Position and value; null breaks the line. */
  readonly points: readonly (readonly [number, number | null])[];
}

/** What lies between two lines: position, low, high. */
export interface Area {
  readonly label: string;
  readonly look: string;
  readonly points: readonly (readonly [number, number, number])[];
}

export interface Chart {
  /** What it shows, in one sentence: the text that stands for the picture. */
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly lines: readonly Line[];
  readonly areas?: readonly Area[];
  /** Values that must be in sight. */
  readonly shows?: readonly number[];
  readonly words: (value: number) => string;
  readonly start: Html | string;
  readonly end: Html | string;
}

const WIDTH = 600;
const HEIGHT = 160;

/** From the least to the largest value, with a little room; never without height. */
export function extentOf({ lines, areas = [], shows = [] }: Pick<Chart, 'lines' | 'areas' | 'shows'>): {
  readonly low: number;
  readonly high: number;
} {
  const values = [
    ...shows,
    ...lines.flatMap(({ points }) => points.flatMap(([, value]) => value ?? [])),
    ...areas.flatMap(({ points }) => points.flatMap(([, low, high]) => [low, high])),
  ];
  if (values.length === 0) return { low: 0, high: 1 };
  let [low, high] = [values[0] as number, values[0] as number];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low === high ? { low: Math.min(0, low), high: high === 0 ? 1 : Math.max(0, high) } : { low, high };
}

/** The chart with its scale and what its lines are. Nothing in it is told by colour alone. */
export function chartFigure(chart: Chart): Html {
  const { low, high } = extentOf(chart);
  const x = (at: number): string => round(((at - chart.from) / Math.max(1, chart.to - chart.from)) * WIDTH);
  const y = (value: number): string => round(HEIGHT - ((value - low) / (high - low)) * HEIGHT);
  const zero = low < 0 && high > 0 ? html`<path class="zero" d="M0 ${y(0)}H${WIDTH}"/>` : '';
  const areas = (chart.areas ?? []).map(
    ({ look, points }) => html`<path class="area ${look}" d="${areaPath(points, x, y)}"/>`,
  );
  const lines = chart.lines.map(({ look, points }) => html`<path class="line ${look}" d="${linePath(points, x, y)}"/>`);
  return html`<figure class="chart"><div class="scale"><span>${chart.words(high)}</span><span>${chart.words(low)}</span></div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${chart.label}">${zero}${areas}${lines}</svg>
<div class="ends"><span>${chart.start}</span><span>${chart.end}</span></div>
<figcaption>${[...chart.lines, ...(chart.areas ?? [])].map(({ label, look }) => html`<span class="key ${look}">${label}</span> `)}</figcaption></figure>`;
}

const round = (value: number): string => String(Number(value.toFixed(1)));

/** `M0 10L5 8M9 2L12 3`: a new stretch after each gap. A point alone is a short dash. */
export function linePath(points: Line['points'], x: (at: number) => string, y: (value: number) => string): string {
  let path = '';
  let isDown = false;
  points.forEach(([at, value], index) => {
    if (value === null) {
      isDown = false;
      return;
    }
    path += `${isDown ? 'L' : 'M'}${x(at)} ${y(value)}`;
    const next = points[index + 1];
    if (!isDown && (next === undefined || next[1] === null)) path += 'h1';
    isDown = true;
  });
  return path;
}

function areaPath(points: Area['points'], x: (at: number) => string, y: (value: number) => string): string {
  if (points.length === 0) return '';
  const upper = points.map(([at, , high]) => `${x(at)} ${y(high)}`);
  const lower = [...points].reverse().map(([at, low]) => `${x(at)} ${y(low)}`);
  return `M${[...upper, ...lower].join('L')}Z`;
}

/** A table of a chart's figures, folded away. The first column heads its row. */
export function figuresTable(
  summary: string,
  columns: readonly string[],
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  return html`<details class="figures"><summary>${summary}</summary>${plainTable(columns, rows)}</details>`;
}

/** A table whose first column heads its row; it scrolls by itself, by keyboard too. */
export function plainTable(
  columns: readonly (Html | string)[],
  rows: readonly (readonly (Html | string | number)[])[],
  label = 'Table',
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first ?? ''}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}
