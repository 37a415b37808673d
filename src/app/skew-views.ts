import type { FeatureView } from '../aggregate/features.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { DAY, type EpochMs, epochMs, MINUTE, SECOND } from '../base/units.ts';
import { capacitiesOf, hostsByCluster } from '../detect/hosts.ts';
import { sumOf } from '../detect/sums.ts';
import type { SkewAsked, SkewBy, SkewRowView, SkewView } from '../model/history-views.ts';
import { heardSince, stepFor, stepsOf } from './time-steps.ts';
import { grouped } from './traffic-views.ts';

const KEPT_DAYS = 8;
/** In a step with fewer requests of the mean one, the factor is chance. */
const MEAN_MIN = 30;
const SHOWN_MAX = 200;

interface Member {
  readonly name: string;
  readonly zone: string | null;
  /** 0 = it cannot be weighed beside those whose capacity is known. */
  readonly capacity: number;
  readonly requests: (from: EpochMs, to: EpochMs) => number;
}

/** Who carries more than its share: load per capacity over the mean of all that took requests. */
export function skew(view: FeatureView, asked: SkewAsked, now: EpochMs): SkewView | null {
  const { by, cluster, seconds, until = null } = asked;
  const newest = view.watermark(now);
  if (newest === null) return null;
  const to = epochMs(Math.min(newest, (until === null ? undefined : parseInstant(until)) ?? newest));
  const clusters = [...hostsByCluster(view).keys()];
  const chosen = by === 'balancer' ? null : (cluster ?? clusters[0] ?? null);
  const members = membersOf(view, by, chosen, now);
  const from = epochMs(Math.max(to - seconds * SECOND, heardSince(view, now)));
  const stepMs = stepFor(5 * (to - from), MINUTE);
  const steps = stepsOf(from, to, stepMs);
  const rows = factorsOf(members, from, to);
  const perStep = steps.map(([a, b]) => new Map(factorsOf(members, a, b).map(({ name, factor }) => [name, factor])));
  const shown: readonly SkewRowView[] = rows
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => (b.factor ?? 0) - (a.factor ?? 0) || (a.name < b.name ? -1 : 1))
    .slice(0, SHOWN_MAX)
    .map((row) => ({ ...row, steps: perStep.map((factors) => factors.get(row.name) ?? null) }));
  return {
    by,
    cluster: chosen,
    from: formatInstant(from),
    to: formatInstant(to),
    stepSeconds: stepMs / 1000,
    stepEnds: steps.map(([, end]) => formatInstant(end)),
    maxOverMean: shown[0]?.factor ?? null,
    rows: shown,
    days: daysOf(members, to),
    clusters,
  };
}

function membersOf(view: FeatureView, by: SkewBy, cluster: string | null, now: EpochMs): readonly Member[] {
  if (by === 'balancer') {
    const zoneOf = new Map(view.balancers(now).map(({ id, zone }) => [id, zone]));
    return [...grouped(view, 'balancer.requests', ({ labels }) => labels.get('balancer'))].map(([name, series]) => {
      const sum = sumOf(series);
      return { name, zone: zoneOf.get(name) ?? null, capacity: 1, requests: (from, to) => sum.range(from, to) };
    });
  }
  const hosts = hostsByCluster(view).get(cluster ?? '') ?? [];
  const capacities = capacitiesOf(view, now).get(cluster ?? '');
  const weighed = hosts.map(
    (host): Member => ({
      name: host.host,
      zone: host.zone,
      capacity: capacities === undefined ? 1 : (capacities.get(host.host) ?? 0),
      requests: (from, to) => host.requests(from, to),
    }),
  );
  return by === 'host' ? weighed : zonesOf(weighed);
}

function zonesOf(hosts: readonly Member[]): readonly Member[] {
  const zones = new Map<string, Member[]>();
  for (const host of hosts) {
    if (host.zone === null || host.capacity === 0) continue;
    zones.set(host.zone, [...(zones.get(host.zone) ?? []), host]);
  }
  return [...zones].map(([name, members]) => ({
    name,
    zone: name,
    capacity: members.reduce((sum, { capacity }) => sum + capacity, 0),
    requests: (from, to) => members.reduce((sum, { requests }) => sum + requests(from, to), 0),
  }));
}

function factorsOf(members: readonly Member[], from: EpochMs, to: EpochMs): Omit<SkewRowView, 'steps'>[] {
  const counted = members.map((member) => ({ member, requests: Math.max(0, member.requests(from, to)) }));
  const loaded = counted.filter(({ member, requests }) => requests > 0 && member.capacity > 0);
  const total = loaded.reduce((sum, { requests }) => sum + requests, 0);
  const capacity = loaded.reduce((sum, { member }) => sum + member.capacity, 0);
  const isEvidenced = loaded.length > 1 && total / loaded.length >= MEAN_MIN;
  return counted.map(({ member, requests }) => ({
    name: member.name,
    zone: member.zone,
    requests,
    capacity: member.capacity,
    factor: isEvidenced && member.capacity > 0 ? (requests * capacity) / (member.capacity * total) : null,
  }));
}

/** By the day of UTC, the last one as far as it has come. */
function daysOf(members: readonly Member[], to: EpochMs): SkewView['days'] {
  const first = epochMs((Math.floor(to / DAY) - (KEPT_DAYS - 1)) * DAY);
  return stepsOf(first, to, DAY).flatMap(([from, end]) => {
    const [hottest] = factorsOf(members, from, end).sort((a, b) => (b.factor ?? 0) - (a.factor ?? 0));
    if (hottest === undefined || hottest.factor === null) return [];
    return [{ from: formatInstant(from), maxOverMean: hottest.factor, hottest: hottest.name }];
  });
}
