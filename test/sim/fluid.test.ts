import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TimedChange } from '../../src/sim/faults/change.ts';
import { balancersOf, CLUSTER, type ClusterSpec, type FleetSpec, fleetOf, hostsOf } from '../../src/sim/fleet-spec.ts';
import { ACTIVE_CHECKS } from '../../src/sim/health/active-checks.ts';
import { OUTLIERS } from '../../src/sim/health/outlier-ejection.ts';
import { createSimulation, type EngineName } from '../../src/sim/simulation.ts';
import { between, type Figures, figuresOf, quantileOf } from '../support/sim-figures.ts';

const spec = (cluster: Partial<ClusterSpec>): FleetSpec =>
  fleetOf({
    balancers: balancersOf(4, { cores: 2 }),
    clusters: [{ ...CLUSTER, requestsPerS: 1800, hosts: hostsOf(20), ...cluster }],
    clients: { connectionsPerS: 100 },
  });

interface Compared {
  readonly name: string;
  readonly spec: FleetSpec;
  readonly timeline: readonly TimedChange[];
  /** Absolute tolerance of the error ratio and of the first host's share. */
  readonly errors: number;
  readonly share: number;
}

const sink: TimedChange = { at: 30_000, change: { kind: 'hosts', cluster: 0, hosts: [0], set: { failShare: 1 } } };
const hanging: TimedChange['change'] = {
  kind: 'hosts',
  cluster: 0,
  hosts: Array.from({ length: 12 }, (_, host) => host),
  set: { reach: 'hangs' },
};
const COMPARED: readonly Compared[] = [
  {
    name: 'round robin',
    spec: spec({ policy: 'round-robin', errorShare: 0.01 }),
    timeline: [],
    errors: 0.001,
    share: 0.002,
  },
  { name: 'two choices', spec: spec({ errorShare: 0.01 }), timeline: [], errors: 0.001, share: 0.005 },
  { name: 'maglev', spec: spec({ policy: 'maglev' }), timeline: [], errors: 0.001, share: 0.005 },
  {
    name: 'least connections, one balancer, with a sinkhole',
    spec: { ...spec({ policy: 'least-connections', hosts: hostsOf(40) }), balancers: balancersOf(1, { cores: 8 }) },
    timeline: [sink],
    errors: 0.05,
    share: 0.05,
  },
  { name: 'two choices with a sinkhole', spec: spec({}), timeline: [sink], errors: 0.02, share: 0.02 },
  {
    name: 'two choices with a sinkhole and ejection',
    spec: spec({ outliers: OUTLIERS }),
    timeline: [sink],
    errors: 0.001,
    share: 0.005,
  },
  {
    name: 'half the hosts hang, with checks',
    spec: spec({ policy: 'round-robin', checks: ACTIVE_CHECKS, timeoutMs: 1000 }),
    timeline: [
      { at: 30_000, change: { kind: 'hosts', cluster: 0, hosts: [0, 1, 2, 3, 4, 5], set: { reach: 'hangs' } } },
    ],
    errors: 0.02,
    share: 0.01,
  },
  {
    name: 'most hosts hang, with a limit of requests in flight',
    spec: spec({ policy: 'round-robin', timeoutMs: 2000, maxInFlight: 90 }),
    timeline: [{ at: 30_000, change: hanging }],
    errors: 0.02,
    share: 0.01,
  },
  ...(['round-robin', 'maglev', 'two-choices', 'least-connections'] as const).map((policy) => ({
    name: `${policy}, hosts near their capacity`,
    spec: spec({ policy, hosts: hostsOf(20, { slots: 4 }) }),
    timeline: [],
    errors: 0.001,
    share: 0.01,
  })),
  {
    name: 'a slow dependency with failures',
    spec: { ...spec({ dependency: 0 }), dependencies: [{ name: 'db', serviceMs: 5 }] },
    timeline: [{ at: 30_000, change: { kind: 'dependency', dependency: 0, serviceMs: 200, failShare: 0.1 } }],
    errors: 0.01,
    share: 0.005,
  },
  {
    name: 'handshakes on a busy CPU',
    spec: {
      ...spec({ requestsPerS: 500, policy: 'round-robin' }),
      tls: { ...spec({}).tls, keyType: 'rsa-2048' },
      clients: { ...spec({}).clients, connectionsPerS: 5000 },
    },
    timeline: [],
    errors: 0.001,
    share: 0.002,
  },
];

