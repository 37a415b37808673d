import { median } from '../base/median.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { reportedClusters } from './clusters.ts';
import {
  type Detection,
  type DetectionInput,
  type Detector,
  type Finding,
  nothingKnown,
  threshold,
} from './detector.ts';
import { type ErrorRule, type ErrorsBesidePeers, errorsFarAbove } from './host-errors.ts';
import { type HostCounters, hostIdentity, hostPlace, hostsByCluster, sharesOf } from './hosts.ts';
import { deviationsAbove, toBaseline, windowsBefore } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { percent, timesText, timeText } from './words.ts';

/** Fewer hosts with a known time say nothing about how far their times usually lie apart. */
const TIMED_PEERS_MIN = 4;
/** A slow host lies so many standard deviations of its peers above their median, a spread being at least this share. */
const DEVIATIONS = 6;
const LEAST_SPREAD = 0.1;
/** Requests to a host that was bad which show that it is good again. */
const JUDGED_BY = 30;

interface Outlier {
  readonly counters: HostCounters;
  readonly errors: ErrorsBesidePeers | null;
  readonly slow: { readonly time: number; readonly peers: number } | null;
  readonly events: number;
  readonly failed: number;
  readonly windowMs: number;
}

/**
 * One host answers with far more errors, or far more slowly, than the other hosts of its cluster do in the same
 * minutes: it is the host, not what all of them depend on. A short window finds a busy host soon, a long one a quiet
 * host at all; it has to stand out in two windows running. Once found it stays so until the long window is clean,
 * because ejections make the errors of a bad host come and go.
 */
export const hostOutlier: Detector = {
  name: ALERT.hostOutlier,
  detect(input: DetectionInput): Detection {
    const { view, now, settings, firingSince } = input;
    const end = view.watermark(now);
    if (end === null) return nothingKnown(input);
    const holding: Finding[] = [];
    const clear = new Set<string>();
    const reported = reportedClusters(view.balancers(now));
    const lengths = [threshold(settings, 'window'), threshold(settings, 'longWindow')];
    for (const [cluster, hosts] of hostsByCluster(view)) {
      if (!reported.has(cluster)) continue;
      const isFiring = ({ key }: HostCounters): boolean => firingSince.has(key);
      const found = new Map<string, Outlier>();
      for (const length of lengths) {
        for (const outlier of outliersOf(hosts, end, length, settings, isFiring)) {
          const { key } = outlier.counters;
          if (!found.has(key)) found.set(key, outlier);
        }
      }
      holding.push(...[...found.values()].map((outlier) => toFinding(cluster, outlier, settings)));
      if (firingSince.size === 0) continue;
      for (const key of cleared(hosts, end, lengths)) clear.add(key);
    }
    // What no balancer reports, or has told too little of, is not over.
    return { holding, undecided: new Set([...firingSince.keys()].filter((key) => !clear.has(key))) };
  },
};

/** Hosts that stand out in as many windows running as are asked for; one that fires already, in the newest. */
function outliersOf(
  hosts: readonly HostCounters[],
  end: EpochMs,
  windowMs: number,
  settings: DetectorSettings,
  isFiring: (counters: HostCounters) => boolean,
): readonly Outlier[] {
  const [newest, ...before] = windowsBefore(end, windowMs, threshold(settings, 'windows'));
  if (newest === undefined) return [];
  const candidates = standingOut(hosts, newest, settings);
  const isRunning = ({ counters }: Outlier): boolean =>
    before.every((window) => standingOut(hosts, window, settings).some((one) => one.counters === counters));
  return candidates.filter((one) => isFiring(one.counters) || isRunning(one));
}

function standingOut(
  hosts: readonly HostCounters[],
  [from, to]: readonly [EpochMs, EpochMs],
  settings: DetectorSettings,
): readonly Outlier[] {
  const rule: ErrorRule = {
    chance: threshold(settings, 'chance'),
    timesPeers: threshold(settings, 'timesPeers'),
    above: threshold(settings, 'above'),
    minErrors: threshold(settings, 'minErrors'),
  };
  const shares = sharesOf(hosts, from, to);
  const slow = slowHosts(shares, from, to, settings);
  return shares.flatMap((share) => {
    const errors = errorsFarAbove(share, rule);
    const time = slow.get(share.counters) ?? null;
    if (errors === null && time === null) return [];
    const { counters, events, failed } = share;
    return [{ counters, errors, slow: time, events, failed, windowMs: to - from }];
  });
}

