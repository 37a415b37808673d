import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';
import type { Place } from '../model/alert.ts';
import { type Labels, labelsKey, labelsOf } from '../model/labels.ts';
import { sumOf as sumsOf } from './sums.ts';

/**
 * One host of a cluster. Several balancers send it requests: their counts are one (the cells carry no balancer), and so
 * are those of balancers that name its zone and of those that do not.
 */
export interface HostCounters {
  readonly host: string;
  /** `labelsKey` of its identity as the subject of an alert. */
  readonly key: string;
  readonly zone: string | null;
  /** When it took its first request; null = never. */
  readonly firstDataAt: EpochMs | null;
  requests(from: EpochMs, to: EpochMs): number;
  errors(from: EpochMs, to: EpochMs): number;
  /** Mean time of a request in seconds; null where too few of its requests have a known time. */
  meanTime(from: EpochMs, to: EpochMs, minEvents: number): number | null;
}

type Series = readonly FeatureSeries[];
interface Draft {
  readonly host: string;
  zone: string | null;
  readonly requests: FeatureSeries[];
  errors: Series;
  timed: Series;
  duration: Series;
}

const MICROSECONDS = 1e6;
const NONE: Series = [];

type Hosts = ReadonlyMap<string, readonly HostCounters[]>;

/** What was built last from the same lists of series, which the cells keep until a series is added. */
const built = new WeakMap<object, { readonly sources: readonly object[]; readonly hosts: Hosts }>();

/** Hosts by cluster, both in the order of their names. */
export function hostsByCluster(view: FeatureView): Hosts {
  const names = ['host.requests', 'host.errors', 'host.timed', 'host.duration'] as const;
  const sources = names.map((name) => view.features(name));
  const [requests, errors, timed, duration] = sources as [Source, Source, Source, Source];
  const last = built.get(requests);
  if (last?.sources.every((source, index) => source === sources[index])) return last.hosts;
  const hosts = buildHosts(requests, { errors, timed, duration });
  built.set(requests, { sources, hosts });
  return hosts;
}

type Source = Iterable<FeatureSeries>;

function buildHosts(requests: Source, rest: Readonly<Record<'errors' | 'timed' | 'duration', Source>>): Hosts {
  const clusters = new Map<string, Map<string, Draft>>();
  for (const series of requests) {
    const cluster = series.labels.get('cluster');
    const host = series.labels.get('host');
    if (cluster === undefined || host === undefined) continue;
    const hosts = clusters.get(cluster) ?? new Map<string, Draft>();
    clusters.set(cluster, hosts);
    const zone = series.labels.get('zone') ?? null;
    const known = hosts.get(host);
    if (known === undefined) {
      hosts.set(host, { host, zone, requests: [series], errors: NONE, timed: NONE, duration: NONE });
    } else {
      known.requests.push(series);
      known.zone ??= zone;
    }
  }
  for (const field of ['errors', 'timed', 'duration'] as const) {
    for (const series of rest[field]) {
      const draft = clusters.get(series.labels.get('cluster') ?? '')?.get(series.labels.get('host') ?? '');
      if (draft !== undefined) draft[field] = [...draft[field], series];
    }
  }
  const ordered = [...clusters].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(
    ordered.map(([cluster, hosts]) => [
      cluster,
      [...hosts.values()].sort(byName).map((draft) => toCounters(cluster, draft)),
    ]),
  );
}

const byName = (a: Draft, b: Draft): number => (a.host < b.host ? -1 : 1);

const sumOf = (series: Series, from: EpochMs, to: EpochMs): number => {
  let total = 0;
  for (const one of series) total += one.range(from, to);
  return total;
};

const toCounters = (cluster: string, { host, zone, requests, errors, timed, duration }: Draft): HostCounters => ({
  host,
  key: labelsKey(hostIdentity(cluster, host)),
  zone,
  get firstDataAt() {
    return sumsOf(requests).firstDataAt;
  },
  requests: (from, to) => sumOf(requests, from, to),
  errors: (from, to) => sumOf(errors, from, to),
  meanTime(from, to, minEvents) {
    const count = sumOf(timed, from, to);
    return count < Math.max(1, minEvents) ? null : sumOf(duration, from, to) / count / MICROSECONDS;
  },
});

export const hostIdentity = (cluster: string, host: string): Labels =>
  labelsOf([
    ['cluster', cluster],
    ['host', host],
  ]);

export const hostPlace = (cluster: string, { host, zone }: HostCounters): Place =>
  zone === null ? { cluster, host } : { cluster, host, zone };

/** What one host did in a window, beside all other hosts of its cluster. */
export interface HostShare {
  readonly counters: HostCounters;
  readonly events: number;
  readonly failed: number;
  readonly othersEvents: number;
  readonly othersFailed: number;
}

/** Hosts that took requests in (from, to]. */
export function sharesOf(hosts: readonly HostCounters[], from: EpochMs, to: EpochMs): readonly HostShare[] {
  const counted = hosts.flatMap((counters) => {
    const events = counters.requests(from, to);
    return events > 0 ? [{ counters, events, failed: Math.min(events, counters.errors(from, to)) }] : [];
  });
  let events = 0;
  let failed = 0;
  for (const one of counted) {
    events += one.events;
    failed += one.failed;
  }
  return counted.map((one) => ({ ...one, othersEvents: events - one.events, othersFailed: failed - one.failed }));
}

/** Capacity by host, the largest that any balancer says. */
export function capacitiesOf(view: FeatureView, now: EpochMs): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const clusters = new Map<string, Map<string, number>>();
  for (const { labels, value } of view.gauges('host.capacity', now)) {
    const cluster = labels.get('cluster');
    const host = labels.get('host');
    if (cluster === undefined || host === undefined || !(value > 0)) continue;
    const hosts = clusters.get(cluster) ?? new Map<string, number>();
    clusters.set(cluster, hosts);
    hosts.set(host, Math.max(value, hosts.get(host) ?? 0));
  }
  return clusters;
}
