import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { baselineRatio } from './baseline.ts';
import { byCluster, type ClusterCounter, counterOf, reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type HostCounters, hostsByCluster } from './hosts.ts';
import { baselineEnd } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { percent } from './words.ts';

/** An alert that fires stays while its figures are above this part of their limits. */
const STAYS_ABOVE = 0.75;
/** Hosts are judged by what they do now: what they did before it began is no help. Ours. */
const HOSTS_WINDOW_MS = 30_000;
/** Requests of a host below which nothing is said of it. Ours. */
const HOST_REQUESTS_MIN = 10;
const UNNAMED = 'unknown';

const REASONS: Readonly<Record<string, string>> = {
  circuit_open: 'a limit of requests or connections to it is reached (open circuit)',
  overflow: 'a queue in front of it is full',
  rate_limited: 'a rate limit is reached',
  admission: 'the balancer sheds load',
};

interface Rejected {
  readonly reason: string;
  readonly count: number;
  /** Of the requests, and what that usually is. */
  readonly share: number;
  readonly usual: number;
}

/**
 * Balancers reject requests themselves, for one reason far more often than at this hour: a limit of requests in flight,
 * an open circuit, a full queue, a rate limit. Where hosts wait for something, limits fill before anything else shows.
 * What is always rejected (a client that is always above its rate) is usual; without a history nothing is.
 */
export const admissionRejections: Detector = {
  name: ALERT.admissionRejections,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const clear = new Set<string>();
    const requests = byCluster(view, 'cluster.requests');
    const reported = reportedClusters(view.balancers(now));
    const from = epochMs(end - HOSTS_WINDOW_MS);
    for (const [cluster, reasons] of rejectionsByCluster(view)) {
      if (!reported.has(cluster)) continue;
      const key = keyOf(cluster);
      const total = counterOf(requests, cluster);
      const rejected = [...reasons]
        .flatMap(([reason, series]) => rejectedOf(reason, series, total, end, firingSince.get(key), settings) ?? [])
        .sort((a, b) => b.count - a.count);
      if (rejected.length === 0) {
        clear.add(key);
        continue;
      }
      const hosts = hostsByCluster(view).get(cluster) ?? [];
      holding.push(
        toFinding(cluster, rejected, hostsText(hosts, from, end, threshold(settings, 'hostFails')), settings),
      );
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string): Labels => labelsOf([['cluster', cluster]]);
const keyOf = (cluster: string): string => labelsKey(identityOf(cluster));

/** By cluster, in the order of their names, then by reason. */
function rejectionsByCluster(view: FeatureView): readonly [string, ReadonlyMap<string, readonly FeatureSeries[]>][] {
  const found = new Map<string, Map<string, FeatureSeries[]>>();
  for (const series of view.features('cluster.rejections')) {
    const cluster = series.labels.get('cluster');
    if (cluster === undefined) continue;
    const reason = series.labels.get('reason') ?? UNNAMED;
    const reasons = found.get(cluster) ?? new Map<string, FeatureSeries[]>();
    found.set(cluster, reasons);
    reasons.set(reason, [...(reasons.get(reason) ?? []), series]);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Null where it is not above what is usual. */
function rejectedOf(
  reason: string,
  series: readonly FeatureSeries[],
  requests: ClusterCounter,
  end: EpochMs,
  since: EpochMs | undefined,
  settings: DetectorSettings,
): Rejected | null {
  const holdFor = threshold(settings, 'holdFor');
  const from = epochMs(end - holdFor);
  const middle = epochMs(end - Math.round(holdFor / 20_000) * 10_000);
  const counter: ClusterCounter = {
    firstDataAt: requests.firstDataAt,
    range: (start, stop) => series.reduce((sum, one) => sum + one.range(start, stop), 0),
  };
  const count = counter.range(from, end);
  if (count < threshold(settings, 'minEvents')) return null;
  const until = baselineEnd(from, holdFor, since);
  const usual = baselineRatio(counter, requests, until, threshold(settings, 'minExpected'));
  if (usual === null) return null;
  const stays = since === undefined ? 1 : STAYS_ABOVE;
  const limit = stays * Math.max(threshold(settings, 'minShare'), threshold(settings, 'overUsual') * usual);
  const share = shareOf(count, requests.range(from, end));
  // What was rejected in the first half only is over.
  const lately = shareOf(counter.range(middle, end), requests.range(middle, end));
  return share >= limit && lately >= limit ? { reason, count, share, usual } : null;
}

/** Some balancers count what they reject among the requests of the cluster, some do not. */
const shareOf = (rejected: number, requests: number): number => rejected / Math.max(1, requests, rejected);

/** Whether most hosts fail, some, or none: a dependency, hosts of their own, or too many requests. */
function hostsText(hosts: readonly HostCounters[], from: EpochMs, to: EpochMs, fails: number): Evidence[] {
  const judged = hosts.filter((host) => host.requests(from, to) >= HOST_REQUESTS_MIN);
  if (judged.length === 0) return [];
  const failing = judged.filter((host) => host.errors(from, to) >= fails * host.requests(from, to)).length;
  const many = `${failing} of ${judged.length} hosts fail ${percent(fails)} of their requests or more`;
  const text =
    failing === 0
      ? `none of ${judged.length} hosts fails: they are slow, or there are more requests than the limit was made for`
      : failing >= judged.length / 3 && failing > 1
        ? `${many}: look at what they depend on, not at single hosts`
        : `${many}: look at these`;
  return [{ name: 'failing_hosts', value: failing, unit: '{host}', text }];
}

function toFinding(
  cluster: string,
  rejected: readonly Rejected[],
  hosts: readonly Evidence[],
  settings: DetectorSettings,
): Finding {
  const what = rejected.map(
    ({ reason, share, usual }) => `${percent(share)} (usual: ${percent(usual)}) because ${REASONS[reason] ?? reason}`,
  );
  const hint = hosts.length === 0 ? '' : ` ${capital(hosts[0]?.text ?? '')}.`;
  return {
    identity: identityOf(cluster),
    place: { cluster },
    severity: settings.severity,
    summary: `Balancers reject requests to cluster ${cluster} themselves: ${what.join('; ')}.${hint}`,
    evidence: [
      ...rejected.map(({ reason, count, share }) => ({
        name: `rejections_${reason}`,
        value: share,
        unit: '1',
        text: `${count} requests, ${percent(share)}, rejected: ${REASONS[reason] ?? reason}`,
      })),
      ...hosts,
    ],
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