function run(
  compared: Compared,
  engine: EngineName,
): { figures: Figures; p50: number; p95: number; tls: number; open: number } {
  const simulation = createSimulation(compared.spec, compared.timeline, engine);
  simulation.advanceTo(30_000);
  const before = figuresOf(simulation.fleet);
  const counts = simulation.fleet.measures.requestDuration.counts.slice();
  simulation.advanceTo(150_000);
  const { measures, balancers } = simulation.fleet;
  return {
    figures: between(before, figuresOf(simulation.fleet)),
    p50: quantileOf(measures.requestDuration, 0.5, counts),
    p95: quantileOf(measures.requestDuration, 0.95, counts),
    tls: quantileOf(measures.tls, 0.5),
    open: balancers.connections.reduce((sum, n) => sum + n, 0),
  };
}

const isNear = (a: number, b: number, share: number): boolean => Math.abs(a - b) <= share * Math.max(a, b) + 1e-9;

describe('the fluid engine against the exact one', () => {
  for (const compared of COMPARED) {
    test(compared.name, (t) => {
      const [exact, fluid] = [run(compared, 'exact'), run(compared, 'fluid')];
      const ratio = ({ figures }: typeof exact): number => figures.errors / figures.requests;
      const first = ({ figures }: typeof exact): number => (figures.attempts[0] ?? 0) / figures.requests;
      for (const [name, of] of [
        ['requests', (r: typeof exact) => r.figures.requests],
        ['error ratio', ratio],
        ["first host's share", first],
        ['p50 ms', (r: typeof exact) => r.p50 * 1000],
        ['p95 ms', (r: typeof exact) => r.p95 * 1000],
        ['full handshakes', (r: typeof exact) => r.figures.full],
        ['CPU s', (r: typeof exact) => r.figures.cpuS],
      ] as const) {
        t.diagnostic(`${compared.name}: ${name}: exact ${of(exact).toPrecision(4)}, fluid ${of(fluid).toPrecision(4)}`);
      }
      assert.ok(isNear(exact.figures.requests, fluid.figures.requests, 0.015), 'requests');
      assert.ok(Math.abs(ratio(exact) - ratio(fluid)) <= compared.errors, `errors ${ratio(exact)} ${ratio(fluid)}`);
      assert.ok(Math.abs(first(exact) - first(fluid)) <= compared.share, `share ${first(exact)} ${first(fluid)}`);
      assert.ok(isNear(exact.p50, fluid.p50, 0.15), `p50 ${exact.p50} ${fluid.p50}`);
      assert.ok(isNear(exact.p95, fluid.p95, 0.25), `p95 ${exact.p95} ${fluid.p95}`);
      assert.ok(isNear(exact.figures.full, fluid.figures.full, 0.06), 'full');
      assert.ok(isNear(exact.figures.resumed, fluid.figures.resumed, 0.06), 'resumed');
      assert.ok(
        isNear(exact.figures.cpuS, fluid.figures.cpuS, 0.02),
        `CPU ${exact.figures.cpuS} ${fluid.figures.cpuS}`,
      );
      assert.ok(isNear(exact.tls, fluid.tls, 0.2), `tls ${exact.tls} ${fluid.tls}`);
      assert.ok(isNear(exact.open, fluid.open, 0.03), `open ${exact.open} ${fluid.open}`);
    });
  }

  test('the same seed counts the same, another seed does not', () => {
    for (const engine of ['exact', 'fluid'] as const) {
      const countsOf = (seed: number): string => {
        const simulation = createSimulation({ ...spec({ outliers: OUTLIERS }), seed }, [sink], engine);
        simulation.advanceTo(60_000);
        const { measures } = simulation.fleet;
        return [measures.requests, measures.ejections, measures.backend.counts, measures.handshakes].join('|');
      };
      assert.equal(countsOf(3), countsOf(3), engine);
      assert.notEqual(countsOf(3), countsOf(4), engine);
    }
  });

  test('where a run is stopped to look changes nothing of an exact one', () => {
    const totals = [1000, 60_000].map((every) => {
      const simulation = createSimulation(spec({ outliers: OUTLIERS }), [sink], 'exact');
      for (let now = every; now <= 60_000; now += every) simulation.advanceTo(now);
      return simulation.fleet.measures.requests.join();
    });
    assert.equal(totals[0], totals[1]);
  });
});

