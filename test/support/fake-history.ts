import type {
  HistoryQueries,
  RedView,
  SkewView,
  SloHistoryView,
  StagesView,
  TlsView,
} from '../../src/model/history-views.ts';
import { STAGES } from '../../src/model/stages.ts';

/** What was counted before the night of fake-queries.ts: a few steps of each kind, with gaps and awkward names. */
const [FROM, MIDDLE, TO] = ['2026-03-01T02:42:10.000Z', '2026-03-01T03:12:10.000Z', '2026-03-01T03:42:10.000Z'];

export const FAKE_HISTORY: SloHistoryView = {
  slo: 'checkout-availability',
  labels: { 'lb.upstream.cluster': 'checkout' },
  from: FROM,
  to: TO,
  stepSeconds: 1800,
  budget: 52_341.119,
  points: [
    { at: MIDDLE, bad: 0, total: 70_000, left: 0.5 },
    { at: TO, bad: 14_835.25, total: 70_000, left: 0.2166 },
  ],
  tiers: [
    {
      name: '50h',
      severity: 'page',
      exhaustsWithinSeconds: 180_000,
      long: '1h',
      short: '5m',
      minBurn: 14.4,
      longBurn: 18.02,
      shortBurn: 21.4,
      holds: true,
    },
    {
      name: '30d',
      severity: 'ticket',
      exhaustsWithinSeconds: 2_592_000,
      long: '3d',
      short: '6h',
      minBurn: 1,
      longBurn: null,
      shortBurn: 3.2,
      holds: false,
    },
  ],
  spent: [
    { by: 'incident', name: 'Budget of <checkout>', incident: 41, from: FROM, to: TO, bad: 14_835, share: 0.2834 },
    { by: 'host', name: '10.0.3.7', incident: null, from: FROM, to: TO, bad: 12_000, share: null },
    { by: 'host', name: '<b>host</b>', incident: null, from: FROM, to: TO, bad: 4000, share: null },
  ],
};

export const FAKE_STAGES: StagesView = {
  cluster: null,
  zone: null,
  balancer: null,
  from: FROM,
  to: TO,
  stepSeconds: 1800,
  requests: { count: 100_000, p50: 0.02, p99: 0.9 },
  stages: STAGES.map((stage) => {
    const isTold = stage !== 'write';
    const figures = isTold
      ? { count: 5000, p50: 0.0004, p95: 0.012, p99: 0.5 }
      : { count: 0, p50: null, p95: null, p99: null };
    return {
      stage,
      fidelity: isTold ? 'exact' : 'absent',
      balancers: { [isTold ? 'exact' : 'absent']: 2 },
      ...figures,
      tailShare: isTold ? 0.37 : null,
      points: isTold
        ? [
            { at: MIDDLE, count: 0, p50: null, p95: null, p99: null },
            { at: TO, ...figures },
          ]
        : [],
    };
  }),
  places: [
    {
      kind: 'zone',
      name: 'a',
      stages: STAGES.map((stage) => ({
        stage,
        fidelity: stage === 'write' ? 'absent' : 'exact',
        count: stage === 'write' ? 0 : 5000,
        p50: stage === 'write' ? null : 0.0004,
        p95: stage === 'write' ? null : 0.012,
        p99: stage === 'write' ? null : 0.5,
      })),
    },
  ],
  clusters: ['checkout', '<search>'],
  zones: ['a'],
  balancers: ['envoy-a-1', 'haproxy <b>'],
};

export const FAKE_RED: RedView = {
  by: 'host',
  from: FROM,
  to: TO,
  rows: [
    {
      name: '10.0.3.7',
      cluster: 'checkout',
      zone: 'b',
      requests: 3600,
      perSecond: 1,
      errors: 36,
      errorRatio: 0.01,
      meanSeconds: 0.002,
    },
    {
      name: '<b>host</b>',
      cluster: 'checkout',
      zone: null,
      requests: 1,
      perSecond: 1 / 3600,
      errors: 0,
      errorRatio: 0,
      meanSeconds: null,
    },
  ],
  stepSeconds: 1800,
  points: [
    { at: MIDDLE, perSecond: 0, errorRatio: null },
    { at: TO, perSecond: 2, errorRatio: 0.01 },
  ],
};

export const FAKE_TLS: TlsView = {
  from: FROM,
  to: TO,
  stepSeconds: 1800,
  points: [
    { at: MIDDLE, perSecond: 4, resumption: 0.75 },
    { at: TO, perSecond: 0, resumption: null },
  ],
  zones: [{ name: 'a', full: 1800, resumed: 5400, failed: 2, resumption: 0.75 }],
  balancers: [{ name: 'envoy-a-1', full: 10, resumed: 0, failed: 0, resumption: null }],
  certificates: [
    { name: '<www>.example.com', balancers: ['envoy-a-1'], notAfter: '2026-03-20T00:00:00.000Z', renewedAt: null },
  ],
};

export const FAKE_SKEW: SkewView = {
  by: 'host',
  cluster: 'checkout',
  from: FROM,
  to: TO,
  stepSeconds: 1800,
  stepEnds: [MIDDLE, TO],
  maxOverMean: 2.1,
  rows: [
    { name: '10.0.3.7', zone: 'b', requests: 2100, capacity: 1, factor: 2.1, steps: [1, 2.1] },
    { name: '<b>host</b>', zone: null, requests: 100, capacity: 0, factor: null, steps: [null, null] },
  ],
  days: [
    { from: '2026-02-28T00:00:00.000Z', maxOverMean: 1.2, hottest: '10.0.3.6' },
    { from: '2026-03-01T00:00:00.000Z', maxOverMean: 2.1, hottest: '10.0.3.7' },
  ],
  clusters: ['checkout', '<search>'],
};

export const FAKE_LOOKS_BACK: HistoryQueries = {
  sloHistory: ({ slo, group }) =>
    slo === FAKE_HISTORY.slo && (group === null || group === 'checkout') ? FAKE_HISTORY : null,
  stages: ({ cluster, zone, balancer }) => ({ ...FAKE_STAGES, cluster, zone, balancer }),
  red: ({ by }) => ({ ...FAKE_RED, by }),
  tls: () => FAKE_TLS,
  skew: ({ by, cluster }) => ({ ...FAKE_SKEW, by, cluster: cluster ?? FAKE_SKEW.cluster }),
};
