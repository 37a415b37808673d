import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { at } from '../../src/sim/columns.ts';
import { ExactEngine } from '../../src/sim/exact/exact-engine.ts';
import type { TimedChange } from '../../src/sim/faults/change.ts';
import { Fleet } from '../../src/sim/fleet.ts';
import { balancersOf, CLUSTER, type ClusterSpec, type FleetSpec, fleetOf, hostsOf } from '../../src/sim/fleet-spec.ts';
import { ACTIVE_CHECKS } from '../../src/sim/health/active-checks.ts';
import { OUTLIERS } from '../../src/sim/health/outlier-ejection.ts';
import { CLASS, CLASSES } from '../../src/sim/measures.ts';

/** The first of the list: least connections breaks ties by insertion, so this one shows it at its worst. */
const SINK = 0;
const BROKEN_AT = 20_000;

const sinkhole: TimedChange = {
  at: BROKEN_AT,
  change: { kind: 'hosts', cluster: 0, hosts: [SINK], set: { failShare: 1, failMs: 2 } },
};

/** 40 hosts, 200 in 40 ms, a shallow check every 10 s that goes down after 3. */
const sinkholeFleet = (cluster: Partial<ClusterSpec>, balancers = 1): FleetSpec =>
  fleetOf({
    balancers: balancersOf(balancers),
    clusters: [
      {
        ...CLUSTER,
        requestsPerS: 1500,
        hosts: hostsOf(40),
        checks: { ...ACTIVE_CHECKS, intervalMs: 10_000, failuresToDown: 3 },
        ...cluster,
      },
    ],
  });

const requestsOf = (fleet: Fleet): number => fleet.measures.requests.reduce((sum, n) => sum + n, 0);
const errorsOf = (fleet: Fleet): number =>
  fleet.measures.requests.reduce((sum, n, i) => sum + (i % CLASSES === CLASS.serverError ? n : 0), 0);
const attemptsOf = (fleet: Fleet, host: number): number => {
  let total = 0;
  for (let balancer = 0; balancer < fleet.balancerCount; balancer += 1) {
    for (let i = 0; i < CLASSES; i += 1) {
      total += at(fleet.measures.attempts, (balancer * fleet.hostCount + host) * CLASSES + i);
    }
  }
  return total;
};

