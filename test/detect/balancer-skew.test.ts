import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Balancer, EdgeFleet, fleetOf, type Load, MINUTE_MS } from '../support/edge-fleet.ts';

const WELL: Load = { full: 20, resumed: 40, connections: 60, open: 20_000, requests: 400, cpu: 0.3 };
const twelve = (count = 12): EdgeFleet => new EdgeFleet({ balancers: fleetOf(count), detectors: ['BalancerSkew'] });
const hotAt =
  (names: readonly string[], hot: Load) =>
  ({ id }: Balancer): Load =>
    names.includes(id) ? { ...WELL, ...hot } : WELL;

describe('BalancerSkew', () => {
  test('two balancers that hold most of 400,000 connections are told after five minutes, and named', () => {
    const fleet = twelve(20);
    fleet.run(10 * MINUTE_MS, () => WELL);
    const from = fleet.now;
    fleet.run(10 * MINUTE_MS, hotAt(['edge-3', 'edge-7'], { open: 150_000 }));
    assert.deepEqual(fleet.fired(), ['BalancerSkew ticket']);
    const after = ((fleet.said[0]?.at ?? 0) - from) / 1000;
    assert.ok(after >= 250 && after <= 310, `after ${after} s`);
    const { summary, place } = fleet.newest('BalancerSkew') ?? {};
    assert.match(
      summary ?? '',
      /^Balancers edge-[37], edge-[37] of 20 have up to 4\.\d times the mean of open connections/,
    );
    assert.deepEqual(place, {});
    fleet.run(6 * MINUTE_MS, () => WELL);
    assert.equal(fleet.said.at(-1)?.kind, 'resolved');
  });

  test('handshakes or CPU alone say so too; one balancer is the place', () => {
    for (const [name, hot] of [
      ['handshakes', { full: 300 }],
      ['cpu', { cpu: 0.9 }],
    ] as const) {
      const fleet = twelve();
      fleet.run(8 * MINUTE_MS, hotAt(['edge-4'], hot));
      assert.deepEqual(fleet.fired(), ['BalancerSkew ticket']);
      assert.equal(fleet.newest('BalancerSkew')?.place.balancer, 'edge-4');
      assert.ok(Number(fleet.evidence('BalancerSkew', name)) > 2);
    }
  });

  test('1.9 times the mean, three minutes of five times, and few connections are not', () => {
    const slight = twelve();
    slight.run(20 * MINUTE_MS, hotAt(['edge-4'], { open: 41_000 }));
    assert.deepEqual(slight.said, []);
    const short = twelve();
    short.run(5 * MINUTE_MS, () => WELL);
    short.run(3 * MINUTE_MS, hotAt(['edge-4'], { open: 140_000 }));
    short.run(5 * MINUTE_MS, () => WELL);
    assert.deepEqual(short.said, []);
    const few = twelve();
    const night: Load = { full: 0.01, resumed: 0.02, connections: 0.03, open: 4, requests: 1, cpu: 0.02 };
    few.run(20 * MINUTE_MS, ({ id }) => (id === 'edge-4' ? { ...night, open: 40, cpu: 0.1 } : night));
    assert.deepEqual(few.said, []);
  });

  test('a pair of which one is on stand-by, and regions of unlike size, are as they should be', () => {
    const pair = twelve(2);
    pair.run(20 * MINUTE_MS, ({ id }) => (id === 'edge-0' ? WELL : { ...WELL, open: 0, full: 0, resumed: 0, cpu: 0 }));
    assert.deepEqual(pair.said, []);
    const balancers = fleetOf(12).map((one, index) => ({ ...one, region: index < 3 ? 'large' : 'small' }));
    const regions = new EdgeFleet({ balancers, detectors: ['BalancerSkew'] });
    regions.run(20 * MINUTE_MS, ({ region }) => (region === 'large' ? { ...WELL, open: 200_000, cpu: 0.9 } : WELL));
    assert.deepEqual(regions.said, []);
  });

  test('balancers that push once a minute are judged over two pushes, and as soon', () => {
    const fleet = new EdgeFleet({ balancers: fleetOf(12), detectors: ['BalancerSkew'], everyMs: MINUTE_MS });
    fleet.run(10 * MINUTE_MS, () => WELL);
    const from = fleet.now;
    fleet.run(10 * MINUTE_MS, hotAt(['edge-4'], { open: 150_000 }));
    const after = ((fleet.said[0]?.at ?? 0) - from) / MINUTE_MS;
    assert.ok(after >= 4 && after <= 7, `after ${after} min`);
  });

  test('it goes on through silence, a restart and a start without data', () => {
    const fleet = twelve();
    fleet.run(8 * MINUTE_MS, hotAt(['edge-4'], { open: 150_000 }));
    fleet.run(10 * MINUTE_MS, () => null);
    fleet.restart();
    fleet.tick();
    fleet.forget();
    fleet.tick();
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired'],
    );
  });
});
