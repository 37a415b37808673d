import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import { durationText } from '../model/phrases.ts';
import { reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type HostCounters, hostsByCluster } from './hosts.ts';
import { namesText } from './regions.ts';
import type { DetectorSettings } from './settings.ts';
import { logChanceNotHigher, type Sample, shareOf } from './two-samples.ts';
import { counted, percent, timesText, timeText } from './words.ts';

const STEP_MS = 10_000;
const SLICE_MS = 30_000;
/** Requests that a host is due in a slice before one without any means that it was not there. */
const DUE_MIN = 20;
const LOG_CHANCE_MAX = Math.log(1e-8);
/** How far back the last requests before it came are looked for. */
const SLICES_BACK = 30;
/** Of what it does now, in errors or time: a host that did so much of it before was as bad. */
const AS_BAD = 0.5;
/** As fast as the others, but for chance. */
const WARM = 1.25;

/**
 * Hosts that have just come take longer than the others or fail: they get their share of the traffic before they are
 * warm. A host has come when it takes requests after a time without any in which the others had theirs. One that was as
 * bad before that time has only been ejected and let in again.
 */
export const coldStart: Detector = {
  name: ALERT.coldStart,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const reported = reportedClusters(view.balancers(now));
    for (const [cluster, hosts] of hostsByCluster(view)) {
      const { young, others } = apart(hosts, end, settings);
      if (young.length === 0 || others.length === 0) continue;
      const figures = figuresOf(young, others, settings);
      if (figures !== null && isCold(figures, settings)) {
        holding.push(toFinding(cluster, young, figures, warmAfterMs(young, others, end), settings));
      }
    }
    const clear = new Set([...reported].map(keyOf));
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string) => labelsOf([['cluster', cluster]]);
const keyOf = (cluster: string): string => labelsKey(identityOf(cluster));

interface Young {
  readonly counters: HostCounters;
  /** Start of the step with its first requests. */
  readonly since: EpochMs;
}

/** Hosts that came within `tellFor` and can be judged by now, and those that were there all the time. */
function apart(
  hosts: readonly HostCounters[],
  end: EpochMs,
  settings: DetectorSettings,
): { readonly young: readonly Young[]; readonly others: readonly HostCounters[] } {
  const slices = Math.ceil(threshold(settings, 'tellFor') / SLICE_MS) + 1;
  const from = epochMs(end - slices * SLICE_MS);
  const all = hosts.reduce((total, { requests }) => total + requests(from, end), 0);
  const young: Young[] = [];
  const others: HostCounters[] = [];
  // A new host takes part of what the others had: about this many came to each.
  if (hosts.length < 2 || all / hosts.length / slices < DUE_MIN) return { young, others };
  for (const counters of hosts) {
    const since = cameAt(counters, from, slices);
    if (since === null) others.push(counters);
    if (since === null || since === 'gone' || since + threshold(settings, 'window') > end) continue;
    if (!wasAsBad(counters, since, settings)) young.push({ counters, since });
  }
  return { young, others };
}

/**
 * Whether it failed, or took as long, when it was last there: then it is not so because it is new. One that took next
 * to nothing was not there.
 */
function wasAsBad(counters: HostCounters, since: EpochMs, settings: DetectorSettings): boolean {
  let start = since;
  let taken = 0;
  for (let slice = 0; slice < SLICES_BACK && taken < DUE_MIN; slice += 1) {
    start = epochMs(start - SLICE_MS);
    taken = counters.requests(start, since);
  }
  if (taken < DUE_MIN) return false;
  const before = sideOf([[counters, start, since]]);
  const now = sideOf([[counters, since, epochMs(since + threshold(settings, 'window'))]]);
  const failed = shareOf(now.errors);
  const isFailing = failed >= threshold(settings, 'above') && shareOf(before.errors) >= AS_BAD * failed;
  return isFailing || (before.mean !== null && now.mean !== null && before.mean >= AS_BAD * now.mean);
}

/** When it took requests again after its last slice without any; null where it always did. */
function cameAt({ requests }: HostCounters, from: EpochMs, slices: number): EpochMs | 'gone' | null {
  for (let slice = slices - 1; slice >= 0; slice -= 1) {
    const start = epochMs(from + slice * SLICE_MS);
    const stop = epochMs(start + SLICE_MS);
    if (requests(start, stop) > 0) continue;
    for (let step = stop; step < from + slices * SLICE_MS; step = epochMs(step + STEP_MS)) {
      if (requests(step, epochMs(step + STEP_MS)) > 0) return step;
    }
    return 'gone';
  }
  return null;
}

interface Side {
  readonly errors: Sample;
  /** Mean time in seconds; null where it is not told. */
  readonly mean: number | null;
}

interface Figures {
  readonly young: Side;
  readonly others: Side;
}