/** Hosts whose mean time is many times, and many deviations above, the median of their peers' means. */
function slowHosts(
  shares: readonly { readonly counters: HostCounters }[],
  from: EpochMs,
  to: EpochMs,
  settings: DetectorSettings,
): ReadonlyMap<HostCounters, { readonly time: number; readonly peers: number }> {
  const minEvents = threshold(settings, 'minEvents');
  const timed = shares.flatMap(({ counters }) => {
    const time = counters.meanTime(from, to, minEvents);
    return time === null ? [] : [{ counters, time }];
  });
  const slow = new Map<HostCounters, { time: number; peers: number }>();
  if (timed.length <= TIMED_PEERS_MIN) return slow;
  const all = median(timed.map(({ time }) => time));
  for (const one of timed) {
    if (one.time < threshold(settings, 'timesPeers') * all) continue;
    const peers = toBaseline(timed.filter((other) => other !== one).map(({ time }) => time));
    if (peers === null || one.time < threshold(settings, 'timesPeers') * peers.middle || peers.middle <= 0) continue;
    if (deviationsAbove(one.time, peers, LEAST_SPREAD * peers.middle) < DEVIATIONS) continue;
    slow.set(one.counters, { time: one.time, peers: peers.middle });
  }
  return slow;
}

/** Hosts that can be told to be well: enough requests lately, or none at all while others have some. */
function cleared(hosts: readonly HostCounters[], end: EpochMs, lengths: readonly number[]): readonly string[] {
  const from = epochMs(end - Math.max(...lengths));
  const counts = hosts.map((counters) => counters.requests(from, end));
  const hasTraffic = counts.some((count) => count >= JUDGED_BY);
  return hosts.flatMap((counters, index) => {
    const count = counts[index] ?? 0;
    return count >= JUDGED_BY || (count === 0 && hasTraffic) ? [counters.key] : [];
  });
}

function toFinding(cluster: string, outlier: Outlier, settings: DetectorSettings): Finding {
  const { counters, errors, slow, events, failed, windowMs } = outlier;
  const what = [
    ...(errors === null
      ? []
      : [`fails ${percent(errors.ratio)} of its requests (its peers: ${percent(errors.peers)})`]),
    ...(slow === null ? [] : [`takes ${timeText(slow.time)} a request (its peers: ${timeText(slow.peers)})`]),
  ];
  const minutes = Math.round(windowMs / 60_000);
  const evidence: Evidence[] = [];
  if (errors !== null) {
    const { ratio, peers, logChance } = errors;
    evidence.push(
      { name: 'ratio', value: ratio, unit: '1', text: `${failed} of ${events} requests failed in ${minutes} min` },
      { name: 'peers', value: peers, unit: '1', text: `its peers failed ${percent(peers)} of theirs` },
      { name: 'log10_chance', value: logChance / Math.LN10, unit: '1', text: chanceText(logChance) },
    );
  }
  if (slow !== null) {
    evidence.push(
      { name: 'time', value: slow.time, unit: 's', text: `${timeText(slow.time)} a request on average` },
      {
        name: 'peers_time',
        value: slow.peers,
        unit: 's',
        text: `its peers take ${timeText(slow.peers)}: it is ${timesText(slow.time / slow.peers)} as slow`,
      },
    );
  }
  return {
    identity: hostIdentity(cluster, counters.host),
    place: hostPlace(cluster, counters),
    severity: settings.severity,
    summary: `Host ${counters.host} of cluster ${cluster} ${what.join(' and ')}.`,
    evidence,
  };
}

const chanceText = (logChance: number): string =>
  `a host as good as its peers fails as often once in 10^${Math.min(300, Math.floor(-logChance / Math.LN10))} windows`;
