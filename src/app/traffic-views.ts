import type { FeatureName, FeatureSeries, FeatureView } from '../aggregate/features.ts';
import { formatInstant } from '../base/instant.ts';
import { type EpochMs, epochMs, SECOND } from '../base/units.ts';
import { hostsByCluster } from '../detect/hosts.ts';
import { type Summed, sumOf } from '../detect/sums.ts';
import type { CertificateView, RedBy, RedRowView, RedView, TlsRowView, TlsView } from '../model/history-views.ts';
import { heardSince, stepFor, stepsOf } from './time-steps.ts';

/** Fewer timed requests have no mean worth showing. */
const TIMED_MIN = 1;
const SHOWN_MAX = 1000;

/** One row before its window is read. */
interface Counted {
  readonly name: string;
  readonly cluster: string | null;
  readonly zone: string | null;
  readonly requests: Pick<Summed, 'range'>;
  readonly errors: Pick<Summed, 'range'>;
  readonly meanTime: (from: EpochMs, to: EpochMs) => number | null;
}

/** Rate, errors and durations of the last `seconds`, those with most requests first. */
export function red(
  view: FeatureView,
  { by, seconds }: { readonly by: RedBy; readonly seconds: number },
  now: EpochMs,
): RedView | null {
  const to = view.watermark(now);
  if (to === null) return null;
  const from = epochMs(Math.max(to - seconds * SECOND, heardSince(view, now)));
  const counted = countedBy(view, by, now);
  const rows = counted.map((one) => toRow(one, from, to)).filter(({ requests }) => requests > 0);
  const stepMs = stepFor(to - from, 10 * SECOND);
  const points = stepsOf(from, to, stepMs).map(([a, b]) => {
    const [requests, errors] = counted.reduce(
      (sums, one) => [sums[0] + one.requests.range(a, b), sums[1] + one.errors.range(a, b)] as const,
      [0, 0] as readonly [number, number],
    );
    return {
      at: formatInstant(b),
      perSecond: (requests * SECOND) / (b - a),
      errorRatio: requests > 0 ? errors / requests : null,
    };
  });
  return {
    by,
    from: formatInstant(from),
    to: formatInstant(to),
    rows: rows.sort((a, b) => b.requests - a.requests || (a.name < b.name ? -1 : 1)).slice(0, SHOWN_MAX),
    stepSeconds: stepMs / 1000,
    points,
  };
}

function toRow({ name, cluster, zone, requests, errors, meanTime }: Counted, from: EpochMs, to: EpochMs): RedRowView {
  const count = requests.range(from, to);
  const failed = Math.min(count, errors.range(from, to));
  return {
    name,
    cluster,
    zone,
    requests: count,
    perSecond: (count * SECOND) / (to - from),
    errors: failed,
    errorRatio: count > 0 ? failed / count : null,
    meanSeconds: meanTime(from, to),
  };
}

function countedBy(view: FeatureView, by: RedBy, now: EpochMs): readonly Counted[] {
  switch (by) {
    case 'host':
      return hosts(view);
    case 'cluster':
      return byLabel(view, ['cluster.requests', 'cluster.errors'], ({ labels }) => labels.get('cluster'));
    case 'zone':
      return byLabel(view, ['cluster.requests', 'cluster.errors'], ({ labels }) => labels.get('zone'));
    case 'balancer':
      return byLabel(view, ['balancer.requests', 'balancer.errors'], ({ labels }) => labels.get('balancer'));
    case 'configVersion': {
      const versions = new Map(
        view.configs(now).flatMap(({ balancer, version, current }) => (current ? [[balancer, version] as const] : [])),
      );
      const version = ({ labels }: FeatureSeries) => versions.get(labels.get('balancer') ?? '');
      return byLabel(view, ['balancer.requests', 'balancer.errors'], version);
    }
  }
}

function hosts(view: FeatureView): readonly Counted[] {
  return [...hostsByCluster(view)].flatMap(([cluster, found]) =>
    found.map((host) => ({
      name: host.host,
      cluster,
      zone: host.zone,
      requests: { range: (from: EpochMs, to: EpochMs) => host.requests(from, to) },
      errors: { range: (from: EpochMs, to: EpochMs) => host.errors(from, to) },
      meanTime: (from: EpochMs, to: EpochMs) => host.meanTime(from, to, TIMED_MIN),
    })),
  );
}

