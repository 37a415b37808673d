import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { HourlyFigures } from '../../src/model/measure.ts';
import { COSTS, type ScoreId, type ScoreView } from '../../src/model/scorecard.ts';
import { costOf } from '../../src/review/cost.ts';
import { headroomOf } from '../../src/review/headroom.ts';
import { type IncidentFacts, scoresOf } from '../../src/review/scorecard.ts';
import { shippedRules } from '../support/shipped-rules.ts';
import { anyRows, hourRow } from '../support/tally-rows.ts';

const STANDARD = shippedRules().scorecard;
const PRICED = { ...STANDARD, handshakeMs: { full: 1, resumed: 0.1 }, balancerCores: 4 };

const scoreOf = (
  id: ScoreId,
  rows: readonly HourlyFigures[],
  incidents: readonly IncidentFacts[] = [],
  standard = STANDARD,
): ScoreView => scoresOf(rows, incidents, standard).find((one) => one.id === id) as ScoreView;

describe('whatever a week holds', () => {
  test('shares of each cost sum to 1, amounts to the total, and none is below 0', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { totals, services, versions } = costOf(rows);
        for (const cost of COSTS) {
          const own = services.flatMap(({ costs }) => costs[cost] ?? []);
          const { total } = totals[cost];
          assert.equal(total === null, own.length === 0);
          if (total === null) continue;
          const sum = (of: (one: (typeof own)[number]) => number): number => own.reduce((all, one) => all + of(one), 0);
          assert.ok(Math.abs(sum(({ amount }) => amount) - total) <= 1e-9 * Math.max(1, total));
          if (total > 0) assert.ok(Math.abs(sum(({ share }) => share) - 1) < 1e-9);
          assert.ok(own.every(({ share, amount }) => share >= 0 && share <= 1 && amount >= 0));
        }
        if (versions.some(({ requests }) => requests > 0)) {
          assert.ok(Math.abs(versions.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9);
        }
      }),
    );
  });

  test('the order of its rows and incidents changes nothing', () => {
    const incidents: readonly IncidentFacts[] = [
      { id: 1, alerts: ['RetryStorm'] },
      { id: 2, alerts: ['ZoneSkew'] },
      { id: 3, alerts: ['FastFailSinkhole', 'RetryStorm'] },
    ];
    const withOrder = anyRows.chain((rows) =>
      fc.tuple(fc.constant(rows), fc.shuffledSubarray([...rows], { minLength: rows.length })),
    );
    fc.assert(
      fc.property(withOrder, ([rows, shuffled]) => {
        assert.deepEqual(costOf(shuffled), costOf(rows));
        assert.deepEqual(scoresOf(shuffled, incidents.toReversed(), PRICED), scoresOf(rows, incidents, PRICED));
        assert.deepEqual(headroomOf(shuffled, PRICED), headroomOf(rows, PRICED));
      }),
    );
  });

  test('each line is there, and one without a value says why', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const scores = scoresOf(rows, [], STANDARD);
        assert.equal(scores.length, 6);
        for (const { value, state, detail } of scores) {
          assert.notEqual(detail, '');
          if (value === null) assert.equal(state, 'not_known');
        }
      }),
    );
  });
});

describe('a week of which nothing is known', () => {
  test('is neither met nor missed, but for incidents, of which slowburn knows itself', () => {
    assert.deepEqual(
      scoresOf([], [], STANDARD).map(({ id, state }) => [id, state]),
      [
        ['added_latency_p99', 'not_known'],
        ['resumption_at_peak', 'not_known'],
        ['config_budget', 'not_known'],
        ['retrying_services', 'not_known'],
        ['amplified_incidents', 'met'],
        ['crowded_pools', 'not_known'],
      ],
    );
    assert.equal(headroomOf([], PRICED).headroom, null);
    assert.deepEqual(costOf([]).services, []);
  });
});

describe('latency that balancers add', () => {
  const bounds = [0.001, 0.004, 0.006];
  const zone = (name: string, counts: readonly number[]): HourlyFigures =>
    hourRow(1, { zone: name, region: 'r1' }, { added: [{ bounds, counts }] });

  test('is judged by the bounds, in the slowest zone', () => {
    const rows = [zone('a', [9990, 10, 0, 0]), zone('b', [9000, 0, 0, 1000])];
    const score = scoreOf('added_latency_p99', rows);
    assert.equal(score.state, 'missed');
    assert.match(score.detail, /^zone b, the slowest of 2$/);
    assert.equal(scoreOf('added_latency_p99', rows.slice(0, 1)).state, 'met');
  });

  test('is not known where the target lies between two bounds and the slowest hundredth does too', () => {
    const score = scoreOf('added_latency_p99', [zone('a', [9000, 0, 1000, 0])]);
    assert.equal(score.state, 'not_known');
    assert.match(score.detail, /5 ms lies between two bounds/);
  });

  test('adds the hours up: two that are as good as the whole week differ from their mean', () => {
    const rows = [
      hourRow(1, { zone: 'a' }, { added: [{ bounds, counts: [99_000, 0, 0, 0] }] }),
      hourRow(2, { zone: 'a' }, { added: [{ bounds, counts: [0, 0, 0, 900] }] }),
    ];
    assert.equal(scoreOf('added_latency_p99', rows).state, 'met');
  });
});

