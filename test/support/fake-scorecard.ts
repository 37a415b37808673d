import type { CostView, ScorecardView } from '../../src/model/scorecard.ts';

const WEEK = {
  week: '2026-W08',
  from: '2026-02-16T00:00:00.000Z',
  to: '2026-02-23T00:00:00.000Z',
  hours: 167,
  complete: true,
} as const;

/** One line met, one missed, one not known; names include what HTML must survive. */
export const FAKE_SCORECARD: ScorecardView = {
  ...WEEK,
  scores: [
    {
      id: 'added_latency_p99',
      title: 'Latency that balancers add, p99',
      value: 0.0031,
      unit: 's',
      target: { is: 'below', value: 0.005 },
      state: 'met',
      detail: 'zone b, the slowest of 2',
    },
    {
      id: 'resumption_at_peak',
      title: 'TLS resumption at peak',
      value: 0.42,
      unit: '1',
      target: { is: 'above', value: 0.5 },
      state: 'missed',
      detail: 'zone <b>, 61 % over all zones',
    },
    {
      id: 'config_budget',
      title: 'Error budget used by config rollouts',
      value: null,
      unit: '1',
      target: { is: 'below', value: 0.25 },
      state: 'not_known',
      detail: 'no balancer tells its config version',
    },
  ],
  headroom: {
    hour: '2026-02-18T14:00:00.000Z',
    balancer: 'lb-3',
    cpu: 0.4,
    cpuIfFull: 0.85,
    headroom: 0.15,
    detail: 'lb-3, of 6: 40 % of its CPU, 85 % if every handshake were full',
  },
};

/** Two services that two kinds of balancers tell, and a cost that nobody tells. */
export const FAKE_COST: CostView = {
  ...WEEK,
  totals: {
    full_handshakes: { total: 4000, unit: '{handshake}', detail: 'full TLS handshakes with clients, by listener' },
    requests: { total: 1_234_567, unit: '{request}', detail: 'requests sent to hosts' },
    bytes_out: { total: 2.5e9, unit: 'By', detail: 'bytes of answers' },
    connection_hours: { total: null, unit: 'h', detail: 'no balancer tells its open connections' },
  },
  services: [
    {
      service: 'shop <&>',
      kinds: ['cluster', 'listener'],
      costs: {
        full_handshakes: { amount: 3000, share: 0.75 },
        requests: { amount: 1_000_000, share: 1_000_000 / 1_234_567 },
        bytes_out: { amount: 2.5e9, share: 1 },
        connection_hours: null,
      },
    },
    {
      service: 'search',
      kinds: ['cluster'],
      costs: {
        full_handshakes: { amount: 1000, share: 0.25 },
        requests: { amount: 234_567, share: 234_567 / 1_234_567 },
        bytes_out: null,
        connection_hours: null,
      },
    },
  ],
  versions: [{ version: 'v2', kind: '', requests: 1_234_567, errors: 12, share: 1 }],
};
