import type { BalancerState, FeatureView } from '../aggregate/features.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Evidence } from '../model/alert.ts';
import { cpuReader } from './balancer-cpu.ts';
import { baselineRatio } from './baseline.ts';
import { logBinomialTail } from './binomial.ts';
import { byCluster, counterOf } from './clusters.ts';
import { threshold } from './detector.ts';
import { distributionOf } from './distribution.ts';
import { namesText } from './regions.ts';
import { baselineBefore } from './robust-stats.ts';
import type { DetectorSettings } from './settings.ts';
import { type Summed, sumWhere } from './sums.ts';
import { percent, timeText } from './words.ts';

const ADDED = 'lb.added.duration';
/** Steps with a nearly full queue that the window must hold: one may be a pause of the process. */
const FULL_STEPS_MIN = 2;

/** Balancers that a service shares, the other services on them, and when they are looked at. */
export interface Neighbourhood {
  readonly balancers: readonly BalancerState[];
  /** Clusters of the others. */
  readonly clusters: readonly string[];
  /** Listeners of the service itself. */
  readonly listeners: readonly string[];
  readonly from: EpochMs;
  readonly end: EpochMs;
  /** What is usual ends here. */
  readonly until: EpochMs;
  /** Factor on the limits: below 1 while the alert fires. */
  readonly stays: number;
}

export interface Harm {
  /** Empty where the others are as well as ever. */
  readonly found: readonly Evidence[];
  /** What is not told, so that it can neither be found nor ruled out. */
  readonly untold: readonly string[];
}

/** What the other services suffer, by figures of their own or of what they share. */
export function harmOf(view: FeatureView, settings: DetectorSettings, where: Neighbourhood): Harm {
  const parts = [
    addedOf(view, settings, where),
    errorsOf(view, settings, where),
    handshakesOf(view, settings, where),
    queuesOf(view, settings, where),
    cpuOf(view, settings, where),
  ];
  return {
    found: parts.flatMap((part) => (part === null || typeof part === 'string' ? [] : [part])),
    untold: parts.filter((part) => typeof part === 'string'),
  };
}

/** Evidence, what is not told, or null = as ever. */
type Part = Evidence | string | null;

/** At least half of those that can be judged: what befalls a single one is its own. */
const isCommon = (harmed: number, judged: number): boolean => harmed > 0 && 2 * harmed >= judged;

/** When the oldest balancer was first heard: histograms reach back no further. */
const historyOf = (balancers: readonly BalancerState[]): EpochMs =>
  epochMs(Math.min(...balancers.map(({ firstSeenAt }) => firstSeenAt)));

function addedOf(view: FeatureView, settings: DetectorSettings, where: Neighbourhood): Part {
  const minEvents = threshold(settings, 'minEvents');
  const first = historyOf(where.balancers);
  const added = view.histograms(ADDED);
  const judged = where.clusters.flatMap((cluster) => {
    const series = added.filter(({ labels }) => labels.get('cluster') === cluster);
    const lately = distributionOf(series, where.from, where.end);
    const p99 = lately.count < minEvents ? null : lately.quantile(0.99);
    if (p99 === null) return [];
    const usual = baselineBefore(first, where.until, (from, to) => {
      const one = distributionOf(series, from, to);
      return one.count < minEvents ? null : one.quantile(0.99);
    });
    return usual === null ? [] : [{ cluster, p99, usual: usual.middle }];
  });
  if (judged.length === 0) return 'the latency that balancers add, by cluster';
  const slow = judged
    .filter(
      ({ p99, usual }) =>
        p99 >= where.stays * threshold(settings, 'addedAboveUsual') * usual &&
        (p99 - usual) * 1000 >= where.stays * threshold(settings, 'addedRise'),
    )
    .sort((a, b) => b.p99 - a.p99);
  const [worst] = slow;
  if (worst === undefined || !isCommon(slow.length, judged.length)) return null;
  const others = othersText(
    { others: slow.map(({ cluster }) => ({ name: cluster })), judged: judged.length },
    'are slower',
  );
  const text = `${others}: balancers add ${timeText(worst.p99)} at p99 to ${worst.cluster} (usual: ${timeText(worst.usual)})`;
  return { name: 'others_added_p99', value: worst.p99, unit: 's', text };
}

function errorsOf(view: FeatureView, settings: DetectorSettings, where: Neighbourhood): Part {
  const requests = byCluster(view, 'cluster.requests');
  const errors = byCluster(view, 'cluster.errors');
  const others = where.clusters.map((name) => ({
    name,
    whole: counterOf(requests, name),
    part: counterOf(errors, name),
  }));
  const failing = failingOf(others, settings, where);
  if (failing === null) return 'requests of others by cluster';
  const [worst] = failing.others;
  if (worst === undefined) return null;
  const text = `${othersText(failing, 'fail')}: ${percent(worst.share)} of the requests to ${worst.name} (usual: ${percent(worst.usual)})`;
  return { name: 'others_errors', value: worst.share, unit: '1', text };
}