/** Null where the new hosts have had too few requests. */
function figuresOf(
  young: readonly Young[],
  others: readonly HostCounters[],
  settings: DetectorSettings,
): Figures | null {
  const window = threshold(settings, 'window');
  const own = sideOf(young.map(({ counters, since }) => [counters, since, epochMs(since + window)] as const));
  if (own.errors.events < threshold(settings, 'minEvents')) return null;
  const first = Math.min(...young.map(({ since }) => since));
  const last = Math.max(...young.map(({ since }) => since)) + window;
  return { young: own, others: sideOf(others.map((one) => [one, epochMs(first), epochMs(last)] as const)) };
}

/** Means weighted by requests. */
function sideOf(spans: readonly (readonly [HostCounters, EpochMs, EpochMs])[]): Side {
  let [hits, events, time, timed] = [0, 0, 0, 0];
  for (const [counters, from, to] of spans) {
    const count = counters.requests(from, to);
    events += count;
    hits += Math.min(count, counters.errors(from, to));
    const mean = count > 0 ? counters.meanTime(from, to, 1) : null;
    if (mean === null) continue;
    time += mean * count;
    timed += count;
  }
  return { errors: { hits, events }, mean: timed > 0 ? time / timed : null };
}

const slownessOf = ({ young, others }: Figures): number | null =>
  young.mean === null || others.mean === null || others.mean <= 0 ? null : young.mean / others.mean;

function isCold(figures: Figures, settings: DetectorSettings): boolean {
  const slowness = slownessOf(figures);
  if (slowness !== null && slowness >= threshold(settings, 'slower')) return true;
  const [own, usual] = [shareOf(figures.young.errors), shareOf(figures.others.errors)];
  return (
    own - usual >= threshold(settings, 'above') &&
    own >= threshold(settings, 'timesPeers') * usual &&
    logChanceNotHigher(figures.young.errors, figures.others.errors) <= LOG_CHANCE_MAX
  );
}

/** From coming until the new hosts are as fast as the others, in whole steps; null where that has not been seen. */
function warmAfterMs(young: readonly Young[], others: readonly HostCounters[], end: EpochMs): number | null {
  const latest = Math.max(...young.map(({ since }) => since));
  for (let after = 0; latest + after + STEP_MS <= end; after += STEP_MS) {
    const at = (since: EpochMs) => [epochMs(since + after), epochMs(since + after + STEP_MS)] as const;
    const own = sideOf(young.map(({ counters, since }) => [counters, ...at(since)] as const)).mean;
    const usual = sideOf(others.map((one) => [one, ...at(epochMs(latest))] as const)).mean;
    if (own !== null && usual !== null && own <= WARM * usual) return after;
  }
  return null;
}

function toFinding(
  cluster: string,
  young: readonly Young[],
  figures: Figures,
  warmMs: number | null,
  settings: DetectorSettings,
): Finding {
  const names = young.map(({ counters }) => counters.host);
  const slowness = slownessOf(figures);
  const [own, usual] = [shareOf(figures.young.errors), shareOf(figures.others.errors)];
  const window = durationText(threshold(settings, 'window'));
  const said =
    slowness !== null && slowness >= threshold(settings, 'slower')
      ? `take ${timesText(slowness)} as long as the others (${timeText(figures.young.mean ?? 0)}, ${timeText(figures.others.mean ?? 0)})`
      : `fail ${percent(own)} of their requests, the others ${percent(usual)}`;
  const evidence: Evidence[] = [
    {
      name: 'new_hosts',
      value: names.length,
      unit: '{host}',
      text: `${counted(names.length, 'new host')}: ${namesText(names)}`,
    },
    {
      name: 'errors',
      value: own,
      unit: '1',
      text: `${percent(own)} of their requests fail, ${percent(usual)} of the others`,
    },
  ];
  if (slowness !== null) {
    const text = `${timesText(slowness)} as long as the others in their first ${window}`;
    evidence.push({ name: 'slowness', value: slowness, unit: '1', text });
  }
  evidence.push(settingsEvidence(warmMs, settings));
  return {
    identity: identityOf(cluster),
    place: { cluster },
    severity: settings.severity,
    summary: `${counted(names.length, 'new host')} of cluster ${cluster} ${said} in their first ${window}: they get traffic before they are warm.`,
    evidence,
  };
}

/** What is configured beside what the data asks for: grace above warm-up, cooldown above both. */
function settingsEvidence(warmMs: number | null, settings: DetectorSettings): Evidence {
  const grace = threshold(settings, 'grace');
  const [warmUpText, graceText, cooldownText] = [
    durationText(threshold(settings, 'warmUp')),
    durationText(grace),
    durationText(threshold(settings, 'cooldown')),
  ];
  const configured = `configured are a warm-up of ${warmUpText}, a grace of ${graceText} and a cooldown of ${cooldownText}`;
  if (warmMs === null) return { name: 'warm_after', value: null, text: `they are not warm yet; ${configured}` };
  const seconds = warmMs / 1000;
  const asked =
    warmMs > grace
      ? `the grace must be longer than ${seconds} s, and the cooldown longer than both`
      : 'that is enough if readiness waits for it: check that it is more than liveness';
  return {
    name: 'warm_after',
    value: seconds,
    unit: 's',
    text: `they are warm after ${seconds} s; ${configured}: ${asked}`,
  };
}
