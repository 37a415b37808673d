import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence, Place } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { baselineRatio } from './baseline.ts';
import { logBinomialTail } from './binomial.ts';
import { byCluster, counterOf, reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { factorOf, type Loads, loadsIn, type Pool } from './host-loads.ts';
import { capacitiesOf, type HostCounters, hostPlace, hostsByCluster } from './hosts.ts';
import { newHosts } from './new-hosts.ts';
import { baselineBefore, baselineEnd, isEvidenced, windowsBefore } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { logPoissonTail } from './two-samples.ts';
import { counted, percent, timesText } from './words.ts';

/** The time held is judged in so many windows; where these hold too little, it is judged whole, twice running. */
const WINDOWS = 5;
const WHOLE_WINDOWS = 2;
/** An alert that fires stays while its figures are above this part of their limits. */
const STAYS_ABOVE = 0.9;
/** So many of the hottest hosts are compared with what is usual for them. */
const COMPARED_MAX = 3;

interface Hot {
  readonly counters: HostCounters;
  /** Load per capacity over the mean of the cluster. */
  readonly factor: number;
  /** The same at this hour before; null where the mean alone decides. */
  readonly usual: number | null;
  readonly share: number;
}

interface Skew {
  readonly hot: Hot | null;
  readonly idle: { readonly hosts: readonly string[]; readonly share: number; readonly due: number } | null;
  readonly overflow: { readonly share: number; readonly usual: number } | null;
}

/**
 * Requests are spread unevenly over the hosts of a cluster: one takes far more than its share (a hot key, a weight, a
 * policy that sends it everything), or hosts that have joined take hardly any, as connections that live long stay where
 * they are. Shares are of capacity where it is known.
 */
export const hostSkew: Detector = {
  name: ALERT.hostSkew,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const clear = new Set<string>();
    const reported = reportedClusters(view.balancers(now));
    const capacities = capacitiesOf(view, now);
    const hashing = new Set([...view.gauges('cluster.hash.entries', now)].map(({ labels }) => labels.get('cluster')));
    const overflows = byCluster(view, 'cluster.hash.overflows');
    const clusters = byCluster(view, 'cluster.requests');
    const seen = seenByCluster(view, epochMs(end - threshold(settings, 'newHostFor')));
    for (const [cluster, hosts] of hostsByCluster(view)) {
      if (!reported.has(cluster)) continue;
      const known = capacities.get(cluster);
      const pool: Pool = { cluster, hosts, capacityOf: (host) => (known === undefined ? 1 : (known.get(host) ?? 0)) };
      const since = firingSince.get(keyOf(cluster));
      const from = epochMs(end - threshold(settings, 'heldFor'));
      const loads = loadsIn(pool, from, end);
      if (loads.total < threshold(settings, 'minEvents') || loads.hosts === 0) continue;
      const skew: Skew = {
        hot: hotHost(pool, loads, end, hashing.has(cluster), since, settings),
        idle: newHosts(pool, loads, seen.get(cluster) ?? [], end, input),
        overflow: overflowOf(counterOf(overflows, cluster), counterOf(clusters, cluster), end, since, settings),
      };
      if (skew.hot !== null || skew.idle !== null || skew.overflow !== null) {
        holding.push(toFinding(cluster, skew, hashing.has(cluster), settings));
      } else clear.add(keyOf(cluster));
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string): Labels => labelsOf([['cluster', cluster]]);
const keyOf = (cluster: string): string => labelsKey(identityOf(cluster));

/** Hosts that were healthy for the first time after a moment. */
function seenByCluster(view: FeatureView, after: EpochMs): ReadonlyMap<string, readonly FeatureSeries[]> {
  const found = new Map<string, FeatureSeries[]>();
  for (const series of view.features('host.seen')) {
    const cluster = series.labels.get('cluster');
    if (cluster === undefined || series.firstDataAt === null || series.firstDataAt <= after) continue;
    const list = found.get(cluster);
    if (list === undefined) found.set(cluster, [series]);
    else list.push(series);
  }
  return found;
}

/** The hottest host where it is too hot beside the mean, or in a cluster that hashes beside its own past. */
function hotHost(
  pool: Pool,
  loads: Loads,
  end: EpochMs,
  isHashing: boolean,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): Hot | null {
  if (loads.hosts < 2) return null;
  const from = epochMs(end - threshold(settings, 'heldFor'));
  const isSmall = loads.hosts <= threshold(settings, 'smallPoolHosts');
  const stays = since === undefined ? 1 : STAYS_ABOVE;
  const limit = stays * threshold(settings, isSmall ? 'smallPoolOverMean' : 'maxOverMean');
  const hashLimit = stays * threshold(settings, 'hashOverUsual');
  const least = isHashing ? Math.min(limit, hashLimit) : limit;
  const hottest: Hot[] = [];
  for (const counters of pool.hosts) {
    const capacity = pool.capacityOf(counters.host);
    if (capacity === 0) continue;
    const count = counters.requests(from, end);
    const factor = factorOf(count, capacity, loads);
    if (factor > least) hottest.push({ counters, factor, usual: null, share: count / loads.total });
  }
  hottest.sort((a, b) => b.factor - a.factor);
  const [first] = hottest;
  if (first === undefined) return null;
  if (first.factor > limit && isHeld(pool, loads, first.counters, end, limit, since, settings)) return first;
  if (!isHashing) return null;
  for (const hot of hottest.slice(0, COMPARED_MAX)) {
    const usual = usualFactor(pool, hot.counters, baselineEnd(from, end - from, since));
    if (usual === null || hot.factor <= hashLimit * usual) continue;
    const due = (usual * loads.total * pool.capacityOf(hot.counters.host)) / loads.capacity;
    const rule = { minEvents: threshold(settings, 'minEvents'), minExpected: threshold(settings, 'minExpected') };
    if (!isEvidenced(loads.total, due, rule)) continue;
    if (logPoissonTail(hot.share * loads.total, due) > Math.log(threshold(settings, 'chance'))) continue;
    if (isHeld(pool, loads, hot.counters, end, hashLimit * Math.max(1, usual), since, settings)) {
      return { ...hot, usual };
    }
  }
  return null;
}

/** It was above the limit in each window, and each held enough requests per host. */
function isHeld(
  pool: Pool,
  { total, hosts }: Loads,
  { host, requests }: HostCounters,
  end: EpochMs,
  limit: number,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): boolean {
  const heldFor = threshold(settings, 'heldFor');
  const minMean = threshold(settings, 'minMean');
  if (since !== undefined) return total / hosts >= minMean;
  const isBusy = total / hosts >= minMean * WINDOWS;
  const windows = isBusy ? windowsBefore(end, heldFor / WINDOWS, WINDOWS) : windowsBefore(end, heldFor, WHOLE_WINDOWS);
  return windows.every(([from, to]) => {
    const loads = loadsIn(pool, from, to);
    // What comes in five parts differs from part to part: only the whole must hold as much as is asked.
    const least = isBusy ? minMean / 2 : minMean;
    return loads.total >= least * loads.hosts && factorOf(requests(from, to), pool.capacityOf(host), loads) > limit;
  });
}

/** Load per capacity over the mean, as it was at this hour of the last days, or lately. */
function usualFactor(pool: Pool, { host, requests, firstDataAt }: HostCounters, until: EpochMs): number | null {
  const sample = (from: EpochMs, to: EpochMs): number | null => {
    const loads = loadsIn(pool, from, to);
    return loads.total < loads.hosts ? null : factorOf(requests(from, to), pool.capacityOf(host), loads);
  };
  return baselineBefore(firstDataAt, until, sample)?.middle ?? null;
}

type Counter = ReturnType<typeof counterOf>;

function overflowOf(
  overflows: Counter,
  requests: Counter,
  end: EpochMs,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): Skew['overflow'] {
  const heldFor = threshold(settings, 'heldFor');
  const from = epochMs(end - heldFor);
  const count = overflows.range(from, end);
  const total = requests.range(from, end);
  if (count < threshold(settings, 'minEvents') || total <= 0) return null;
  const share = Math.min(1, count / total);
  const stays = since === undefined ? 1 : STAYS_ABOVE;
  if (share < stays * threshold(settings, 'overflowShare')) return null;
  const minExpected = threshold(settings, 'minExpected');
  const usual = baselineRatio(overflows, requests, baselineEnd(from, heldFor, since), minExpected) ?? 0;
  if (share < stays * threshold(settings, 'overflowOverUsual') * usual) return null;
  return logBinomialTail(count, Math.max(count, total), usual) <= Math.log(threshold(settings, 'chance'))
    ? { share, usual }
    : null;
}

function toFinding(cluster: string, skew: Skew, isHashing: boolean, settings: DetectorSettings): Finding {
  const { hot, idle, overflow } = skew;
  const minutes = Math.round(threshold(settings, 'heldFor') / 60_000);
  const what: string[] = [];
  if (hot !== null) {
    const beside = hot.usual === null ? '' : `, usually ${timesText(hot.usual)}`;
    const key = isHashing ? '; the cluster hashes, which points to a hot key' : '';
    what.push(
      `host ${hot.counters.host} takes ${percent(hot.share)} of its requests, ${timesText(hot.factor)} the mean for ${minutes} min${beside}${key}`,
    );
  }
  if (idle !== null) {
    what.push(
      `${counted(idle.hosts.length, 'new host')} ${idle.hosts.length === 1 ? 'takes' : 'take'} ${percent(idle.share)} of its requests where ${percent(idle.due)} were due: connections stay with the older hosts`,
    );
  }
  if (overflow !== null) {
    what.push(`bounded load sends ${percent(overflow.share)} of its requests past the host of their key`);
  }
  const place: Place = hot === null ? { cluster } : hostPlace(cluster, hot.counters);
  return {
    identity: identityOf(cluster),
    place,
    severity: settings.severity,
    summary: `Cluster ${cluster} is uneven: ${what.join('; ')}.`,
    evidence: evidenceOf(skew),
  };
}

function evidenceOf({ hot, idle, overflow }: Skew): Evidence[] {
  const evidence: Evidence[] = [];
  if (hot !== null) {
    const { host } = hot.counters;
    const text = `host ${host}: ${timesText(hot.factor)} the mean of the cluster's hosts`;
    evidence.push({ name: 'max_over_mean', value: hot.factor, unit: '1', text });
    evidence.push({
      name: 'share',
      value: hot.share,
      unit: '1',
      text: `${percent(hot.share)} of the cluster's requests`,
    });
    if (hot.usual !== null) {
      evidence.push({ name: 'usual', value: hot.usual, unit: '1', text: `usually ${timesText(hot.usual)} the mean` });
    }
  }
  if (idle !== null) {
    const shown = idle.hosts.slice(0, 5).join(', ');
    const more = idle.hosts.length > 5 ? ` and ${idle.hosts.length - 5} more` : '';
    const text = `new hosts: ${percent(idle.share)} of requests where ${percent(idle.due)} were due (${shown}${more})`;
    evidence.push({ name: 'new_hosts', value: idle.share / idle.due, unit: '1', text });
  }
  if (overflow !== null) {
    const text = `${percent(overflow.share)} sent past the host of their key (usual: ${percent(overflow.usual)})`;
    evidence.push({ name: 'overflow', value: overflow.share, unit: '1', text });
  }
  return evidence;
}
