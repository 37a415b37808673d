import type { SkewView, StagesView, StageView } from '../../model/history-views.ts';
import { STAGES } from '../../model/stages.ts';
import type { ConfigVersionView, IncidentDetailView } from '../../model/views.ts';
import { chartFigure, figuresTable, plainTable } from '../chart.ts';
import { type Html, html } from '../html.ts';
import { time } from '../layout.ts';
import { durationWords, figureWords, percentWords, timeWords } from '../phrases.ts';
import { FIDELITY_WORDS, STAGE_LOOKS, STAGE_WORDS } from '../stage-words.ts';

/** Stages while the incident lasts, the hour before, and both in one chart. */
export interface StagesShown {
  readonly before: StagesView;
  readonly during: StagesView;
  readonly whole: StagesView;
}

/** Where the time went while it lasted, beside the hour before. */
export function stagesSection(shown: StagesShown | null): Html {
  if (shown === null)
    return html`<p class="state no_data">Stages of that time are not kept any more, or not told yet.</p>`;
  const { before, during, whole } = shown;
  const pairs = STAGES.flatMap((stage) => {
    const [now, then] = [during, before].map((view) => view.stages.find((one) => one.stage === stage));
    return now === undefined ? [] : [{ now, then }];
  });
  const isKnown = before.from < before.to;
  const rows = pairs.map(({ now, then }) => [
    STAGE_WORDS[now.stage],
    now.fidelity === 'absent' ? html`<span class="state no_data">not reported</span>` : FIDELITY_WORDS[now.fidelity],
    isKnown ? timeWords(then?.p99 ?? null) : 'not heard',
    timeWords(now.p99),
    growthWords(now, then),
    now.tailShare === null ? '–' : percentWords(Number(now.tailShare.toFixed(3))),
  ]);
  const cluster = whole.cluster === null ? '' : `?cluster=${encodeURIComponent(whole.cluster)}`;
  return html`<p>${most(pairs)} ${time(during.from)} to ${time(during.to)}, beside the hour before. <a href="/stages${cluster}">Stages now</a></p>
${plainTable(['Stage', 'How faithfully', 'p99 before', 'p99 during', 'Times', 'Share of the tail'], rows, 'Stages during the incident')}
${chart(whole)}`;
}

interface Pair {
  readonly now: StageView;
  readonly then: StageView | undefined;
}

const growthOf = ({ now, then }: Pair): number | null =>
  now.p99 === null || then?.p99 == null || then.p99 === 0 ? null : now.p99 / then.p99;

function growthWords(now: StageView, then: StageView | undefined): string {
  const growth = growthOf({ now, then });
  return growth === null ? '–' : `${growth.toFixed(1)}x`;
}

/** The stage that grew most, in words. */
function most(pairs: readonly Pair[]): string {
  const [first] = [...pairs].sort((a, b) => (growthOf(b) ?? 0) - (growthOf(a) ?? 0));
  const growth = first === undefined ? null : growthOf(first);
  if (first === undefined || growth === null) return 'Which stage grew is not known.';
  if (growth < 1.2) return 'No stage takes longer than before.';
  return `Most grew ${STAGE_WORDS[first.now.stage]}: p99 ${timeWords(first.then?.p99 ?? null)} before, ${timeWords(first.now.p99)} during.`;
}

function chart({ stages, from, to, stepSeconds }: StagesView): Html | '' {
  const told = stages.filter(({ points }) => points.length > 0);
  const [first] = told;
  if (first === undefined) return '';
  const label = `99th percentile of ${told.map(({ stage }) => STAGE_WORDS[stage]).join(', ')}, from an hour before the incident`;
  const rows = first.points.map(({ at }, index) => [
    time(at),
    ...told.map(({ points }) => timeWords(points[index]?.p99 ?? null)),
  ]);
  return html`${chartFigure({
    label,
    from: Date.parse(from),
    to: Date.parse(to),
    lines: told.map(({ stage, points }) => ({
      label: STAGE_WORDS[stage],
      look: STAGE_LOOKS[stage],
      points: points.map(({ at, p99 }) => [Date.parse(at), p99]),
    })),
    shows: [0],
    words: timeWords,
    start: time(from),
    end: time(to),
  })}
${figuresTable(`Figures, every ${durationWords(stepSeconds)}`, ['Until', ...told.map(({ stage }) => STAGE_WORDS[stage])], rows.reverse())}`;
}

const SKEW_ROWS = 8;

/** Who carried more than its share while it lasted; what the incident names is always there. */
export function skewSection(view: SkewView | null, named: ReadonlySet<string>): Html {
  if (view === null || view.rows.length === 0)
    return html`<p class="state no_traffic">Nobody tells who took how much in that time.</p>`;
  const { rows, maxOverMean, by, cluster, from, to } = view;
  const shown = rows.filter(({ name }, index) => index < SKEW_ROWS || named.has(name));
  const lede =
    maxOverMean === null
      ? 'Too few requests, or only one to compare, to say who carries more than its share.'
      : `${rows[0]?.name} carries ${maxOverMean.toFixed(2)}x the mean, by requests per capacity.`;
  const query = new URLSearchParams({ skew: by, ...(cluster === null ? {} : { cluster }) });
  return html`<p>${lede} ${time(from)} to ${time(to)}. <a href="/traffic?${query.toString()}#skew">All of it, now</a></p>
${plainTable(
  [`${by}${cluster === null ? '' : ` of ${cluster}`}`, 'Zone', 'Requests', 'Times the mean', ''],
  shown.map(({ name, zone, requests, factor }) => [
    name,
    zone ?? '–',
    figureWords(requests),
    factor === null ? '–' : `${factor.toFixed(2)}x`,
    named.has(name) ? html`<strong>named</strong>` : '',
  ]),
  'Skew during the incident',
)}`;
}

const VERSIONS_MAX = 10;
/** A version this shortly before is worth a look. */
const NEAR_MS = 3_600_000;

/** What changed last, and how long before the incident began. */
export function configSection(versions: readonly ConfigVersionView[], { openedAt }: IncidentDetailView): Html {
  if (versions.length === 0) return html`<p class="quiet">No balancer tells its config version.</p>`;
  const newest = [...versions].sort((a, b) => (a.since < b.since ? 1 : -1)).slice(0, VERSIONS_MAX);
  const before = (since: string): number => Date.parse(openedAt) - Date.parse(since);
  const near = newest.filter(({ since, previous }) => previous !== null && before(since) < NEAR_MS);
  const words =
    near.length === 0
      ? 'No version came in the hour before it began, or since.'
      : `${near.map(({ version }) => version).join(', ')} came in the hour before it began, or since.`;
  const rows = newest.map(({ kind, version, previous, since, balancers }) => [
    version,
    kind || '–',
    previous ?? '–',
    html`${time(since)}, ${before(since) >= 0 ? `${durationWords(before(since) / 1000)} before` : `${durationWords(-before(since) / 1000)} after`} it began${near.some((one) => one.version === version && one.kind === kind) ? html` <strong>▲ near</strong>` : ''}`,
    String(balancers.length),
    previous === null
      ? '–'
      : html`<a href="/compare?attribute=configVersion&a=${encodeURIComponent(version)}">Compare</a>`,
  ]);
  return html`<p>${words}</p>${plainTable(['Version', 'Kind', 'Before it', 'Since', 'Balancers', 'Against the rest'], rows, 'Config versions')}`;
}
