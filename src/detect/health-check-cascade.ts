import type { BalancerState, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { byCluster, type ClusterCounter, counterOf, largestByCluster, reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import type { DetectorSettings } from './settings.ts';
import { counted, percent } from './words.ts';

const STEP_MS = 10_000;
/** "At the same moment": the health now beside that of a minute before. */
const MOMENT_MS = 60_000;
/** A fleet that falls is told at once by those that fall first; the rest is looked for this long. */
const FOLLOWS_WITHIN_MS = 120_000;
const FLEET = labelsOf([['scope', 'fleet']]);
const NAMES_SHOWN = 5;
/** Of hosts, in sums of ratios. */
const ROUNDING = 1e-9;

/** What a window of readings says about one cluster. */
interface Health {
  readonly cluster: string;
  readonly pool: number;
  /** Length of the window that holds at least two pushes of each balancer. */
  readonly windowMs: number;
  /** Time in which every balancer pushes once. */
  readonly pushMs: number;
  readonly healthy: ClusterCounter;
  readonly due: ClusterCounter;
  readonly panic: ClusterCounter;
  readonly requests: ClusterCounter;
}

/**
 * Checks take most hosts of a cluster out, or hosts of many clusters within a minute. Hosts rarely die together: what
 * falls together is what their checks call. Many clusters at once are one finding, and the clusters in it none of their
 * own.
 */
export const healthCheckCascade: Detector = {
  name: ALERT.healthCheckCascade,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const clusters = clustersOf(view, now, settings);
    const fallen = fallenTogether(clusters, end, firingSince, settings);
    const holding: Finding[] = fallen.length === 0 ? [] : [fleetFinding(fallen, clusters.length, end, settings)];
    const inFleet = new Set(fallen.map(({ cluster }) => cluster));
    const early = fallen.length > 0 ? new Set() : toldTooEarly(clusters, end, firingSince, settings);
    const clear = new Set<string>(clusters.length > 0 ? [labelsKey(FLEET)] : []);
    for (const health of clusters) {
      const key = labelsKey(identityOf(health.cluster));
      if (shareIn(health, end) === null) continue;
      const finding = clusterFinding(health, end, settings);
      if (finding === null) clear.add(key);
      else if (early.has(health.cluster)) continue;
      else if (!inFleet.has(health.cluster) || firingSince.has(key)) holding.push(finding);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

const identityOf = (cluster: string): Labels => labelsOf([['cluster', cluster]]);

function clustersOf(view: FeatureView, now: EpochMs, settings: DetectorSettings): readonly Health[] {
  const balancers = view.balancers(now);
  const reported = reportedClusters(balancers);
  const pools = largestByCluster(view, 'cluster.hosts', now);
  const healthy = byCluster(view, 'cluster.hosts.healthy');
  const panic = byCluster(view, 'cluster.panic.requests');
  const requests = byCluster(view, 'cluster.requests');
  const slowest = slowestPush(balancers);
  return [...byCluster(view, 'cluster.hosts.due')].flatMap(([cluster, due]) => {
    if (!reported.has(cluster)) return [];
    const windowMs = Math.max(threshold(settings, 'window'), 2 * (slowest.get(cluster) ?? 0));
    const pool = pools.get(cluster) ?? 0;
    const counters = {
      healthy: counterOf(healthy, cluster),
      panic: counterOf(panic, cluster),
      requests: counterOf(requests, cluster),
    };
    const inSteps = (spanMs: number): number => Math.ceil(spanMs / STEP_MS) * STEP_MS;
    const pushMs = inSteps(Math.max(STEP_MS, slowest.get(cluster) ?? 0));
    return [{ cluster, pool, windowMs: inSteps(windowMs), pushMs, due, ...counters }];
  });
}

/** Longest push interval of those that report a cluster. */
function slowestPush(balancers: readonly BalancerState[]): ReadonlyMap<string, number> {
  const slowest = new Map<string, number>();
  for (const { stale, clusters, interval } of balancers) {
    if (stale) continue;
    for (const cluster of clusters) slowest.set(cluster, Math.max(interval, slowest.get(cluster) ?? 0));
  }
  return slowest;
}

/** Healthy share of the hosts over the window that ends there; null where nothing was read. */
function shareIn({ healthy, due, windowMs }: Health, to: EpochMs): number | null {
  const from = epochMs(to - windowMs);
  const all = due.range(from, to);
  return all > 0 ? Math.max(0, healthy.range(from, to)) / all : null;
}

/** Share that was lost within a moment before `at`, where it is enough to count as a fall; else null. */
function fallAt(health: Health, at: EpochMs, settings: DetectorSettings): { readonly before: number } | null {
  const before = shareIn(health, epochMs(at - MOMENT_MS - health.windowMs));
  const then = shareIn(health, at);
  if (before === null || then === null || before - then < threshold(settings, 'fallBy')) return null;
  // The means of windows: a host that went in the midst of one counts in part, so that fewer than `fallHosts` would
  // have lost at most one less, and any more than that shows them before the whole window has.
  const lost = (before - then) * health.pool;
  return lost > threshold(settings, 'fallHosts') - 1 + ROUNDING ? { before } : null;
}

/**
 * Clusters that lost hosts together: now, if they are enough of the fleet; or when the alert that fires began, as far
 * as they are still down. Empty = no cascade. Panic is told at once and health over a window, so that a cluster that
 * would only now be told by itself counts as one that falls.
 */
function fallenTogether(
  clusters: readonly Health[],
  end: EpochMs,
  firingSince: DetectionInput['firingSince'],
  settings: DetectorSettings,
): readonly Health[] {
  const since = firingSince.get(labelsKey(FLEET));
  const isNewlyBad = (health: Health): boolean =>
    !firingSince.has(labelsKey(identityOf(health.cluster))) && clusterFinding(health, end, settings) !== null;
  if (since === undefined) {
    const fallen = clusters.filter((health) => fallAt(health, end, settings) !== null || isNewlyBad(health));
    const isMany = fallen.length >= threshold(settings, 'fallClusters');
    return isMany && fallen.length >= threshold(settings, 'fallClusterShare') * clusters.length ? fallen : [];
  }
  const until = Math.min(end, since + FOLLOWS_WITHIN_MS);
  return clusters.filter((health) => {
    for (let at = since - MOMENT_MS; at <= until; at += STEP_MS) {
      const fall = fallAt(health, epochMs(Math.floor(at / STEP_MS) * STEP_MS), settings);
      const share = fall === null ? null : shareIn(health, end);
      if (fall !== null) return share === null || fall.before - share >= threshold(settings, 'fallBy') / 2;
    }
    return until === end && isNewlyBad(health);
  });
}

/**
 * Of several clusters that fall and are not yet many, those that had not fallen a push ago: hosts rarely die together,
 * so that the others are awaited for a push, and all of it is told once. One that falls alone is told at once.
 */
function toldTooEarly(
  clusters: readonly Health[],
  end: EpochMs,
  firingSince: DetectionInput['firingSince'],
  settings: DetectorSettings,
): ReadonlySet<string> {
  const newly = clusters.filter(
    (health) =>
      !firingSince.has(labelsKey(identityOf(health.cluster))) && clusterFinding(health, end, settings) !== null,
  );
  if (newly.length < 2) return new Set();
  const isFresh = (health: Health): boolean => clusterFinding(health, epochMs(end - health.pushMs), settings) === null;
  return new Set(newly.filter(isFresh).map(({ cluster }) => cluster));
}

function fleetFinding(fallen: readonly Health[], known: number, end: EpochMs, { severity }: DetectorSettings): Finding {
  const down = fallen.filter((health) => shareIn(health, end) === 0);
  const names = fallen.map(({ cluster }) => cluster);
  const shown = names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', ...' : '');
  return {
    identity: FLEET,
    place: {},
    clusters: names,
    severity,
    summary: `Hosts of ${fallen.length} of ${known} clusters became unhealthy at the same moment: look at what their checks call.`,
    evidence: [
      {
        name: 'clusters',
        value: fallen.length,
        unit: '{cluster}',
        text: `${counted(fallen.length, 'cluster')} (${shown})`,
      },
      {
        name: 'clusters_without_hosts',
        value: down.length,
        unit: '{cluster}',
        text: `${counted(down.length, 'cluster')} without a healthy host`,
      },
    ],
  };
}

/** A cluster with fewer hosts than are left to chance is judged only together with others. */
function clusterFinding(health: Health, end: EpochMs, settings: DetectorSettings): Finding | null {
  const { cluster, pool, windowMs, panic, requests } = health;
  const share = shareIn(health, end);
  if (share === null || pool < threshold(settings, 'minHosts')) return null;
  const from = epochMs(end - windowMs);
  const panicked = panic.range(from, end);
  const all = Math.max(panicked, requests.range(from, end));
  const isPanicking =
    panicked >= threshold(settings, 'panicRequests') && panicked >= threshold(settings, 'panicShare') * all;
  if (share >= threshold(settings, 'healthyShare') && !isPanicking) return null;
  const evidence: Evidence[] = [
    { name: 'healthy_share', value: share, unit: '1', text: `${percent(share)} of ${counted(pool, 'host')} healthy` },
  ];
  if (panicked > 0) {
    const text = `${panicked} requests (${percent(panicked / all)}) sent to hosts regardless of their health`;
    evidence.push({ name: 'panic_requests', value: panicked, unit: '{request}', text });
  }
  return {
    identity: identityOf(cluster),
    place: { cluster },
    severity: settings.severity,
    summary: isPanicking
      ? `Balancers send requests of cluster ${cluster} to hosts regardless of their health: ${percent(share)} are healthy.`
      : `Only ${percent(share)} of the hosts of cluster ${cluster} are healthy.`,
    evidence,
  };
}
