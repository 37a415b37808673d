import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import { durationText } from '../model/phrases.ts';
import { byCluster, type ClusterCounter, reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type Distribution, distributionOf } from './distribution.ts';
import { type HostCounters, hostsByCluster } from './hosts.ts';
import { namesText } from './regions.ts';
import { baselineBefore, windowsBefore } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { counted, timeText } from './words.ts';

const HOUR_MS = 3_600_000;
const SLICE_MS = 30_000;
/** A host that had fewer requests before may be without any by chance. */
const BUSY_MIN = 10;
/** A host in part of a slice: rounding and balancers that push at moments of their own. */
const LEFT_MIN = 0.5;
/** Drains that the data asks for: p99 and a quarter, and twice the p99; never less than this for whole seconds. */
const MARGIN = 1.25;
const SAFE = 2;

/**
 * Requests are cut on hosts that drain or have just left a pool. Hosts that die look otherwise: they stay in the pool
 * until somebody takes them out. Told by the resets of hosts that take no more requests, where balancers name hosts;
 * else by the resets of the cluster while its pool shrinks.
 */
export const drainCut: Detector = {
  name: ALERT.drainCut,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const from = epochMs(end - threshold(settings, 'window'));
    const holding: Finding[] = [];
    const resets = byCluster(view, 'cluster.resets');
    for (const [cluster, counter] of resets) {
      if (counter.range(from, end) < threshold(settings, 'minResets')) continue;
      const cut = cutOf(view, cluster, counter, end, settings);
      if (cut !== null) holding.push(toFinding(cluster, cut, wholeTime(view, cluster, from), settings));
    }
    const clear = new Set([...reportedClusters(view.balancers(now))].map(keyOf));
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string) => labelsOf([['cluster', cluster]]);
const keyOf = (cluster: string): string => labelsKey(identityOf(cluster));

interface Cut {
  readonly requests: number;
  /** Of those that left; empty where balancers do not name hosts. */
  readonly hosts: readonly string[];
  /** Hosts that left the pool; null where its size is not told. */
  readonly left: number | null;
}

function cutOf(
  view: FeatureView,
  cluster: string,
  resets: ClusterCounter,
  end: EpochMs,
  settings: DetectorSettings,
): Cut | null {
  const window = threshold(settings, 'window');
  const from = epochMs(end - window);
  const left = leftOf(view, cluster, end, window);
  if (left !== null && left < LEFT_MIN) return null;
  const byHost = new Map<string, number>();
  for (const series of view.features('host.resets')) {
    if (series.labels.get('cluster') !== cluster) continue;
    byHost.set(series.labels.get('host') ?? '', series.range(from, end));
  }
  const above = threshold(settings, 'resetsAbove');
  if (byHost.size === 0) {
    const requests = resets.range(from, end);
    const usual = baselineBefore(resets.firstDataAt, from, (a, b) => resets.range(a, b) / (b - a))?.middle ?? 0;
    return left === null || requests < above * usual * window ? null : { requests, hosts: [], left };
  }
  const hosts = hostsByCluster(view).get(cluster) ?? [];
  const leaving = hosts.filter((one) => (byHost.get(one.host) ?? 0) > 0 && hasStopped(one, end, window));
  const sum = (some: readonly HostCounters[]): number =>
    some.reduce((total, { host }) => total + (byHost.get(host) ?? 0), 0);
  const requests = sum(leaving);
  const staying = Math.max(1, hosts.length - leaving.length);
  const each = (sum(hosts) - requests) / staying;
  if (leaving.length === 0 || requests < threshold(settings, 'minResets')) return null;
  return requests / leaving.length < above * each ? null : { requests, hosts: leaving.map(({ host }) => host), left };
}

/** It was busy, and has had a slice without any request since. */
function hasStopped({ requests }: HostCounters, end: EpochMs, windowMs: number): boolean {
  if (requests(epochMs(end - 2 * windowMs), end) < BUSY_MIN) return false;
  return windowsBefore(end, SLICE_MS, Math.floor(windowMs / SLICE_MS)).some(([a, b]) => requests(a, b) === 0);
}

/** How many hosts fewer the pool has had, as balancers read it; null where they do not tell. */
function leftOf(view: FeatureView, cluster: string, end: EpochMs, windowMs: number): number | null {
  const of = (name: 'cluster.hosts.due' | 'cluster.hosts.readings'): readonly FeatureSeries[] =>
    [...view.features(name)].filter(({ labels }) => labels.get('cluster') === cluster);
  const [due, readings] = [of('cluster.hosts.due'), of('cluster.hosts.readings')];
  const size = (from: EpochMs, to: EpochMs): number | null => {
    const count = readings.reduce((sum, one) => sum + one.range(from, to), 0);
    return count === 0 ? null : due.reduce((sum, one) => sum + one.range(from, to), 0) / count;
  };
  const before = size(epochMs(end - windowMs - 2 * SLICE_MS), epochMs(end - windowMs));
  if (before === null) return null;
  let least = before;
  for (const [from, to] of windowsBefore(end, SLICE_MS, Math.floor(windowMs / SLICE_MS))) {
    least = Math.min(least, size(from, to) ?? before);
  }
  return before - least;
}

/** Of whole requests in the hour before, of first bytes where those are not told by cluster. */
function wholeTime(view: FeatureView, cluster: string, until: EpochMs): Distribution | null {
  for (const metric of ['http.server.request.duration', 'lb.stage.backend.duration']) {
    const own = view.histograms(metric).filter(({ labels }) => labels.get('cluster') === cluster);
    const durations = distributionOf(own, epochMs(until - HOUR_MS), until);
    if (durations.count > 0) return durations;
  }
  return null;
}

function toFinding(
  cluster: string,
  { requests, hosts, left }: Cut,
  durations: Distribution | null,
  settings: DetectorSettings,
): Finding {
  const count = Math.round(requests);
  const where =
    hosts.length > 0
      ? `on ${counted(hosts.length, 'host')} that drained or left (${namesText(hosts)})`
      : 'while hosts left the pool';
  const evidence: Evidence[] = [
    { name: 'cut', value: count, unit: '{request}', text: `${counted(count, 'request')} were cut ${where}` },
  ];
  if (left !== null) {
    const text = `the pool had ${counted(Math.round(left), 'host')} fewer`;
    evidence.push({ name: 'left', value: Math.round(left), unit: '{host}', text });
  }
  const drain = threshold(settings, 'drain');
  const p99 = durations?.quantile(0.99) ?? null;
  let asked = '';
  if (p99 !== null) {
    const [least, safe] = [MARGIN, SAFE].map((factor) => Math.max(1, Math.ceil(factor * p99))) as [number, number];
    const enough =
      drain >= least * 1000 ? ': hosts do not get it, something takes them away earlier' : ': that is too short';
    asked = `99 % of requests end within ${timeText(p99)}, which asks for a drain of ${least} to ${safe} s`;
    const text = `${asked}; ${durationText(drain)} are configured${enough}`;
    evidence.push({ name: 'drain', value: least, unit: 's', text });
  }
  return {
    identity: identityOf(cluster),
    place: hosts.length === 1 && hosts[0] !== undefined ? { cluster, host: hosts[0] } : { cluster },
    severity: settings.severity,
    summary: `In cluster ${cluster} ${counted(count, 'request')} were cut ${where}${asked === '' ? '' : `; ${asked}`}.`,
    evidence,
  };
}