function byLabel(
  view: FeatureView,
  [requests, errors]: readonly [FeatureName, FeatureName],
  nameOf: (series: FeatureSeries) => string | undefined,
): readonly Counted[] {
  const failed = grouped(view, errors, nameOf);
  return [...grouped(view, requests, nameOf)].map(([name, series]) => ({
    name,
    cluster: null,
    zone: null,
    requests: sumOf(series),
    errors: sumOf(failed.get(name) ?? []),
    meanTime: () => null,
  }));
}

export function grouped(
  view: FeatureView,
  name: FeatureName,
  nameOf: (series: FeatureSeries) => string | undefined,
): ReadonlyMap<string, readonly FeatureSeries[]> {
  const found = new Map<string, FeatureSeries[]>();
  for (const series of view.features(name)) {
    const key = nameOf(series);
    if (key === undefined) continue;
    const list = found.get(key);
    if (list === undefined) found.set(key, [series]);
    else list.push(series);
  }
  return found;
}

/** Handshakes with clients of the last `seconds`, and the certificates that balancers serve. */
export function tls(view: FeatureView, { seconds }: { readonly seconds: number }, now: EpochMs): TlsView | null {
  const to = view.watermark(now);
  if (to === null) return null;
  const from = epochMs(Math.max(to - seconds * SECOND, heardSince(view, now)));
  const stepMs = stepFor(to - from, 10 * SECOND);
  const zoneOf = new Map(view.balancers(now).map(({ id, zone }) => [id, zone]));
  const all = tlsRow('', [...view.features('tls.handshakes')], []);
  const rows = (nameOf: (series: FeatureSeries) => string | undefined): readonly TlsRowView[] => {
    const failed = grouped(view, 'tls.handshakes.failed', nameOf);
    return [...grouped(view, 'tls.handshakes', nameOf)]
      .map(([name, series]) => tlsRow(name, series, failed.get(name) ?? [])(from, to))
      .filter((row) => row.full + row.resumed + row.failed > 0)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, SHOWN_MAX);
  };
  return {
    from: formatInstant(from),
    to: formatInstant(to),
    stepSeconds: stepMs / 1000,
    points: stepsOf(from, to, stepMs).map(([a, b]) => {
      const { full, resumed, resumption } = all(a, b);
      return { at: formatInstant(b), perSecond: ((full + resumed) * SECOND) / (b - a), resumption };
    }),
    zones: rows(({ labels }) => zoneOf.get(labels.get('balancer') ?? '') ?? undefined),
    balancers: rows(({ labels }) => labels.get('balancer')),
    certificates: certificates(view, now),
  };
}

/** Handshakes that do not say whether they were resumed count as full, and give no resumption by themselves. */
function tlsRow(name: string, series: readonly FeatureSeries[], failed: readonly FeatureSeries[]) {
  const resumed = sumOf(series.filter(({ labels }) => labels.get('resumed') === 'true'));
  const said = sumOf(series.filter(({ labels }) => labels.get('resumed') !== undefined));
  const all = sumOf(series);
  const failures = sumOf(failed);
  return (from: EpochMs, to: EpochMs): TlsRowView => {
    const [again, told] = [resumed.range(from, to), said.range(from, to)];
    return {
      name,
      full: all.range(from, to) - again,
      resumed: again,
      failed: failures.range(from, to),
      resumption: told > 0 ? again / told : null,
    };
  };
}

function certificates(view: FeatureView, now: EpochMs): readonly CertificateView[] {
  const found = new Map<string, { balancers: string[]; notAfter: EpochMs; renewedAt: EpochMs | null }>();
  for (const { name, balancer, notAfter, renewedAt } of view.certificates(now)) {
    const known = found.get(name);
    if (known === undefined) {
      found.set(name, { balancers: [balancer], notAfter, renewedAt });
      continue;
    }
    known.balancers.push(balancer);
    known.notAfter = epochMs(Math.min(known.notAfter, notAfter));
    known.renewedAt ??= renewedAt;
  }
  return [...found]
    .sort(([, a], [, b]) => a.notAfter - b.notAfter)
    .slice(0, SHOWN_MAX)
    .map(([name, { balancers, notAfter, renewedAt }]) => ({
      name,
      balancers,
      notAfter: formatInstant(notAfter),
      renewedAt: renewedAt === null ? null : formatInstant(renewedAt),
    }));
}
