import { groupKey, type SloHistoryView, type SpentView } from '../../model/history-views.ts';
import type { GroupViewOut, SloView } from '../../model/views.ts';
import { type Area, chartFigure, figuresTable, type Line, plainTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { severityBadge, time } from '../layout.ts';
import {
  burnWords,
  durationWords,
  exhaustionWords,
  figureWords,
  labelWords,
  percentWords,
  stateWords,
} from '../phrases.ts';

export const RANGES = ['6h', '1d', '7d'] as const;
const GROUPS_MAX = 200;

/** One budget: what is left, how fast it goes by each tier's measure, how it came to this, and where it went. */
export function sloPage(
  slo: SloView,
  history: SloHistoryView | null,
  { range, now }: { readonly range: string | null; readonly now: string },
): Html {
  const group = slo.groups.find(({ labels }) => history !== null && groupKey(labels) === groupKey(history.labels));
  const intro = html`<p class="quiet">${slo.id}: ${percentWords(Number(slo.objective))} of ${slo.window}, service ${slo.service}. <a href="/slos">All SLOs</a></p>`;
  if (history === null || group === undefined) {
    return html`${intro}<p class="state no_data">No data: no balancer has pushed what this SLO counts.</p>${groupLinks(slo, null)}`;
  }
  const label = labelWords(group.labels);
  return html`${intro}
${label === '' ? '' : html`<p class="lede"><strong>${label}</strong></p>`}
${groupLinks(slo, group)}
<dl class="facts">
<div><dt>State</dt><dd class="state ${group.state}">${stateWords(group)}</dd></div>
<div><dt>Budget</dt><dd><strong>${group.state === 'measured' ? exhaustionWords(group.exhaustion) : 'not known'}</strong></dd></div>
<div><dt>Budget left</dt><dd>${group.budgetRemaining === null ? '–' : percentWords(group.budgetRemaining)}</dd></div>
<div><dt>Good</dt><dd>${group.sli === null ? '–' : percentWords(group.sli)}</dd></div>
<div><dt>Counted</dt><dd>${figureWords(group.bad)} bad of ${figureWords(group.total)}</dd></div>
<div><dt>Alert</dt><dd>${group.severity === null ? 'none' : html`${severityBadge(group.severity)} ${group.tiersHolding.join(', ')}`}</dd></div>
</dl>
<section aria-labelledby="burn"><h2 id="burn">What would page, and what burns</h2>${tiersTable(history)}${burnTable(group)}</section>
<section aria-labelledby="history"><h2 id="history">The budget over time</h2>
<p>${rangeLinks(slo, group, range)}</p>
${budgetChart(history, group, now)}</section>
${spentSection(history)}`;
}

const linkTo = (slo: SloView, labels: GroupViewOut['labels'], range: string | null = null): string => {
  const query = new URLSearchParams();
  if (Object.keys(labels).length > 0) query.set('group', groupKey(labels));
  if (range !== null) query.set('range', range);
  return `/slos/${encodeURIComponent(slo.id)}${query.size === 0 ? '' : `?${query}`}`;
};

function groupLinks(slo: SloView, shown: GroupViewOut | null): Html | '' {
  const others = slo.groups.filter((group) => group !== shown);
  if (others.length === 0) return '';
  const lines = others
    .slice(0, GROUPS_MAX)
    .map(
      (group) =>
        html`<li><a href="${linkTo(slo, group.labels)}">${labelWords(group.labels) || 'all'}</a>: ${group.budgetRemaining === null ? stateWords(group) : html`${percentWords(group.budgetRemaining)} left`}</li>`,
    );
  const more =
    others.length > GROUPS_MAX
      ? html`<li><a href="/slos?slo=${encodeURIComponent(slo.id)}">all ${slo.groups.length}</a></li>`
      : '';
  return html`<details><summary>${others.length} other group${others.length === 1 ? '' : 's'}</summary><ul>${lines}${more}</ul></details>`;
}

function rangeLinks(slo: SloView, { labels }: GroupViewOut, range: string | null): Html {
  const link = (value: string | null, text: string): Html =>
    value === range
      ? html`<strong>${text}</strong>`
      : html`<a href="${linkTo(slo, labels, value)}#history">${text}</a>`;
  return html`Shown: ${link(null, `the whole ${slo.window}`)}${RANGES.map((one) => html` · ${link(one, one)}`)}`;
}

function tiersTable({ tiers }: SloHistoryView): Html {
  const rows = tiers.map((tier) => [
    html`${tier.name}`,
    severityBadge(tier.severity),
    `${burnWords(tier.minBurn)}`,
    html`${burnWords(tier.longBurn)} over ${tier.long}`,
    html`${burnWords(tier.shortBurn)} over ${tier.short}`,
    tier.holds ? html`<strong>▲ holds</strong>` : 'does not hold',
  ]);
  return plainTable(['Gone within', 'Severity', 'Needs', 'Long window', 'Short window', 'Now'], rows, 'Burn by tier');
}

function burnTable({ burn, state }: GroupViewOut): Html {
  const windows = Object.entries(burn);
  if (state !== 'measured') return html`<p class="state no_data">Nothing is measured now: no burn is known.</p>`;
  return plainTable(
    ['Window', ...windows.map(([name]) => name)],
    [['Burn', ...windows.map(([, value]) => burnWords(value))]],
    'Burn by window',
  );
}

/** What was left at each step's end, a budget that is spent evenly, and when it is gone on this course. */
function budgetChart(history: SloHistoryView, group: GroupViewOut, now: string): Html {
  const { points } = history;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return html`<p class="quiet">Nothing was counted in this time.</p>`;
  const at = (text: string): number => Date.parse(text);
  const [from, end] = [at(history.from), at(history.to)];
  const course = projection(group, end, last.left, end - from);
  const lines: Line[] = [
    { label: 'left', look: 'a', points: points.map((point) => [at(point.at), point.left]) },
    ...(course === null ? [] : [course.line]),
  ];
  const areas: readonly Area[] = course?.area === null || course === null ? [] : [course.area];
  const lefts = points.flatMap(({ left }) => left ?? []);
  const bad = points.reduce((sum, point) => sum + point.bad, 0);
  const summary = `Budget left from ${words(first.left)} to ${words(last.left)}; lowest ${words(Math.min(...lefts))}; ${figureWords(bad)} bad in this time, ${figureWords(history.budget)} is the whole budget.`;
  const to = course?.to ?? end;
  return html`${chartFigure({
    label: summary,
    from,
    to,
    lines,
    areas,
    shows: [0],
    words: percentWords1,
    start: time(history.from),
    end: course === null ? time(history.to) : html`${time(new Date(to).toISOString())}, on this course`,
  })}
<p>${summary} ${group.state === 'measured' ? `On this course: ${exhaustionWords(group.exhaustion)}.` : ''}</p>
<p class="quiet">Counted until ${time(history.to)}; it is ${time(now)} now. Each point is what was left of the present window's budget.</p>
${figuresTable(
  `Figures, every ${durationWords(history.stepSeconds)}`,
  ['Until', 'Bad', 'Of', 'Budget left'],
  [...points]
    .reverse()
    .map((point) => [time(point.at), figureWords(point.bad), figureWords(point.total), words(point.left)]),
)}`;
}

const words = (left: number | null): string => (left === null || !Number.isFinite(left) ? '–' : percentWords1(left));
const percentWords1 = (share: number): string => `${Number((share * 100).toFixed(2))} %`;

/** From what is left now to nothing, between the ends of the band; cut where it would squeeze the history. */
function projection(
  { exhaustion, state }: GroupViewOut,
  end: number,
  left: number | null,
  lengthMs: number,
): { readonly line: Line; readonly area: Area | null; readonly to: number } | null {
  const { seconds, low, high } = exhaustion;
  if (state !== 'measured' || exhaustion.exhausted || seconds === null || left === null || left <= 0) return null;
  const furthest = Math.min(lengthMs, (high ?? seconds) * 1000);
  const to = end + Math.max(furthest, lengthMs / 50);
  const leftAfter = (goneAfter: number): number => left * Math.max(0, 1 - (to - end) / (goneAfter * 1000));
  const course = (goneAfter: number): readonly (readonly [number, number])[] => {
    const gone = end + goneAfter * 1000;
    return gone < to
      ? [
          [end, left],
          [gone, 0],
          [to, 0],
        ]
      : [
          [end, left],
          [to, leftAfter(goneAfter)],
        ];
  };
  const line: Line = { label: 'on this course', look: 'even', points: course(seconds) };
  if (low === null || high === null) return { line, area: null, to };
  const valueAt = (goneAfter: number, at: number): number =>
    left * Math.max(0, 1 - (at - end) / Math.max(1, goneAfter * 1000));
  const ats = [end, ...[low, high].map((after) => end + after * 1000).filter((at) => at < to), to];
  const points = ats.map((at) => [at, valueAt(low, at), valueAt(high, at)] as const);
  return { line, area: { label: 'band of it', look: 'band', points }, to };
}

const KINDS: Readonly<Record<SpentView['by'], { readonly title: string; readonly note: string }>> = {
  incident: { title: 'By incident', note: 'From where each burn set in until it was over.' },
  zone: { title: 'By zone', note: 'Failed requests to hosts, at most the last 8 days.' },
  host: { title: 'By host', note: 'Failed requests to hosts, at most the last 8 days.' },
  config_version: { title: 'By config version', note: 'While it was rolled out, and for a while after.' },
};

function spentSection({ spent }: SloHistoryView): Html {
  const sections = Object.entries(KINDS).map(([kind, { title, note }]) => {
    const found = spent.filter(({ by }) => by === kind);
    if (found.length === 0) return html`<h3>${title}</h3><p class="quiet">Nothing is known.</p>`;
    const all = found.reduce((sum, { bad }) => sum + bad, 0);
    const rows = found.map((one) => [
      one.incident === null ? one.name : html`<a href="/incidents/${one.incident}">${one.incident} ${one.name}</a>`,
      figureWords(one.bad),
      one.share === null ? `${percentWords1(one.bad / all)} of these` : `${percentWords1(one.share)} of the budget`,
      html`${time(one.from)} to ${time(one.to)}`,
    ]);
    return html`<h3>${title}</h3><p class="quiet">${note}</p>${plainTable(['What', 'Bad', 'Share', 'When'], rows, title)}`;
  });
  return html`<section aria-labelledby="spent"><h2 id="spent">Where it went</h2>${sections}</section>`;
}
