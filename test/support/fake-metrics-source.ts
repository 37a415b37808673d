import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import type { BalancerState } from '../../src/aggregate/features.ts';
import { burnRate, epochMs, ms, ratio } from '../../src/base/units.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import type { Alert } from '../../src/model/alert.ts';
import { canonicalMetric } from '../../src/model/conventions.ts';
import { FLEET_TOTALS } from '../../src/model/fleet-totals.ts';
import type { Incident } from '../../src/model/incident.ts';
import { labelsOf, NO_LABELS } from '../../src/model/labels.ts';
import { NO_STAGES } from '../../src/model/stages.ts';
import type { Slo } from '../../src/slo/slo.ts';
import type { MetricsSource } from '../../src/telemetry/metrics.ts';

export function fakeSlo(id: string): Slo {
  return {
    id,
    name: id,
    service: 'checkout',
    displayName: id,
    objective: { text: '0.999', target: { units: 999n, scale: 3 } },
    window: { text: '30d', length: ms(30 * 86_400_000), rolling: true },
    budgeting: { kind: 'occurrences' },
    indicator: { kind: 'latency', query: { metric: 'm', where: [] }, threshold: 0.3 },
    labels: NO_LABELS,
    annotations: NO_LABELS,
    groupBy: [],
    rollup: false,
    policy: { name: 'countdown', confidence: 0.98, tiers: [] },
    runbook: 'ErrorBudgetBurn',
    generation: 'g',
    source: { file: 'slo.yaml', line: 1 },
  };
}

export function fakeStatus(over: Partial<GroupStatus> = {}): GroupStatus {
  return {
    slo: fakeSlo('checkout'),
    labels: labelsOf([
      ['lb.upstream.cluster', 'checkout'],
      ['lb.upstream.zone', 'b'],
    ]),
    key: 'k',
    state: 'measured',
    coverage: 0.5,
    good: 990,
    bad: 10,
    total: 1000,
    slices: { observed: 900, expected: 1000 },
    members: null,
    leftOut: null,
    sli: ratio(0.99),
    sliBracket: null,
    budgetRemaining: ratio(-9),
    budgetRemainingBracket: null,
    budgetRemainingSoFar: null,
    resetsAt: null,
    burn: new Map([
      ['5m', burnRate(21.5)],
      ['1h', null],
    ]),
    exhaustion: { exhausted: false, until: ms(111_600_500), low: null, high: null, pace: null, recoversAt: null },
    tier: '50h',
    tiersHolding: ['50h', '5d'],
    severity: 'page',
    since: null,
    inconsistent: false,
    ...over,
  };
}

export const fakeAlert = (name: string, severity: Alert['severity']): Alert => ({
  key: name,
  name,
  labels: NO_LABELS,
  place: {},
  severity,
  tier: null,
  tiersHolding: [],
  since: epochMs(0),
  owner: 'edge',
  runbook: name,
  summary: '',
  evidence: [],
  burn: null,
});

export const fakeIncident = (severity: Incident['severity'], state: Incident['state']): Incident => ({
  id: 1,
  episode: 1,
  seq: 1,
  state,
  severity,
  tier: null,
  title: '',
  lead: '',
  members: [],
  openedAt: epochMs(0),
  episodeAt: epochMs(0),
  changedAt: epochMs(0),
  quietSince: null,
  resolvedAt: null,
  acknowledgement: null,
  snoozedUntil: null,
  runbook: '',
  previous: null,
  announced: { severity: null, lastPageAt: null, tiers: [], domains: [], episode: 0, stillBurning: false },
});

export const fakeBalancer = (id: string, stale: boolean): BalancerState => ({
  id,
  zone: null,
  region: null,
  flavor: 'envoy',
  version: null,
  firstSeenAt: epochMs(0),
  newestPointAt: epochMs(0),
  interval: ms(10_000),
  stale,
  slos: [],
  clusters: [],
  seriesCount: 1,
  stages: NO_STAGES,
  metricsUnderstood: [],
  metricsIgnored: [],
  brackets: [],
});

/** A fleet of one balancer that tells one series of each metric, with every label that it may have. */
export function fakeFleet(): Aggregate {
  const aggregate = createAggregate();
  const [at, balancer] = [epochMs(90_000), 'lb-0'];
  aggregate.heard(balancer, new Map(), at, at);
  for (const [metric, { labels }] of FLEET_TOTALS) {
    const all = labelsOf(labels.map((name) => [name, `${name} of "${metric}"`]));
    if (canonicalMetric(metric)?.type === 'histogram') {
      aggregate.totalHistogram(metric, all).add(at, at, Float64Array.of(0.1, 1), Float64Array.of(5, 2, 1), 3.5);
    } else aggregate.total(metric, all).add(at, at, 7);
  }
  const own = labelsOf([['balancer', balancer]]);
  const [cluster, state] = [['cluster', 'checkout'] as const, ['state', 'healthy'] as const];
  for (const [name, labels] of [
    ['accept_queue.limit', own],
    ['cluster.hosts', labelsOf([cluster, state])],
    ['cluster.ejections.active', labelsOf([cluster])],
  ] as const) {
    aggregate.gauge(name, labels, 'x').set(at, balancer, 4);
  }
  aggregate.peak('connections.active', own).set(at, balancer, 100);
  aggregate.peak('accept_queue.length', own).set(at, balancer, 3);
  aggregate.feature('balancer.cpu.samples', own).add(at, at, 2);
  aggregate.feature('balancer.cpu.permille', own).add(at, at, 500);
  const seconds = (state: string) =>
    aggregate.feature(
      'balancer.cpu.time',
      labelsOf([
        ['balancer', 'lb-9'],
        ['state', state],
      ]),
    );
  seconds('busy').add(at, at, 30);
  seconds('idle').add(at, at, 10);
  aggregate.config('file', 'v1').set(epochMs(30_000), balancer, 1);
  aggregate.config('file', 'v2').set(at, balancer, 1);
  aggregate.certificate('edge', 'x').set(at, balancer, 1_000_000);
  return aggregate;
}

/** A source with a bit of everything; `over` replaces single reads. */
export const fakeMetricsSource = (over: Partial<MetricsSource> = {}): MetricsSource => ({
  receivers: () => [
    { receiver: 'oncall', pending: 2, oldestPendingAt: 1_000, lastDeliveredAt: 500, failing: 'waits' },
    { receiver: 'queue', pending: 0, oldestPendingAt: null, lastDeliveredAt: null, failing: null },
  ],
  now: () => 91_000,
  statuses: () => [fakeStatus()],
  firing: () => [fakeAlert('ErrorBudgetBurn', 'page'), fakeAlert('ErrorBudgetBurn', 'page'), fakeAlert('X', 'ticket')],
  incidents: () => [fakeIncident('page', 'open'), fakeIncident('page', 'acknowledged'), fakeIncident('page', 'open')],
  balancers: () => [fakeBalancer('a', false), fakeBalancer('b', true), fakeBalancer('c', false)],
  pointCounts: () =>
    new Map([
      ['accepted', 1000],
      ['rejected_late', 3],
    ]),
  fleet: fakeFleet,
  seriesCount: () => 42,
  foreignAlerts: () => 7,
  ...over,
});