/** Share of the sinkhole and error ratio in each half second after it broke. */
function runSinkhole(spec: FleetSpec, untilMs: number): { share: number; errors: number }[] {
  const fleet = new Fleet(spec);
  const engine = new ExactEngine(fleet, [sinkhole]);
  engine.advanceTo(BROKEN_AT);
  const seen: { share: number; errors: number }[] = [];
  let before = { requests: requestsOf(fleet), errors: errorsOf(fleet), sink: attemptsOf(fleet, SINK) };
  for (let now = BROKEN_AT + 500; now <= BROKEN_AT + untilMs; now += 500) {
    engine.advanceTo(now);
    const after = { requests: requestsOf(fleet), errors: errorsOf(fleet), sink: attemptsOf(fleet, SINK) };
    const requests = after.requests - before.requests;
    seen.push({ share: (after.sink - before.sink) / requests, errors: (after.errors - before.errors) / requests });
    before = after;
  }
  return seen;
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

describe('fast-fail sinkhole, 40 hosts', () => {
  test('least connections: by 10 s it draws ~35 % of all requests, the check passes', (t) => {
    const seen = runSinkhole(sinkholeFleet({ policy: 'least-connections' }), 60_000);
    const at10s = seen.slice(18, 22);
    const share = at10s.reduce((sum, step) => sum + step.share, 0) / at10s.length;
    const errors = at10s.reduce((sum, step) => sum + step.errors, 0) / at10s.length;
    t.diagnostic(`share at 10 s: expected ~35 %, simulated ${percent(share)}; errors ~35 %, ${percent(errors)}`);
    assert.ok(Math.abs(share - 0.35) < 0.35 / 3 && Math.abs(errors - 0.35) < 0.35 / 3);
    assert.ok((seen.at(-1)?.errors ?? 0) > 0.23, 'nothing takes it out');
  });

  test('two choices with ejection: share at most ~2/N, errors of ~0.6 % for ~0.5 s to 4.8 % for ~1 s', (t) => {
    for (const [balancers, requestsPerS, expected, peakMin, peakMax] of [
      [1, 2500, '0.6 % for ~0.5 s', 0.004, 0.008],
      [10, 1500, 'up to 4.8 % for ~1 s', 0.02, 0.064],
    ] as const) {
      const runs = [1, 2, 3, 4, 5, 6].map((seed) =>
        runSinkhole(
          { ...sinkholeFleet({ policy: 'two-choices', outliers: OUTLIERS, requestsPerS }, balancers), seed },
          20_000,
        ),
      );
      const meanOf = (of: (run: (typeof runs)[number]) => number): number =>
        runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
      const share = meanOf((run) => Math.max(...run.map((step) => step.share)));
      const peak = meanOf((run) => Math.max(...run.map((step) => step.errors)));
      const lasted = meanOf((run) => {
        const half = Math.max(...run.map((step) => step.errors)) / 2;
        return run.filter((step) => step.errors >= half).length / 2;
      });
      t.diagnostic(`${balancers} balancers: share expected <= 5 %, simulated ${percent(share)}`);
      t.diagnostic(`${balancers} balancers: errors ${expected}, simulated ${percent(peak)} for ${lasted.toFixed(1)} s`);
      assert.ok(share <= (2 / 40) * (4 / 3), `share ${share}`);
      assert.ok(peak >= peakMin && peak <= peakMax, `peak ${peak}`);
      assert.ok(lasted >= 0.5 && lasted <= 4 / 3, `lasted ${lasted}`);
    }
  });

  test('ejected 30, 60, 90 s, the third time within two minutes', (t) => {
    const fleet = new Fleet(sinkholeFleet({ policy: 'two-choices', outliers: OUTLIERS }));
    const engine = new ExactEngine(fleet, [sinkhole]);
    const starts: number[] = [];
    const spans: number[] = [];
    const { pool } = fleet.route(0, 0);
    let counted = 0;
    for (let now = BROKEN_AT; now < BROKEN_AT + 200_000 && starts.length < 4; now += 10) {
      engine.advanceTo(now);
      const ejections = fleet.measures.ejections.reduce((sum, n) => sum + n, 0);
      if (ejections > counted) starts.push((now - BROKEN_AT) / 1000);
      counted = ejections;
      if (pool.isHealthy(SINK)) continue;
      spans[starts.length - 1] = (now - BROKEN_AT) / 1000 - (starts.at(-1) ?? 0);
    }
    const lasted = spans.slice(0, 3).map((span) => Math.round(span));
    t.diagnostic(`out for: expected 30, 60, 90 s, third within 120 s, simulated ${lasted}; third at ${starts[2]} s`);
    assert.deepEqual(lasted, [30, 60, 90]);
    assert.ok((starts[2] ?? 999) < 120);
  });
});

describe('the exact engine', () => {
  test('probes are neither requests nor load', () => {
    const spec = fleetOf({
      balancers: balancersOf(2),
      clusters: [{ ...CLUSTER, requestsPerS: 0, hosts: hostsOf(4), checks: ACTIVE_CHECKS }],
    });
    const fleet = new Fleet(spec);
    const broken: TimedChange = {
      at: 20_000,
      change: { kind: 'hosts', cluster: 0, hosts: [1], set: { reach: 'hangs' } },
    };
    new ExactEngine(fleet, [broken]).advanceTo(60_000);
    assert.ok(at(fleet.measures.probesFailed, 1) >= 7, 'one every 5 s');
    assert.equal(fleet.route(0, 0).pool.healthy, 3);
    assert.equal(requestsOf(fleet) + attemptsOf(fleet, 1) + at(fleet.measures.hostBusyS, 1), 0);
  });

  test('retries save what a single host fails, and stay within 20 % of what is under way', (t) => {
    const run = (hosts: 'all' | readonly number[]): { errors: number; attempts: number; overflow: number } => {
      const spec = fleetOf({
        clusters: [
          {
            ...CLUSTER,
            requestsPerS: 1000,
            policy: 'round-robin',
            hosts: hostsOf(10),
            retries: { max: 1, budget: 0.2 },
          },
        ],
      });
      const fleet = new Fleet(spec);
      const broken: TimedChange = {
        at: 0,
        change: { kind: 'hosts', cluster: 0, hosts, set: { failShare: 1, failMs: 40 } },
      };
      new ExactEngine(fleet, [broken]).advanceTo(60_000);
      const [attempts = 0, , overflow = 0] = fleet.measures.retries;
      const requests = requestsOf(fleet);
      return { errors: errorsOf(fleet) / requests, attempts: attempts / requests, overflow: overflow / requests };
    };
    const [one, all] = [run([4]), run('all')];
    t.diagnostic(`one of ten fails: ${percent(one.errors)} errors left; all fail: ${percent(all.attempts)} retried`);
    assert.ok(one.errors < 0.02, `errors ${one.errors}`);
    assert.ok(all.errors > 0.999 && all.attempts > 0.1 && all.attempts < 0.27, `attempts ${all.attempts}`);
    assert.ok(all.overflow > 0.7, `overflow ${all.overflow}`);
  });

  test('ten requests an hour arrive at the rate they should, day and night', () => {
    const spec = fleetOf({
      clusters: [{ ...CLUSTER, requestsPerS: 10 / 3600, hosts: hostsOf(3) }],
      clients: { swing: 0.5, connectionsPerS: 0 },
    });
    const fleet = new Fleet(spec);
    const engine = new ExactEngine(fleet, []);
    const day = 86_400_000;
    engine.advanceTo(100 * day);
    const total = requestsOf(fleet);
    assert.ok(Math.abs(total - 24_000) < 5 * Math.sqrt(24_000), `${total}`);
    let peak = 0;
    for (let d = 100; d < 200; d += 1) {
      engine.advanceTo(d * day + 11 * 3_600_000);
      const before = requestsOf(fleet);
      engine.advanceTo(d * day + 17 * 3_600_000);
      peak += requestsOf(fleet) - before;
    }
    // 6 hours around the peak: 60 x (1 + 0.5 x sin(45 deg) / (pi / 4)) a day.
    assert.ok(Math.abs(peak - 8701) < 5 * Math.sqrt(8701), `${peak}`);
  });
});
