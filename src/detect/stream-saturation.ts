import {
  BALANCER_HISTOGRAM,
  type BalancerState,
  type FeatureSeries,
  type FeatureView,
  type PeakSeries,
} from '../aggregate/features.ts';
import type { HistogramSeries } from '../aggregate/histogram-cells.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { distributionOf } from './distribution.ts';
import { namesText } from './regions.ts';
import { baselineBefore, baselineEnd } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { sumOf } from './sums.ts';
import { counted, percent, timesText, timeText } from './words.ts';

/** Of the steps of the window: one may be a burst. */
const STEPS_SHARE = 0.5;

/**
 * Requests share few connections to a host, as streams, and those are the limit: they are nearly full, or one of them
 * does not move. What it holds waits until its time is up, while the host looks fine and every connection carries
 * as many.
 */
export const streamSaturation: Detector = {
  name: ALERT.streamSaturation,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const cleared = new Set<string>();
    const from = epochMs(end - windowOf(view.balancers(now), settings));
    for (const [cluster, told] of toldByCluster(view, now)) {
      const key = labelsKey(identityOf(cluster));
      const trouble = judge(told, from, end, firingSince.get(key), settings);
      if (trouble === 'unknown') continue;
      if (trouble === null) cleared.add(key);
      else holding.push(toFinding(cluster, trouble, settings));
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !cleared.has(key))) };
  },
};

/** Two pushes of each balancer at least. */
const windowOf = (balancers: readonly BalancerState[], settings: DetectorSettings): number =>
  balancers.reduce(
    (most, { interval, stale }) => (stale ? most : Math.max(most, 2 * interval)),
    threshold(settings, 'holdFor'),
  );

const identityOf = (cluster: string): Labels => labelsOf([['cluster', cluster]]);

/** What balancers tell of the streams of one cluster. */
interface Told {
  readonly active: PeakSeries[];
  readonly stalled: PeakSeries[];
  /** By `labelsKey`. */
  readonly limits: Map<string, number>;
  readonly rejected: FeatureSeries[];
  readonly durations: HistogramSeries[];
}

function toldByCluster(view: FeatureView, now: EpochMs): ReadonlyMap<string, Told> {
  const found = new Map<string, Told>();
  const of = (labels: Labels): Told => {
    const cluster = labels.get('cluster') ?? '';
    const known = found.get(cluster);
    if (known !== undefined) return known;
    const told: Told = { active: [], stalled: [], limits: new Map(), rejected: [], durations: [] };
    found.set(cluster, told);
    return told;
  };
  for (const one of view.peaks('streams.active')) of(one.labels).active.push(one);
  for (const one of view.peaks('streams.stalled')) of(one.labels).stalled.push(one);
  for (const { labels, value } of view.gauges('streams.limit', now)) of(labels).limits.set(labelsKey(labels), value);
  for (const one of view.features('streams.rejected')) of(one.labels).rejected.push(one);
  for (const one of view.histograms(BALANCER_HISTOGRAM.streams)) of(one.labels).durations.push(one);
  return found;
}

interface Trouble {
  readonly full: Full | null;
  /** Requests that found no place. */
  readonly rejected: number | null;
  readonly stalled: Stalled | null;
  /** The connection with the longest tail. */
  readonly slow: Slow | null;
  readonly connections: number;
}

function judge(
  told: Told,
  from: EpochMs,
  end: EpochMs,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): Trouble | 'unknown' | null {
  const active = levelsOf(told.active, from, end);
  const rejected = rejectedOf(told.rejected, from, end, since, settings);
  const trouble = {
    full: fullestOf(active, told.limits, settings),
    rejected,
    stalled: stalledOf(active, levelsOf(told.stalled, from, end), settings),
    slow: slowestOf(told.durations, active, from, end, settings),
    connections: told.active.filter(({ labels }) => labels.has('connection')).length,
  };
  if (trouble.full !== null || rejected !== null || trouble.stalled !== null || trouble.slow !== null) return trouble;
  // Levels that nobody told of late say nothing.
  return active.length === 0 && told.active.length > 0 ? 'unknown' : null;
}

/** A level in the steps of the window. */
interface Level {
  readonly labels: Labels;
  readonly steps: ReadonlyMap<number, number>;
}

function levelsOf(series: readonly PeakSeries[], from: EpochMs, end: EpochMs): readonly Level[] {
  return series
    .map((one) => ({ labels: one.labels, steps: new Map(one.peaks(from, end).map(({ at, value }) => [at, value])) }))
    .filter(({ steps }) => steps.size > 0);
}

/** Adds up what belongs together, step by step. */
function summedBy(
  levels: readonly Level[],
  keyOf: (labels: Labels) => string,
): ReadonlyMap<string, Map<number, number>> {
  const sums = new Map<string, Map<number, number>>();
  for (const { labels, steps } of levels) {
    const key = keyOf(labels);
    const sum = sums.get(key) ?? new Map<number, number>();
    for (const [at, value] of steps) sum.set(at, (sum.get(at) ?? 0) + value);
    sums.set(key, sum);
  }
  return sums;
}

