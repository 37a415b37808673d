import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Balancer, EdgeFleet, fleetOf, HOUR_MS, type Load, MINUTE_MS, STEP_MS } from '../support/edge-fleet.ts';

/** One of ten balancers: a tenth of a million connections of five minutes each. */
const HEALTHY: Load = {
  full: 117,
  resumed: 216,
  connections: 333,
  requests: 6000,
  open: 100_000,
  resets: 1,
  misses: 0.1,
  nodes: 8,
};
/** 80 % of a balancer's connections are reset and come back, within a step. */
const REHASHED: Load = {
  ...HEALTHY,
  nodes: 10,
  resets: 8000,
  misses: 8000,
  full: 2900,
  resumed: 5300,
  connections: 8200,
};
const AFTER: Load = { ...HEALTHY, nodes: 10 };

function scene(healthy: Load = HEALTHY, balancers = 10) {
  const fleet = new EdgeFleet({ detectors: ['L4Rehash'], balancers: fleetOf(balancers) });
  fleet.run(HOUR_MS, () => healthy, false);
  fleet.run(MINUTE_MS, () => healthy);
  assert.deepEqual(fleet.said, []);
  return { fleet, from: fleet.now };
}

describe('L4Rehash', () => {
  test('eight nodes become ten, four fifths of the connections are reset: told within a step, for ten minutes', () => {
    const { fleet, from } = scene();
    fleet.run(STEP_MS, () => REHASHED);
    fleet.run(15 * MINUTE_MS, () => AFTER);
    assert.deepEqual(fleet.lines(from), ['fired L4Rehash ticket @10', 'resolved L4Rehash ticket @600']);
    const alert = fleet.newest('L4Rehash');
    assert.match(
      alert?.summary ?? '',
      /^L4 nodes went from 8 to 10: [78]\d{5} connections were reset, 80 % of those open/,
    );
    assert.equal(fleet.evidence('L4Rehash', 'change'), 2);
    assert.equal(fleet.evidence('L4Rehash', 'fair_share'), 0);
    assert.deepEqual(alert?.place, {});
  });

  for (const [what, load] of [
    [
      'consistent hashing and tracked flows: flows move, less than one in a hundred is reset',
      { resets: 80, misses: 2500 },
    ],
    ['resets without clients that come back', { full: 117, resumed: 216, connections: 333 }],
    ['resets, and no flow that a node does not know', { misses: 0.1 }],
    ['the same jump while the number of nodes stays', { nodes: 8 }],
  ] as const) {
    test(`${what}: silent`, () => {
      const { fleet } = scene();
      const mild = { ...REHASHED, ...load };
      fleet.run(STEP_MS, () => mild);
      fleet.run(10 * MINUTE_MS, () => ({ ...HEALTHY, nodes: mild.nodes ?? 8 }));
      assert.deepEqual(fleet.fired(), []);
    });
  }

  const isGone = ({ id }: Balancer): boolean => id === 'edge-9';
  /** A tenth of the connections came back to nine balancers, and this share of the others too. */
  const leaving = (extra: number): Load => {
    const back = (10_000 / 9) * (1 + extra * 9);
    return {
      ...HEALTHY,
      resets: back,
      misses: back,
      full: 117 + 0.35 * back,
      resumed: 216 + 0.65 * back,
      connections: 333 + back,
    };
  };

  test('a balancer that leaves takes its own connections: silent', () => {
    const { fleet } = scene();
    fleet.run(STEP_MS, (one) => (isGone(one) ? null : leaving(0)));
    fleet.run(10 * MINUTE_MS, (one) => (isGone(one) ? null : HEALTHY));
    assert.deepEqual(fleet.fired(), []);
  });

  test('a balancer that leaves takes half of all connections: told once it is known to be gone', () => {
    const { fleet, from } = scene();
    fleet.run(STEP_MS, (one) => (isGone(one) ? null : leaving(0.5)));
    fleet.run(5 * MINUTE_MS, (one) => (isGone(one) ? null : HEALTHY));
    assert.deepEqual(fleet.lines(from), ['fired L4Rehash ticket @60']);
    assert.match(fleet.newest('L4Rehash')?.summary ?? '', /^Balancers went from 10 to 9 \(edge-9\)/);
    assert.equal(fleet.evidence('L4Rehash', 'fair_share'), 0.1);
  });

  test('where nobody tells open connections and misses, the nodes, the resets and the handshakes do', () => {
    const { open, misses, ...told } = HEALTHY;
    assert.ok(open !== undefined && misses !== undefined);
    const { fleet } = scene(told);
    fleet.run(STEP_MS, () => ({ ...told, nodes: 10, resets: 8000, full: 2900, connections: 8200 }));
    assert.deepEqual(fleet.fired(), ['L4Rehash ticket']);
    assert.match(fleet.newest('L4Rehash')?.summary ?? '', /[78]\d{5} connections were reset;/);
  });

  test('goes on while nobody is heard, over a restart too', () => {
    const { fleet } = scene();
    fleet.run(STEP_MS, () => REHASHED);
    fleet.run(20 * MINUTE_MS, () => null);
    fleet.restart();
    fleet.run(5 * MINUTE_MS, () => null);
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired'],
    );
    fleet.run(MINUTE_MS, () => AFTER);
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired', 'resolved'],
    );
  });
});
