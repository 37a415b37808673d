import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { median } from '../base/median.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { labelsKey } from '../model/labels.ts';
import { reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type ErrorsBesidePeers, errorsFarAbove } from './host-errors.ts';
import { type HostCounters, type HostShare, hostIdentity, hostPlace, hostsByCluster, sharesOf } from './hosts.ts';
import { baselineEnd, isEvidenced } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { percent, timeText } from './words.ts';

/** How far back a host's usual share of the traffic is looked for. */
const USUAL_MS = 1_800_000;
/** Requests of the cluster that show, without one to the host, that the host is out. */
const JUDGED_BY = 30;
const STEP_MS = 10_000;

interface Sinkhole {
  readonly counters: HostCounters;
  readonly share: HostShare | null;
  readonly errors: ErrorsBesidePeers | null;
  readonly fast: { readonly time: number; readonly peers: number } | null;
  readonly drawn: { readonly now: number; readonly usual: number } | null;
  readonly ejections: number;
}

/**
 * A host fails at once, and by that looks idle to balancers that prefer idle hosts: they send it more and more. Told by
 * errors far above those of its peers, with answers far faster than theirs or a growing share of the traffic; or by one
 * balancer ejecting it again and again while its peers are well, which keeps the errors few.
 */
export const fastFailSinkhole: Detector = {
  name: ALERT.fastFailSinkhole,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const clear = new Set<string>();
    const reported = reportedClusters(view.balancers(now));
    const ejections = ejectionsByHost(view, epochMs(end - threshold(settings, 'ejectionsWithin')), end);
    for (const [cluster, hosts] of hostsOf(view, ejections)) {
      if (!reported.has(cluster)) continue;
      const judged = judge(hosts, end, ejections, input);
      holding.push(...judged.found.map((sinkhole) => toFinding(cluster, sinkhole, settings)));
      for (const key of judged.clear) clear.add(key);
    }
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

/** Hosts that take requests, and those that are only ever told to be ejected. */
function hostsOf(
  view: FeatureView,
  ejections: ReadonlyMap<string, Ejected>,
): ReadonlyMap<string, readonly HostCounters[]> {
  const clusters = new Map(hostsByCluster(view));
  for (const { cluster, host } of ejections.values()) {
    const hosts = clusters.get(cluster) ?? [];
    if (hosts.some((one) => one.host === host)) continue;
    const key = labelsKey(hostIdentity(cluster, host));
    const counters = {
      host,
      key,
      zone: null,
      firstDataAt: null,
      requests: () => 0,
      errors: () => 0,
      meanTime: () => null,
    };
    clusters.set(cluster, [...hosts, counters]);
  }
  return clusters;
}

function judge(
  hosts: readonly HostCounters[],
  end: EpochMs,
  ejections: ReadonlyMap<string, Ejected>,
  { settings, firingSince }: DetectionInput,
): { readonly found: readonly Sinkhole[]; readonly clear: readonly string[] } {
  const window = threshold(settings, 'window');
  const from = epochMs(end - window);
  const within = threshold(settings, 'ejectionsWithin');
  const lately = firingSince.size === 0 ? [] : sharesOf(hosts, epochMs(end - within), end);
  const newest = new Map(sharesOf(hosts, from, end).map((share) => [share.counters, share]));
  const steps = hosts.some(({ key }) => ejections.has(key)) ? stepsOf(hosts, epochMs(end - within), end) : [];
  const found: Sinkhole[] = [];
  const clear: string[] = [];
  for (const counters of hosts) {
    const { key } = counters;
    const share = newest.get(counters) ?? null;
    const count = ejectedAlone(ejections.get(key), counters, steps, settings);
    const errors = share === null ? null : farAbove(share, settings);
    const since = firingSince.get(key);
    const fast = errors === null ? null : fasterThanPeers(counters, hosts, from, end, settings);
    const drawn =
      share === null || errors === null ? null : shareDrawn(share, hosts, baselineEnd(from, window, since), settings);
    const recently = lately.find((one) => one.counters === counters);
    // What it did lately keeps it: ejections make a bad host look well for a while.
    const isLately = since !== undefined && recently !== undefined && farAbove(recently, settings) !== null;
    const isEjected = count >= threshold(settings, 'ejections');
    if (isEjected || isLately || (errors !== null && (fast !== null || drawn !== null))) {
      const shown = errors === null && isLately ? recently : share;
      const shownErrors = errors ?? (isLately ? farAbove(recently, settings) : null);
      found.push({ counters, share: shown, errors: shownErrors, fast, drawn, ejections: count });
    } else if (since !== undefined && isKnown(recently, lately)) clear.push(key);
  }
  return { found, clear };
}

/** Enough requests to be told well, or none at all while the others have some. */
const isKnown = (share: HostShare | undefined, all: readonly HostShare[]): boolean =>
  share === undefined ? all.some(({ events }) => events >= JUDGED_BY) : share.events >= JUDGED_BY;

const farAbove = (share: HostShare, settings: DetectorSettings): ErrorsBesidePeers | null =>
  errorsFarAbove(share, {
    chance: threshold(settings, 'chance'),
    timesPeers: threshold(settings, 'timesPeers'),
    above: threshold(settings, 'above'),
    minErrors: threshold(settings, 'minErrors'),
  });

/** Its mean time where that is far below the median of its peers' means. */
function fasterThanPeers(
  counters: HostCounters,
  hosts: readonly HostCounters[],
  from: EpochMs,
  end: EpochMs,
  settings: DetectorSettings,
): Sinkhole['fast'] {
  const time = counters.meanTime(from, end, threshold(settings, 'minExpected'));
  if (time === null) return null;
  const others = hosts.flatMap((other) => {
    const its = other === counters ? null : other.meanTime(from, end, threshold(settings, 'minExpected'));
    return its === null ? [] : [its];
  });
  const peers = median(others);
  return peers > 0 && time <= threshold(settings, 'timeShare') * peers ? { time, peers } : null;
}

/** Its share of the cluster's requests, where that is far above its own before, or above an equal one if it is new. */
function shareDrawn(
  { counters, events, othersEvents }: HostShare,
  hosts: readonly HostCounters[],
  before: EpochMs,
  settings: DetectorSettings,
): Sinkhole['drawn'] {
  const total = events + othersEvents;
  const from = epochMs(before - USUAL_MS);
  const own = counters.requests(from, before);
  const all = hosts.reduce((sum, host) => sum + host.requests(from, before), 0);
  const active = hosts.filter((host) => host.requests(from, before) > 0).length;
  const usual = own >= threshold(settings, 'minExpected') ? own / all : 1 / Math.max(2, active);
  const now = events / total;
  const rule = { minEvents: threshold(settings, 'minEvents'), minExpected: threshold(settings, 'minExpected') };
  if (!isEvidenced(events, usual * total, rule)) return null;
  return now >= threshold(settings, 'shareRise') * usual ? { now, usual } : null;
}

interface Ejected {
  readonly cluster: string;
  readonly host: string;
  /** The most that one balancer has ejected it. */
  readonly count: number;
  readonly series: readonly FeatureSeries[];
}

interface Step {
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** Of all hosts. */
  readonly requests: number;
  readonly errors: number;
}

function stepsOf(hosts: readonly HostCounters[], from: EpochMs, to: EpochMs): readonly Step[] {
  return Array.from({ length: Math.floor((to - from) / STEP_MS) }, (_, index): Step => {
    const start = epochMs(from + index * STEP_MS);
    const stop = epochMs(start + STEP_MS);
    const sum = (read: (host: HostCounters) => number): number => hosts.reduce((all, host) => all + read(host), 0);
    const requests = sum((host) => host.requests(start, stop));
    return { from: start, to: stop, requests, errors: sum((host) => host.errors(start, stop)) };
  });
}

/**
 * How often it was ejected while its peers were well. Of peers that fail a third of their requests none can be three
 * times as bad: what they all depend on is.
 */
function ejectedAlone(
  ejected: Ejected | undefined,
  counters: HostCounters,
  steps: readonly Step[],
  settings: DetectorSettings,
): number {
  if (ejected === undefined || ejected.count < threshold(settings, 'ejections')) return ejected?.count ?? 0;
  let count = 0;
  for (const { from, to, requests, errors } of steps) {
    const here = ejected.series.reduce((sum, one) => sum + one.range(from, to), 0);
    if (here === 0) continue;
    const failed = errors - counters.errors(from, to);
    const peersFail =
      failed >= threshold(settings, 'minErrors') &&
      threshold(settings, 'timesPeers') * failed >= requests - counters.requests(from, to);
    if (!peersFail) count += here;
  }
  return count;
}

function ejectionsByHost(view: FeatureView, from: EpochMs, to: EpochMs): ReadonlyMap<string, Ejected> {
  const perBalancer = new Map<string, Ejected>();
  for (const series of view.features('cluster.ejections')) {
    const cluster = series.labels.get('cluster');
    const host = series.labels.get('host');
    if (cluster === undefined || host === undefined) continue;
    const key = JSON.stringify([cluster, host, series.labels.get('balancer')]);
    const before = perBalancer.get(key);
    const count = (before?.count ?? 0) + series.range(from, to);
    perBalancer.set(key, { cluster, host, count, series: [...(before?.series ?? []), series] });
  }
  const found = new Map<string, Ejected>();
  for (const ejected of perBalancer.values()) {
    const key = labelsKey(hostIdentity(ejected.cluster, ejected.host));
    if (ejected.count > (found.get(key)?.count ?? 0)) found.set(key, ejected);
  }
  return found;
}

function toFinding(cluster: string, sinkhole: Sinkhole, settings: DetectorSettings): Finding {
  const { counters, errors, fast, drawn, ejections } = sinkhole;
  const isEjected = ejections >= threshold(settings, 'ejections');
  const what = [
    ...(errors === null
      ? []
      : [`fails ${percent(errors.ratio)} of its requests (its peers: ${percent(errors.peers)})`]),
    ...(fast === null ? [] : [`answers in ${timeText(fast.time)} (its peers: ${timeText(fast.peers)})`]),
    ...(drawn === null ? [] : [`draws ${percent(drawn.now)} of the traffic (usual: ${percent(drawn.usual)})`]),
    ...(isEjected ? [`was ejected ${ejections} times by one balancer`] : []),
  ];
  return {
    identity: hostIdentity(cluster, counters.host),
    place: hostPlace(cluster, counters),
    severity: settings.severity,
    summary: `Host ${counters.host} of cluster ${cluster} ${what.join(', ')}.`,
    evidence: evidenceOf(sinkhole, settings),
  };
}

function evidenceOf({ share, errors, fast, drawn, ejections }: Sinkhole, settings: DetectorSettings): Evidence[] {
  const evidence: Evidence[] = [];
  if (share !== null && errors !== null) {
    const of = share.failed + share.othersFailed;
    evidence.push(
      { name: 'ratio', value: errors.ratio, unit: '1', text: `${share.failed} of ${share.events} requests failed` },
      { name: 'peers', value: errors.peers, unit: '1', text: `its peers failed ${percent(errors.peers)} of theirs` },
      {
        name: 'share_of_errors',
        value: share.failed / of,
        unit: '1',
        text: `${percent(share.failed / of)} of the cluster's errors come from it`,
      },
    );
  }
  if (fast !== null) {
    const text = `answers in ${timeText(fast.time)} where its peers take ${timeText(fast.peers)}`;
    evidence.push({ name: 'time', value: fast.time, unit: 's', text });
  }
  if (drawn !== null) {
    const text = `share of traffic ${percent(drawn.usual)} to ${percent(drawn.now)}`;
    evidence.push({ name: 'share', value: drawn.now, unit: '1', text });
  }
  if (ejections > 0) {
    const minutes = Math.round(threshold(settings, 'ejectionsWithin') / 60_000);
    const text = `one balancer ejected it ${ejections} times in ${minutes} min`;
    evidence.push({ name: 'ejections', value: ejections, unit: '{ejection}', text });
  }
  return evidence;
}
