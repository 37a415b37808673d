import type { StagePlaceView, StagesView, StageView } from '../../model/history-views.ts';
import { STAGES, type StageFidelity } from '../../model/stages.ts';
import { chartFigure, figuresTable, type Line, plainTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { durationWords, figureWords, percentWords, timeWords } from '../phrases.ts';
import { FIDELITY_WORDS, STAGE_LOOKS, STAGE_WORDS } from '../stage-words.ts';

export const STAGE_RANGES = ['15m', '1h', '3h', '1d', '7d'] as const;
export type StageRange = (typeof STAGE_RANGES)[number];
/** Where the time of requests goes: five stages over time, and what is not told said as loud as what is. */
export function stagesPage(view: StagesView | null, range: StageRange): Html {
  if (view === null) return html`<p>No balancer has pushed yet.</p>`;
  if (view.from >= view.to) return html`${scopeForm(view, range)}${notYet(view)}`;
  const missing = view.stages.filter(({ fidelity }) => fidelity === 'absent');
  return html`${scopeForm(view, range)}
<p>${time(view.from)} to ${time(view.to)}. ${requestsWords(view)}</p>
${missing.length === 0 ? '' : html`<p class="state no_data">Not reported here by any balancer: ${missing.map(({ stage }) => STAGE_WORDS[stage]).join(', ')}. That is no zero.</p>`}
<section aria-labelledby="stages"><h2 id="stages">Five stages</h2>${stageTable(view)}</section>
<section aria-labelledby="over-time"><h2 id="over-time">99th percentile over time</h2>${overTime(view)}</section>
<section aria-labelledby="places"><h2 id="places">By zone and balancer</h2>${places(view)}</section>`;
}

/** In the first minute there is nothing to see, and it must not look like nothing. */
const notYet = ({ from, balancers }: StagesView): Html =>
  html`<p class="state no_traffic">Not yet: ${balancers.length} balancer${balancers.length === 1 ? ' has' : 's have'} been heard since ${time(from)}, and stages are told by whole minutes. Look again in a minute or two.</p>`;

function scopeForm({ cluster, zone, balancer, clusters, zones, balancers }: StagesView, range: StageRange): Html {
  const choice = (name: string, label: string, values: readonly string[], chosen: string | null): Html =>
    html`<label>${label} <select name="${name}"><option value="">all</option>${values.map((one) => html`<option value="${one}"${one === chosen ? html` selected` : ''}>${one}</option>`)}</select></label>`;
  return html`<form method="get" action="/stages" class="actions">
${choice('cluster', 'Cluster', clusters, cluster)}${choice('zone', 'Zone of balancers', zones, zone)}${choice('balancer', 'Balancer', balancers, balancer)}
<label>Back <select name="range">${STAGE_RANGES.map((one) => html`<option${one === range ? html` selected` : ''}>${one}</option>`)}</select></label>
<div class="buttons"><button type="submit">Show</button></div></form>`;
}

function requestsWords({ requests, zone, balancer }: StagesView): string {
  if (zone !== null || balancer !== null)
    return 'Stages of one zone or balancer are kept for 3 h, and whole requests not by balancer.';
  if (requests.count === 0) return 'No balancer tells how long whole requests take here, so no tail is shared out.';
  return `${figureWords(requests.count)} requests: half within ${timeWords(requests.p50)}, 99 % within ${timeWords(requests.p99)}.`;
}

function stageTable({ stages }: StagesView): Html {
  const rows = stages.map((one) => [
    STAGE_WORDS[one.stage],
    one.fidelity === 'absent' ? html`<span class="state no_data">not reported</span>` : faithWords(one),
    figureWords(one.count),
    timeWords(one.p50),
    timeWords(one.p95),
    timeWords(one.p99),
    one.tailShare === null ? '–' : percentWords(Number(one.tailShare.toFixed(3))),
  ]);
  return html`${plainTable(['Stage', 'How faithfully', 'Count', 'p50', 'p95', 'p99', 'Share of the tail'], rows, 'Five stages')}
<p class="quiet">Share of the tail: of the slowest hundredth of requests, how many this stage is long enough to explain. Stages can overlap.</p>`;
}

/** The best, and how many balancers tell it how. */
function faithWords({ fidelity, balancers }: StageView): string {
  const all = Object.entries(balancers) as [StageFidelity, number][];
  if (all.length === 1) return FIDELITY_WORDS[fidelity];
  return all.map(([one, count]) => `${count}: ${FIDELITY_WORDS[one]}`).join('; ');
}

function overTime({ stages, from, to, stepSeconds }: StagesView): Html {
  const told = stages.filter(({ points }) => points.length > 0);
  if (told.length === 0) return html`<p class="state no_data">No stage is told as a distribution here.</p>`;
  const charts = told.map(({ stage, points }) => {
    const line: Line = {
      label: STAGE_WORDS[stage],
      look: STAGE_LOOKS[stage],
      points: points.map(({ at, p99 }) => [Date.parse(at), p99]),
    };
    const known = points.flatMap(({ p99 }) => p99 ?? []);
    const last = points.at(-1)?.p99 ?? null;
    const summary =
      known.length === 0
        ? 'nothing in this time'
        : `p99 between ${timeWords(Math.min(...known))} and ${timeWords(Math.max(...known))}, last ${timeWords(last)}`;
    return html`<h3>${STAGE_WORDS[stage]}</h3>${chartFigure({
      label: `${STAGE_WORDS[stage]}: ${summary}`,
      from: Date.parse(from),
      to: Date.parse(to),
      lines: [line],
      shows: [0],
      words: timeWords,
      start: time(from),
      end: time(to),
    })}<p>${summary}.</p>
${figuresTable(
  `Figures of ${STAGE_WORDS[stage]}, every ${durationWords(stepSeconds)}`,
  ['Until', 'Count', 'p50', 'p95', 'p99'],
  [...points]
    .reverse()
    .map((point) => [
      time(point.at),
      figureWords(point.count),
      timeWords(point.p50),
      timeWords(point.p95),
      timeWords(point.p99),
    ]),
)}`;
  });
  return html`${charts}`;
}

function places({ places: found }: StagesView): Html {
  if (found.length === 0) return html`<p class="quiet">No balancer is in this scope.</p>`;
  const rows = found.map(({ kind, name, stages }) => [
    html`${kind} <a href="/stages?${kind}=${encodeURIComponent(name)}">${name}</a>`,
    ...STAGES.map((stage) => placeCell(stages.find((one) => one.stage === stage))),
  ]);
  return html`<p class="quiet">99th percentile, at most of the last 3 h.</p>${plainTable(['Where', ...STAGES.map((stage) => STAGE_WORDS[stage])], rows, 'Stages by place')}`;
}

function placeCell(one: StagePlaceView['stages'][number] | undefined): string {
  if (one === undefined || one.fidelity === 'absent') return 'not reported';
  if (one.count === 0) return `nothing (${FIDELITY_WORDS[one.fidelity]})`;
  return timeWords(one.p99);
}
