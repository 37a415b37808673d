import { durationText, percentText } from '../model/phrases.ts';
import type { DrillRun } from '../sim/drill/drill-run.ts';
import type { Expectation, Scenario, Size } from '../sim/scenarios/scenario.ts';
import { alignColumns } from './columns.ts';
import { expectedOf, formatSummary } from './drill-summary.ts';

/** The scenarios that there are. */
export function formatScenarios(scenarios: readonly Scenario[]): string {
  const rows = scenarios.map(({ name, title }) => [name, title]);
  return `name the scenarios to rehearse, or --all:\n${alignColumns(rows)
    .map((line) => `  ${line}`)
    .join('\n')}\n`;
}

const HEAD = [
  'verdict',
  'scenario',
  'seed',
  'fleet',
  'expected',
  'seen',
  'detected after',
  'pages',
  'incidents',
  'wrong at peak',
  'until over',
  'took',
];

/** A line per run, why runs missed, the figures of several, and how many were as expected. */
export function formatDrill(runs: readonly DrillRun[], wallS: number, jobs: number): string {
  const missed = runs.filter(isMiss);
  const reasons = missed.flatMap(({ scenario, seed, verdict }) =>
    verdict.misses.map((miss) => `  ${scenario.name}, seed ${seed}: ${miss}`),
  );
  const note = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', title, ...lines];
  return [
    ...alignColumns([HEAD, ...runs.map(toRow)]),
    ...note('missed:', reasons),
    ...note('not told by this flavor:', [...new Set(runs.flatMap(unsaidText))]),
    ...(runs.length > 1 ? ['', ...formatSummary(runs, wallS, jobs)] : []),
    '',
    `${runs.length - missed.length} of ${runs.length} as expected`,
    '',
  ].join('\n');
}

/** What this flavour cannot tell of a scenario, and why. */
function unsaidText(run: DrillRun): readonly string[] {
  const { because } = expectedOf(run);
  const { unsaid, seen } = run.verdict;
  if (because === null && unsaid.length === 0) return [];
  const what = unsaid.length === 0 ? [] : [`missing: ${unsaid.join(', ')}`];
  const found = seen === null ? ['not seen'] : [];
  return [`  ${[`${run.scenario.name}: ${[...found, ...what].join(', ')}`, because].filter(Boolean).join('; ')}`];
}

const isMiss = ({ verdict }: DrillRun): boolean => verdict.misses.length > 0;

function toRow(run: DrillRun): readonly string[] {
  const { verdict, impact } = run;
  return [
    isMiss(run) ? 'MISS' : 'ok',
    run.scenario.name,
    String(run.seed),
    sizeText(run.size),
    expectedText(expectedOf(run)),
    seenText(verdict.seen),
    verdict.detectedAfterMs === null ? '-' : durationText(verdict.detectedAfterMs),
    String(verdict.pages),
    String(verdict.incidents),
    impact.peakShare === 0 ? '-' : percentText(impact.peakShare),
    impact.lastedS === 0 ? '-' : durationText(impact.lastedS * 1000),
    `${run.wallS.toFixed(1)} s`,
  ];
}

const sizeText = ({ hosts, balancers, zones, requestsPerS }: Size): string =>
  `${hosts} hosts, ${balancers} lbs, ${zones} zones, ${rateText(requestsPerS)}`;

function rateText(perS: number): string {
  if (perS < 1) return `${Math.round(perS * 3600)}/h`;
  return perS < 10_000 ? `${Math.round(perS)}/s` : `${Math.round(perS / 1000)}k/s`;
}

function expectedText(expected: Expectation): string {
  if (expected.kind === 'quiet') return 'no page';
  return `${expected.severity} ${expected.lead} < ${durationText(expected.withinMs)}`;
}

function seenText(seen: DrillRun['verdict']['seen']): string {
  if (seen === null) return 'nothing';
  return `${seen.severity} ${seen.lead}${seen.tier === null ? '' : ` ${seen.tier}`}`;
}

/** The same for machines. */
export function runToJson(run: DrillRun) {
  const { scenario, seed, size, flavor, verdict, impact, points, wallS } = run;
  const expected = expectedOf(run);
  const asked =
    expected.kind === 'quiet'
      ? { pages: 0, incidentsMax: expected.incidentsMax, because: expected.because }
      : {
          lead: expected.lead,
          alternatives: expected.alternatives,
          severity: expected.severity,
          runbook: expected.runbook,
          withinSeconds: expected.withinMs / 1000,
          pages: expected.pages,
          evidence: expected.evidence.map(({ what }) => what),
        };
  return {
    scenario: scenario.name,
    seed,
    flavor,
    size,
    ok: verdict.misses.length === 0,
    misses: verdict.misses,
    unsaid: verdict.unsaid,
    expected: asked,
    seen: verdict.seen,
    detectedAfterSeconds: verdict.detectedAfterMs === null ? null : verdict.detectedAfterMs / 1000,
    pages: verdict.pages,
    incidents: verdict.incidents,
    peakShareWrong: impact.peakShare,
    secondsUntilOver: impact.lastedS,
    points,
    wallSeconds: Number(wallS.toFixed(1)),
  };
}
