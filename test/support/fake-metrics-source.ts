import type { BalancerState } from '../../src/aggregate/features.ts';
import { burnRate, epochMs, ms, ratio } from '../../src/base/units.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import type { Alert } from '../../src/model/alert.ts';
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
  seriesCount: () => 42,
  foreignAlerts: () => 7,
  ...over,
});