describe('a limit of requests in flight', () => {
  for (const engine of ['exact', 'fluid'] as const) {
    test(`${engine}: lets in what the limit over the mean time allows, and nothing is rejected before`, (t) => {
      const limited = spec({ policy: 'round-robin', timeoutMs: 2000, maxInFlight: 90 });
      const { fleet, advanceTo } = createSimulation(limited, [{ at: 30_000, change: hanging }], engine);
      const rejected = (): number => fleet.measures.rejections.reduce((sum, count) => sum + count, 0);
      advanceTo(30_000);
      assert.equal(rejected(), 0);
      advanceTo(40_000);
      const before = rejected();
      advanceTo(100_000);
      // Four balancers; 60 % of what is let in takes 2 s, the rest 40 ms.
      const letIn = (4 * 90) / (0.6 * 2 + 0.4 * 0.0405);
      const share = (rejected() - before) / (1800 * 60);
      t.diagnostic(`rejected ${share.toFixed(4)}, expected ${(1 - letIn / 1800).toFixed(4)}`);
      assert.ok(Math.abs(share - (1 - letIn / 1800)) < 0.02, String(share));
    });
  }
});

describe('two choices in steps far longer than a request', () => {
  /** The first host's share of each minute. */
  function sharesOfFirst(slow: number): readonly number[] {
    const heavy = fleetOf({
      balancers: balancersOf(2, { cores: 64 }),
      clusters: [{ ...CLUSTER, requestsPerS: 200_000, hosts: hostsOf(5, { slots: 5000 }) }],
    });
    const timeline: TimedChange[] = [{ at: 0, change: { kind: 'hosts', cluster: 0, hosts: [0], set: { slow } } }];
    const { fleet, advanceTo } = createSimulation(heavy, timeline, 'fluid');
    const { attempts } = fleet.measures;
    const width = attempts.length / fleet.balancerCount / fleet.hostCount;
    const sumOf = (host: number): number =>
      attempts.reduce((sum, count, i) => (Math.floor(i / width) % fleet.hostCount === host ? sum + count : sum), 0);
    let before = [0, 0];
    return Array.from({ length: 20 }, (_, minute) => {
      advanceTo((minute + 1) * 60_000);
      const now = [sumOf(0), attempts.reduce((sum, count) => sum + count, 0)];
      const share = ((now[0] ?? 0) - (before[0] ?? 0)) / ((now[1] ?? 0) - (before[1] ?? 0));
      before = now;
      return share;
    });
  }

  test('hosts that are alike do not take turns', () => {
    for (const share of sharesOfFirst(1)) assert.ok(Math.abs(share - 0.2) < 0.005, String(share));
  });

  test('a slower host settles where as much is in flight to it as to the others', () => {
    const shares = sharesOfFirst(3).slice(5);
    // A third of the pace, as long a queue: s / (1/3) = (1 - s) / 4.
    for (const share of shares) assert.ok(Math.abs(share - 1 / 13) < 0.01, String(share));
  });
});