const byHost = (labels: Labels): string => labels.get('host') ?? '';
const byPair = (labels: Labels): string => JSON.stringify([labels.get('balancer'), byHost(labels)]);

/** Held in at least half of the steps that were told, and in two. */
const isHeld = (count: number, steps: number): boolean => count >= Math.max(2, Math.ceil(STEPS_SHARE * steps));

interface Full {
  readonly balancer: string;
  readonly host: string;
  readonly active: number;
  readonly limit: number;
  /** Balancers and hosts between which connections are nearly full. */
  readonly pairs: number;
}

/**
 * Of all connections between one balancer and one host, together: a balancer may well fill one before the next.
 * Those that tell no limit are not judged.
 */
function fullestOf(
  active: readonly Level[],
  limits: ReadonlyMap<string, number>,
  settings: DetectorSettings,
): Full | null {
  const limited = active.filter(({ labels }) => (limits.get(labelsKey(labels)) ?? 0) > 0);
  const sums = summedBy(limited, byPair);
  const limitOf = new Map<string, number>();
  for (const { labels } of limited) {
    const pair = byPair(labels);
    limitOf.set(pair, (limitOf.get(pair) ?? 0) + (limits.get(labelsKey(labels)) ?? 0));
  }
  let fullest: Omit<Full, 'pairs'> | null = null;
  let pairs = 0;
  for (const [pair, steps] of sums) {
    const limit = limitOf.get(pair) ?? 0;
    const near = [...steps.values()].filter((value) => value >= threshold(settings, 'fullShare') * limit);
    if (!isHeld(near.length, steps.size)) continue;
    pairs += 1;
    const most = Math.max(...near);
    if (fullest !== null && most / limit <= fullest.active / fullest.limit) continue;
    const [balancer, host] = JSON.parse(pair) as [string, string];
    fullest = { balancer, host, active: most, limit };
  }
  return fullest === null ? null : { ...fullest, pairs };
}

function rejectedOf(
  series: readonly FeatureSeries[],
  from: EpochMs,
  end: EpochMs,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): number | null {
  const counter = sumOf(series);
  const rejected = counter.range(from, end);
  if (rejected < threshold(settings, 'minRejected')) return null;
  const windowMs = end - from;
  const perWindow = (a: EpochMs, b: EpochMs): number => (counter.range(a, b) / (b - a)) * windowMs;
  const usual = baselineBefore(counter.firstDataAt, baselineEnd(from, windowMs, since), perWindow)?.middle ?? 0;
  return rejected >= threshold(settings, 'rejectedAboveBaseline') * usual ? rejected : null;
}

interface Stalled {
  readonly streams: number;
  readonly active: number;
  readonly hosts: readonly string[];
}

/** Of all balancers together, by host: each host that has streams which do not move. */
function stalledOf(active: readonly Level[], stalled: readonly Level[], settings: DetectorSettings): Stalled | null {
  const [all, still] = [summedBy(active, byHost), summedBy(stalled, byHost)];
  const found = { streams: 0, active: 0, hosts: [] as string[] };
  for (const [host, steps] of still) {
    const here = all.get(host);
    if (here === undefined) continue;
    const isMany = ([at, value]: [number, number]): boolean =>
      value >= threshold(settings, 'minStreams') &&
      value >= threshold(settings, 'stalledShare') * Math.max(value, here.get(at) ?? 0);
    const many = [...steps].filter(isMany);
    const last = many.at(-1);
    if (last === undefined || !isHeld(many.length, steps.size)) continue;
    found.streams += last[1];
    found.active += Math.max(last[1], here.get(last[0]) ?? 0);
    found.hosts.push(host);
  }
  return found.hosts.length === 0 ? null : found;
}

interface Slow {
  readonly balancer: string;
  readonly host: string;
  readonly connection: string;
  readonly p99: number;
  readonly othersP99: number;
  /** Its streams in flight over those of another in the mean; null where they are not told. */
  readonly load: number | null;
  /** Connections whose tail stands out. */
  readonly count: number;
  readonly hosts: readonly string[];
}

/** One connection against the others of the same balancer to the same host, which answers over all of them alike. */
function slowestOf(
  durations: readonly HistogramSeries[],
  active: readonly Level[],
  from: EpochMs,
  end: EpochMs,
  settings: DetectorSettings,
): Slow | null {
  const loads = new Map(active.map(({ labels, steps }) => [labelsKey(labels), meanOf([...steps.values()])]));
  const pairs = new Map<string, HistogramSeries[]>();
  for (const one of durations) pairs.set(byPair(one.labels), [...(pairs.get(byPair(one.labels)) ?? []), one]);
  const found: Omit<Slow, 'count' | 'hosts'>[] = [];
  for (const [pair, members] of pairs) {
    const [balancer, host] = JSON.parse(pair) as [string, string];
    for (const own of members.length < 2 ? [] : members) {
      const others = members.filter((one) => one !== own);
      const tails = tailsOf(own, others, from, end, settings);
      if (tails === null) continue;
      const load = loadOf(own, others, loads);
      if (load !== null && load > threshold(settings, 'loadAbovePeers')) continue;
      found.push({ balancer, host, connection: own.labels.get('connection') ?? '', ...tails, load });
    }
  }
  const [slowest] = found.sort((a, b) => b.p99 - a.p99);
  const hosts = [...new Set(found.map(({ host }) => host))].sort();
  return slowest === undefined ? null : { ...slowest, count: found.length, hosts };
}