/** Clients of others that do not get as far as a request. */
function handshakesOf(view: FeatureView, settings: DetectorSettings, where: Neighbourhood): Part {
  const ids = new Set(where.balancers.map(({ id }) => id));
  const of = (name: 'tls.handshakes' | 'tls.handshakes.failed', listener: string): Summed =>
    sumWhere(view, name, (labels) => labels.get('listener') === listener && ids.has(labels.get('balancer') ?? ''));
  const listeners = new Set<string>();
  for (const { labels } of view.features('tls.handshakes')) {
    const listener = labels.get('listener');
    if (listener !== undefined && !where.listeners.includes(listener)) listeners.add(listener);
  }
  const others = [...listeners].map((name) => {
    const [done, part] = [of('tls.handshakes', name), of('tls.handshakes.failed', name)];
    const range = (from: EpochMs, to: EpochMs): number => done.range(from, to) + part.range(from, to);
    return { name, part, whole: { firstDataAt: done.firstDataAt, range } };
  });
  const failing = failingOf(others, settings, where);
  if (failing === null) return 'handshakes of others by listener';
  const [worst] = failing.others;
  if (worst === undefined) return null;
  const text = `clients of ${othersText(failing, 'cannot connect')}: ${percent(worst.share)} of the handshakes of ${worst.name} fail (usual: ${percent(worst.usual)})`;
  return { name: 'others_handshakes', value: worst.share, unit: '1', text };
}

interface Failing {
  /** Worst first; empty where fewer than half fail. */
  readonly others: readonly { readonly name: string; readonly share: number; readonly usual: number }[];
  readonly judged: number;
}

const othersText = (
  { others, judged }: { readonly others: readonly { readonly name: string }[]; readonly judged: number },
  what: string,
): string => `${others.length} of ${judged} other services ${what} (${namesText(others.map(({ name }) => name))})`;

/** Null where none can be judged. */
function failingOf(
  all: readonly { readonly name: string; readonly part: Summed; readonly whole: Summed }[],
  settings: DetectorSettings,
  where: Neighbourhood,
): Failing | null {
  const above = threshold(settings, 'errorsAboveUsual');
  const judged = all.flatMap(({ name, part, whole }) => {
    const events = whole.range(where.from, where.end);
    if (events < threshold(settings, 'minEvents')) return [];
    const usual = baselineRatio(part, whole, where.until, threshold(settings, 'minExpected'));
    return usual === null ? [] : [{ name, events, failed: part.range(where.from, where.end), usual }];
  });
  if (judged.length === 0) return null;
  const failing = judged.filter(({ events, failed, usual }) => {
    const limit = Math.max(threshold(settings, 'minErrors'), above * usual);
    if (failed < where.stays * limit * events) return false;
    return logBinomialTail(failed, events, limit / above) <= Math.log(threshold(settings, 'chance'));
  });
  if (!isCommon(failing.length, judged.length)) return { others: [], judged: judged.length };
  const others = failing.map(({ name, events, failed, usual }) => ({ name, share: failed / events, usual }));
  return { others: others.sort((a, b) => b.share - a.share), judged: judged.length };
}

/** Queues of other listeners, or the one that all of them share. */
function queuesOf(view: FeatureView, settings: DetectorSettings, where: Neighbourhood): Part {
  const ids = new Set(where.balancers.map(({ id }) => id));
  const limits = new Map(
    [...view.gauges('accept_queue.limit', where.end)].map(({ labels, value }) => [
      `${labels.get('balancer')} ${labels.get('listener')}`,
      value,
    ]),
  );
  const queues = [...view.peaks('accept_queue.length')].filter(
    ({ labels }) => ids.has(labels.get('balancer') ?? '') && !where.listeners.includes(labels.get('listener') ?? ''),
  );
  if (queues.length === 0) return 'accept queues';
  const share = where.stays * threshold(settings, 'queueFull');
  const full = queues.filter((queue) => {
    const { labels } = queue;
    const limit = limits.get(`${labels.get('balancer')} ${labels.get('listener')}`) ?? 0;
    if (limit <= 0) return false;
    return queue.peaks(where.from, where.end).filter(({ value }) => value >= share * limit).length >= FULL_STEPS_MIN;
  });
  if (full.length === 0) return null;
  const names = namesText(full.map(({ labels }) => labels.get('balancer') ?? ''));
  const text = `accept queues that others wait in are full: ${full.length} of ${queues.length} (at ${names})`;
  return { name: 'others_queue', value: full.length, unit: '{queue}', text };
}

/** CPU of the balancers that are shared: without it everybody waits. */
function cpuOf(view: FeatureView, settings: DetectorSettings, where: Neighbourhood): Part {
  const cpu = cpuReader(view);
  const told = new Set(cpu.balancers);
  const known = where.balancers.flatMap(({ id }) => {
    if (!told.has(id)) return [];
    const { busy, all } = cpu.read(id, where.from, where.end);
    return all > 0 ? [{ id, busy, all, share: busy / all }] : [];
  });
  if (known.length === 0) return 'CPU of balancers';
  const limit = where.stays * threshold(settings, 'cpu');
  const hot = known.filter(({ share }) => share >= limit);
  if (!isCommon(hot.length, known.length)) return null;
  const mean = known.reduce((sum, { busy }) => sum + busy, 0) / known.reduce((sum, { all }) => sum + all, 0);
  const usual = baselineBefore(historyOf(where.balancers), where.until, (from, to) => {
    const sums = known.map(({ id }) => cpu.read(id, from, to));
    const all = sums.reduce((sum, one) => sum + one.all, 0);
    return all > 0 ? sums.reduce((sum, one) => sum + one.busy, 0) / all : null;
  })?.middle;
  // Balancers that are always full are not filled by what has changed.
  if (usual === undefined || usual >= limit) return null;
  const text = `CPU of ${hot.length} of ${known.length} shared balancers is above ${percent(limit)}: ${percent(mean)} in the mean (usual: ${percent(usual)})`;
  return { name: 'shared_cpu', value: mean, unit: '1', text };
}
