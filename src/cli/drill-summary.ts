import { median } from '../base/median.ts';
import { durationText, percentText } from '../model/phrases.ts';
import type { DrillRun } from '../sim/drill/drill-run.ts';
import type { Expectation } from '../sim/scenarios/scenario.ts';
import { alignColumns } from './columns.ts';

const WEEK_MS = 7 * 86_400_000;

export const expectedOf = ({ plan, flavor }: DrillRun): Expectation =>
  flavor === 'envoy' ? plan.expectedOfEnvoy : plan.expected;

/** Several runs in a few figures. */
export interface DrillSummary {
  readonly runs: number;
  readonly asExpected: number;
  /** Runs in which something had to be found, and those in which it was: right lead and severity, in time. */
  readonly failures: number;
  readonly found: number;
  /** From the fault until it was found, of those that were, ms; null where there is none. */
  readonly detectedAfterMs: { readonly median: number; readonly worst: Extreme } | null;
  /** Virtual time of runs in which nobody was to be paged, and pages in them. */
  readonly quietMs: number;
  readonly falsePages: number;
  readonly slowest: Extreme | null;
  readonly points: number;
}

/** A figure and the run that it is of. */
export interface Extreme {
  readonly value: number;
  readonly scenario: string;
  readonly seed: number;
}

export function summaryOf(runs: readonly DrillRun[]): DrillSummary {
  const failures = runs.filter((run) => expectedOf(run).kind === 'incident');
  const found = failures.filter(isFound);
  const quiet = runs.filter((run) => expectedOf(run).kind === 'quiet');
  const worst = extremeOf(found, ({ verdict }) => verdict.detectedAfterMs ?? 0);
  return {
    runs: runs.length,
    asExpected: runs.filter(({ verdict }) => verdict.misses.length === 0).length,
    failures: failures.length,
    found: found.length,
    detectedAfterMs:
      worst === null ? null : { median: median(found.map(({ verdict }) => verdict.detectedAfterMs ?? 0)), worst },
    quietMs: quiet.reduce((sum, { plan }) => sum + plan.untilMs, 0),
    falsePages: quiet.reduce((sum, { verdict }) => sum + verdict.pages, 0),
    slowest: extremeOf(runs, ({ wallS }) => wallS),
    points: runs.reduce((sum, { points }) => sum + points, 0),
  };
}

function isFound(run: DrillRun): boolean {
  const expected = expectedOf(run);
  const after = run.verdict.detectedAfterMs;
  return expected.kind === 'incident' && after !== null && after <= expected.withinMs;
}

function extremeOf(runs: readonly DrillRun[], figure: (run: DrillRun) => number): Extreme | null {
  const [first, ...rest] = runs;
  if (first === undefined) return null;
  const most = rest.reduce((best, run) => (figure(run) > figure(best) ? run : best), first);
  return { value: figure(most), scenario: most.scenario.name, seed: most.seed };
}

export const pagesPerQuietWeek = ({ quietMs, falsePages }: DrillSummary): number | null =>
  quietMs === 0 ? null : falsePages / (quietMs / WEEK_MS);

const HEAD = ['scenario', 'runs', 'as expected', 'found', 'median after', 'worst after', 'false pages', 'slowest run'];

/** A line per scenario and the figures of all; `wallS` and `jobs` of the whole drill. */
export function formatSummary(runs: readonly DrillRun[], wallS: number, jobs: number): readonly string[] {
  const names = [...new Set(runs.map(({ scenario }) => scenario.name))];
  const rows = names.map((name) => toRow(name, summaryOf(runs.filter(({ scenario }) => scenario.name === name))));
  const all = summaryOf(runs);
  const { detectedAfterMs, slowest } = all;
  const perWeek = pagesPerQuietWeek(all);
  const detected =
    detectedAfterMs === null
      ? ''
      : `, after ${minutesText(detectedAfterMs.median)} in the median, ${minutesText(detectedAfterMs.worst.value)} at worst (${runText(detectedAfterMs.worst)})`;
  return [
    ...(runs.length > names.length ? [...alignColumns([HEAD, ...rows]), ''] : []),
    ...(all.failures === 0 ? [] : [`found: ${shareText(all.found, all.failures)}${detected}`]),
    ...(perWeek === null
      ? []
      : [`false pages: ${all.falsePages} in ${weeksText(all.quietMs)} quiet weeks, ${perWeek.toFixed(2)} a week`]),
    ...(slowest === null ? [] : [`slowest: ${slowest.value.toFixed(1)} s (${runText(slowest)})`]),
    `took: ${secondsText(wallS)} with ${jobs} ${jobs === 1 ? 'job' : 'jobs'}, ${rateText(all.points / Math.max(wallS, 1e-3))} points/s`,
  ];
}

function toRow(name: string, summary: DrillSummary): readonly string[] {
  const { runs, asExpected, failures, found, detectedAfterMs, quietMs, falsePages, slowest } = summary;
  return [
    name,
    String(runs),
    shareText(asExpected, runs),
    failures === 0 ? '-' : shareText(found, failures),
    detectedAfterMs === null ? '-' : durationText(detectedAfterMs.median),
    detectedAfterMs === null ? '-' : durationText(detectedAfterMs.worst.value),
    quietMs === 0 ? '-' : String(falsePages),
    slowest === null ? '-' : `${slowest.value.toFixed(1)} s`,
  ];
}

/** All of them, and nothing less, are 100 %. */
function shareText(part: number, whole: number): string {
  const percent = percentText(part / whole);
  const shown =
    part < whole && percent === '100 %' ? `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %` : percent;
  return `${part} of ${whole} (${shown})`;
}

const runText = ({ scenario, seed }: Extreme): string => `${scenario}, seed ${seed}`;
const minutesText = (timeMs: number): string =>
  timeMs < WEEK_MS / 7 ? `${(timeMs / 60_000).toFixed(1)} min` : durationText(timeMs);
const weeksText = (timeMs: number): string => (timeMs / WEEK_MS).toFixed(1);
const secondsText = (seconds: number): string =>
  seconds < 120 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
const rateText = (perS: number): string => (perS < 10_000 ? perS.toFixed(0) : `${Math.round(perS / 1000)}k`);

/** The same for machines; times in seconds. */
export function summaryToJson(runs: readonly DrillRun[], wallS: number, jobs: number) {
  const all = summaryOf(runs);
  const { detectedAfterMs, slowest, points } = all;
  const inSeconds = ({ value, ...rest }: Extreme) => ({ seconds: value / 1000, ...rest });
  return {
    runs: all.runs,
    asExpected: all.asExpected,
    failures: all.failures,
    found: all.found,
    detectedAfterSeconds:
      detectedAfterMs === null
        ? null
        : { median: detectedAfterMs.median / 1000, worst: inSeconds(detectedAfterMs.worst) },
    falsePages: all.falsePages,
    quietWeeks: all.quietMs / WEEK_MS,
    falsePagesPerQuietWeek: pagesPerQuietWeek(all),
    slowest: slowest === null ? null : { wallSeconds: Number(slowest.value.toFixed(1)), ...placeOf(slowest) },
    wallSeconds: Number(wallS.toFixed(1)),
    jobs,
    pointsPerSecond: Math.round(points / Math.max(wallS, 1e-3)),
  };
}

const placeOf = ({ scenario, seed }: Extreme) => ({ scenario, seed });