function tailsOf(
  own: HistogramSeries,
  others: readonly HistogramSeries[],
  from: EpochMs,
  end: EpochMs,
  settings: DetectorSettings,
): Pick<Slow, 'p99' | 'othersP99'> | null {
  const least = threshold(settings, 'minEvents');
  const lately = distributionOf([own], from, end);
  if (lately.count < least) return null;
  const p99 = lately.quantile(0.99) ?? 0;
  if (p99 * 1000 < threshold(settings, 'minRise')) return null;
  const peers = distributionOf(others, from, end);
  const othersP99 = peers.quantile(0.99);
  if (othersP99 === null || peers.count < least) return null;
  const isLonger = p99 >= threshold(settings, 'tailAbovePeers') * othersP99;
  return isLonger && (p99 - othersP99) * 1000 >= threshold(settings, 'minRise') ? { p99, othersP99 } : null;
}

function loadOf(
  own: HistogramSeries,
  others: readonly HistogramSeries[],
  loads: ReadonlyMap<string, number>,
): number | null {
  const mine = loads.get(labelsKey(own.labels));
  const theirs = others.map(({ labels }) => loads.get(labelsKey(labels))).filter((load) => load !== undefined);
  if (mine === undefined || theirs.length === 0) return null;
  return mine / Math.max(1, meanOf(theirs));
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

function toFinding(cluster: string, trouble: Trouble, { severity }: DetectorSettings): Finding {
  const { full, rejected, stalled, slow } = trouble;
  const evidence: Evidence[] = [
    ...(stalled === null ? [] : stalledEvidence(stalled)),
    ...(slow === null ? [] : slowEvidence(slow, trouble.connections)),
    ...(full === null ? [] : fullEvidence(full)),
  ];
  if (rejected !== null) {
    const count = Math.round(rejected);
    const text = `${counted(count, 'request')} found no place on a connection`;
    evidence.push({ name: 'rejected', value: count, unit: '{request}', text });
  }
  const hosts = stalled?.hosts ?? slow?.hosts ?? (full?.pairs === 1 ? [full.host] : []);
  const [host = ''] = hosts;
  const what =
    stalled !== null || slow !== null
      ? `A connection to cluster ${cluster} does not move`
      : `Connections to cluster ${cluster} are full`;
  return {
    identity: identityOf(cluster),
    place: hosts.length === 1 && host !== '' ? { cluster, host } : { cluster },
    severity,
    summary: `${what}: ${evidence[0]?.text ?? ''}.`,
    evidence,
  };
}

const towards = (host: string): string => (host === '' ? '' : ` to ${host}`);

function stalledEvidence({ streams, active, hosts }: Stalled): readonly Evidence[] {
  const share = streams / active;
  const counts = `${Math.round(streams)} of ${Math.round(active)} streams${towards(namesText(hosts))}`;
  const unit = '{stream}';
  return [
    { name: 'stalled', value: Math.round(streams), unit, text: `${counts} do not move (${percent(share)})` },
    { name: 'stalled_share', value: share, unit: '1', text: `${percent(share)} of the requests in flight wait` },
  ];
}

function slowEvidence(slow: Slow, connections: number): readonly Evidence[] {
  const { balancer, host, connection, p99, othersP99, load, count } = slow;
  const over = `connection ${connection} of balancer ${balancer}${towards(host)}`;
  const tail = `p99 ${timeText(p99)} over ${over}, ${timeText(othersP99)} over the others`;
  const all = `${counted(count, 'connection')} with such a tail${connections === 0 ? '' : `, of ${connections}`}`;
  return [
    { name: 'connection_p99', value: p99, unit: 's', text: tail },
    ...(load === null
      ? []
      : [
          {
            name: 'connection_load',
            value: load,
            unit: '1',
            text: `it carries ${timesText(load)} the streams of another one`,
          },
        ]),
    { name: 'connections', value: count, unit: '{connection}', text: all },
  ];
}

function fullEvidence({ active, limit, balancer, host, pairs }: Full): readonly Evidence[] {
  const more = pairs > 1 ? `; so ${pairs - 1} more` : '';
  const fit = `where ${limit} fit (${percent(active / limit)})`;
  const text = `${Math.round(active)} streams from balancer ${balancer}${towards(host)}, ${fit}${more}`;
  return [
    { name: 'streams', value: Math.round(active), unit: '{stream}', text },
    { name: 'limit', value: limit, unit: '{stream}', text: `${limit} streams fit between them` },
  ];
}