describe('resumption at peak', () => {
  const zone = (hour: number, name: string, requests: number, full: number, resumed: number): HourlyFigures =>
    hourRow(hour, { zone: name }, { tallies: { requests, full_handshakes: full, resumed_handshakes: resumed } });

  test('is that of the busiest hour and the worst zone, whatever other hours are like', () => {
    const rows = [zone(1, 'a', 10, 900, 100), zone(2, 'a', 500, 100, 900), zone(2, 'b', 400, 600, 400)];
    const score = scoreOf('resumption_at_peak', rows);
    assert.equal(score.value, 0.4);
    assert.equal(score.state, 'missed');
    assert.match(score.detail, /^zone b, 65 % over all zones, in the busiest hour, up to 2026-11-23T02:00Z$/);
  });

  test('exactly half is not above half', () => {
    assert.equal(scoreOf('resumption_at_peak', [zone(1, 'a', 1, 500, 500)]).state, 'missed');
    assert.equal(scoreOf('resumption_at_peak', [zone(1, 'a', 1, 499, 501)]).state, 'met');
  });

  test('handshakes that do not say whether they resumed are no evidence', () => {
    const row = hourRow(1, { zone: 'a' }, { tallies: { requests: 5, full_handshakes: 9000, unsaid_handshakes: 9000 } });
    const score = scoreOf('resumption_at_peak', [row]);
    assert.equal(score.state, 'not_known');
    assert.match(score.detail, /fewer than 100 handshakes/);
  });
});

describe('retrying layers', () => {
  const cluster = hourRow(1, { cluster: 'shop' }, { tallies: { requests: 1000, retrying_layers: 1 } });
  const layer = (hour: number, name: string): HourlyFigures =>
    hourRow(hour, { cluster: 'shop', layer: name }, { tallies: { retries: 3 } });

  test('two of one service count as one, also in different hours', () => {
    const score = scoreOf('retrying_services', [cluster, layer(1, 'edge'), layer(9, 'client')]);
    assert.deepEqual([score.value, score.state, score.detail], [1, 'missed', 'shop (client, edge)']);
  });

  test('one is as it should be', () => {
    assert.equal(scoreOf('retrying_services', [cluster, layer(1, 'edge'), layer(9, 'edge')]).state, 'met');
  });
});

describe('incidents that a balancing layer amplified', () => {
  test('are those with an alert that says so', () => {
    const incidents = [
      { id: 7, alerts: ['ErrorBudgetBurn', 'FastFailSinkhole'] },
      { id: 8, alerts: ['ErrorBudgetBurn'] },
    ];
    const score = scoreOf('amplified_incidents', [], incidents);
    assert.deepEqual([score.value, score.state, score.detail], [1, 'missed', 'incident 7 (FastFailSinkhole)']);
    assert.equal(scoreOf('amplified_incidents', [], incidents.slice(1)).state, 'met');
  });
});

describe('shared pools', () => {
  const pool = (open: number, livesForS: number, beside: number): HourlyFigures =>
    hourRow(
      1,
      { listener: 'ws' },
      {
        tallies: {
          connection_seconds: open * 3600,
          opened: Math.round((open * 3600) / livesForS),
          services_beside: beside,
        },
      },
    );

  test('are crowded with more than 50,000 long-lived connections beside another service', () => {
    assert.equal(scoreOf('crowded_pools', [pool(50_001, 3600, 2)]).state, 'missed');
    assert.equal(scoreOf('crowded_pools', [pool(50_000, 3600, 2)]).state, 'met');
  });

  test('are not where the pool is its own, or connections are short', () => {
    assert.equal(scoreOf('crowded_pools', [pool(90_000, 3600, 1)]).state, 'met');
    assert.equal(scoreOf('crowded_pools', [pool(90_000, 300, 2)]).state, 'met');
  });
});

describe('headroom', () => {
  const balancer = (name: string, cpu: number, resumed: number): HourlyFigures =>
    hourRow(3, { balancer: name }, { tallies: { requests: 10, cpu, resumed_handshakes: resumed } });

  test('is what the balancer that would use most has left, and can be below 0', () => {
    // 0.9 ms more each, on 4 cores: 4,000,000 are 3,600 s of 14,400.
    const found = headroomOf([balancer('lb-0', 0.5, 4_000_000), balancer('lb-1', 0.6, 0)], PRICED);
    assert.equal(found.balancer, 'lb-0');
    assert.ok(Math.abs((found.cpuIfFull ?? 0) - 0.75) < 1e-12);
    assert.ok(Math.abs((found.headroom ?? 0) - 0.25) < 1e-12);
    const none = headroomOf([balancer('lb-0', 0.5, 16_000_000)], PRICED);
    assert.ok((none.headroom ?? 0) < 0);
    assert.match(none.detail, /would need 150 % of its CPU/);
  });

  test('is not known without CPU, without what a handshake costs, and without cores', () => {
    const row = balancer('lb-0', 0.5, 100);
    assert.match(headroomOf([hourRow(1, { zone: 'a' }, { tallies: { requests: 1 } })], PRICED).detail, /its CPU/);
    assert.match(headroomOf([row], STANDARD).detail, /handshakeMs/);
    assert.match(headroomOf([row], { ...PRICED, balancerCores: null }).detail, /balancerCores/);
  });
});
