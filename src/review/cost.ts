import type { HourlyFigures, TallyName } from '../model/measure.ts';
import {
  COSTS,
  type Cost,
  type CostShareView,
  type CostTotalView,
  type CostView,
  type ServiceCostView,
  type VersionTrafficView,
} from '../model/scorecard.ts';
import { bySubject, SHAPE, sumOf } from './tally.ts';

/** Listeners and clusters that no name is told of. */
const UNNAMED = 'not told';
const SECONDS_AN_HOUR = 3600;

interface Source {
  readonly tally: TallyName;
  readonly kinds: readonly ('listener' | 'cluster')[];
  readonly unit: CostTotalView['unit'];
  readonly divisor: number;
  readonly counts: string;
  readonly missing: string;
}

const SOURCES: Readonly<Record<Cost, Source>> = {
  full_handshakes: {
    tally: 'full_handshakes',
    kinds: ['listener'],
    unit: '{handshake}',
    divisor: 1,
    counts: 'full TLS handshakes with clients, by listener',
    missing: 'no balancer tells its TLS handshakes',
  },
  requests: {
    tally: 'requests',
    kinds: ['cluster'],
    unit: '{request}',
    divisor: 1,
    counts: 'requests sent to hosts, tries again included, by cluster',
    missing: 'no balancer tells requests by cluster',
  },
  bytes_out: {
    tally: 'bytes',
    kinds: ['listener', 'cluster'],
    unit: 'By',
    divisor: 1,
    counts: 'bytes of answers, by cluster where it is told',
    missing: 'no balancer tells bytes of answers',
  },
  connection_hours: {
    tally: 'connection_seconds',
    kinds: ['listener'],
    unit: 'h',
    divisor: SECONDS_AN_HOUR,
    counts: 'hours for which clients held connections open, by listener',
    missing: 'no balancer tells its open connections',
  },
};

interface Draft {
  readonly kinds: Set<'listener' | 'cluster'>;
  readonly amounts: Map<Cost, number>;
}

/** What each service took of each cost, and its share. A listener and a cluster of one name are one service. */
export function costOf(rows: readonly HourlyFigures[]): Pick<CostView, 'totals' | 'services' | 'versions'> {
  const services = new Map<string, Draft>();
  for (const kind of ['listener', 'cluster'] as const) {
    for (const { subject, hours } of bySubject(rows, SHAPE[kind])) {
      const named = subject.get(kind) ?? '';
      const name = named === '' ? UNNAMED : named;
      for (const cost of COSTS) {
        const source = SOURCES[cost];
        const amount = source.kinds.includes(kind) ? sumOf(hours, source.tally) : null;
        if (amount === null) continue;
        const draft = services.get(name) ?? { kinds: new Set(), amounts: new Map() };
        services.set(name, draft);
        draft.kinds.add(kind);
        draft.amounts.set(cost, (draft.amounts.get(cost) ?? 0) + amount);
      }
    }
  }
  const totals = new Map<Cost, number>();
  for (const { amounts } of services.values()) {
    for (const [cost, amount] of amounts) totals.set(cost, (totals.get(cost) ?? 0) + amount);
  }
  return {
    totals: record((cost) => totalOf(SOURCES[cost], totals.get(cost))),
    services: [...services].map(([name, draft]) => toView(name, draft, totals)).sort(byLargest),
    versions: versionsOf(rows),
  };
}

const record = <T>(of: (cost: Cost) => T): Readonly<Record<Cost, T>> => ({
  full_handshakes: of('full_handshakes'),
  requests: of('requests'),
  bytes_out: of('bytes_out'),
  connection_hours: of('connection_hours'),
});

const totalOf = ({ unit, divisor, counts, missing }: Source, total: number | undefined): CostTotalView => ({
  total: total === undefined ? null : total / divisor,
  unit,
  detail: total === undefined ? missing : counts,
});

function toView(service: string, { kinds, amounts }: Draft, totals: ReadonlyMap<Cost, number>): ServiceCostView {
  const shareOf = (cost: Cost): CostShareView | null => {
    const amount = amounts.get(cost);
    const total = totals.get(cost) ?? 0;
    if (amount === undefined) return null;
    return { amount: amount / SOURCES[cost].divisor, share: total > 0 ? amount / total : 0 };
  };
  return { service, kinds: [...kinds].sort(), costs: record(shareOf) };
}

const largest = ({ costs }: ServiceCostView): number => Math.max(...COSTS.map((cost) => costs[cost]?.share ?? 0));
const byLargest = (a: ServiceCostView, b: ServiceCostView): number =>
  largest(b) - largest(a) || (a.service < b.service ? -1 : 1);

/** Requests of clients by the config version that answered them, most first. */
export function versionsOf(rows: readonly HourlyFigures[]): readonly VersionTrafficView[] {
  const counted = bySubject(rows, SHAPE.version).map(({ subject, hours }) => ({
    version: subject.get('configVersion') ?? '',
    kind: subject.get('configKind') ?? '',
    requests: sumOf(hours, 'requests') ?? 0,
    errors: sumOf(hours, 'errors') ?? 0,
  }));
  const totals = new Map<string, number>();
  for (const { kind, requests } of counted) totals.set(kind, (totals.get(kind) ?? 0) + requests);
  return counted
    .map((one) => ({ ...one, share: one.requests / Math.max(1, totals.get(one.kind) ?? 0) }))
    .sort((a, b) => b.requests - a.requests || (a.kind + a.version < b.kind + b.version ? -1 : 1));
}
