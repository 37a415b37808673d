import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Fleet } from '../../src/sim/fleet.ts';
import { balancersOf, fleetOf } from '../../src/sim/fleet-spec.ts';
import { L4Tier } from '../../src/sim/l4/l4-tier.ts';
import { zoneSplit } from '../../src/sim/policies/zone-split.ts';
import { mm1WaitS, overflowShare, waitS } from '../../src/sim/queues/queue-models.ts';
import { handshakeCpuS, setupRoundTripsS } from '../../src/sim/tls/costs.ts';
import { TicketHolders } from '../../src/sim/tls/ticket-holders.ts';
import { TicketKeys } from '../../src/sim/tls/ticket-keys.ts';

const BALANCERS = Array.from({ length: 50 }, (_, i) => i);

describe('the L4 tier', () => {
  test('8 to 10 nodes: mod-N remaps 80 % and resets them, consistent hashing with tracking resets below 1 %', (t) => {
    const mod = new L4Tier({ hashing: 'mod', tracking: true }, 8, BALANCERS).nodesChanged(10);
    const maglev = new L4Tier({ hashing: 'maglev', tracking: true }, 8, BALANCERS);
    // At its worst: a balancer joins in the same moment, so the shared table changes under the moved flows.
    const worst = maglev.changed(10, [...BALANCERS, 50]);
    t.diagnostic(
      `mod-N: expected 80 % moved, 800 k of 1 M reset, simulated ${mod.moved * 100} %, ${mod.resets * 1000} k`,
    );
    t.diagnostic(`consistent with tracking: expected < 1 % reset, simulated ${worst.resets * 100} %`);
    assert.ok(Math.abs(mod.moved - 0.8) < 0.02 && Math.abs(mod.resets - 0.8) < 0.03);
    assert.ok(worst.moved > 0.15 && worst.moved < 0.3, `${worst.moved}`);
    assert.ok(worst.resets < 0.01 && worst.resets > 0);
    assert.equal(worst.misses, worst.moved);
    const calm = new L4Tier({ hashing: 'maglev', tracking: true }, 8, BALANCERS).nodesChanged(10);
    assert.equal(calm.resets, 0, 'the same table at every node');
  });

  test('a lost balancer resets its own flows and no others', () => {
    const tier = new L4Tier({ hashing: 'maglev', tracking: true }, 8, BALANCERS);
    const share = tier.shares().get(7) ?? 0;
    const change = tier.balancersChanged(BALANCERS.filter((balancer) => balancer !== 7));
    assert.ok(Math.abs(change.resets - share) < 0.2 * share, `${change.resets} of ${share}`);
    assert.ok(Math.abs([...tier.shares().values()].reduce((a, b) => a + b, 0) - 1) < 1e-9, 'shares');
    assert.equal(tier.shares().get(7), undefined);
    const untracked = new L4Tier({ hashing: 'maglev', tracking: false }, 8, BALANCERS);
    assert.ok(untracked.balancersChanged(BALANCERS.slice(1)).resets > share);
  });
});

describe('TLS', () => {
  test('costs: RSA-2048 full handshake 10 x ECDSA P-256, 160 ms of round trips for a new client', (t) => {
    const times = handshakeCpuS('full', 'rsa-2048') / handshakeCpuS('full', 'ecdsa-p256');
    t.diagnostic(`RSA to ECDSA: expected ~10, simulated ${times}`);
    t.diagnostic(`two round trips of 80 ms: expected 160 ms, simulated ${setupRoundTripsS(0.08) * 1000} ms`);
    assert.ok(Math.abs(times - 10) < 1e-9);
    assert.ok(Math.abs(setupRoundTripsS(0.08) - 0.16) < 1e-12);
    assert.ok(handshakeCpuS('resumed', 'rsa-2048') < handshakeCpuS('full', 'ecdsa-p256'));
  });

  test('rotation with overlap keeps every ticket; without, none, until clients have come back', () => {
    const keys = new TicketKeys();
    const holders = new TicketHolders(keys, 1000);
    assert.equal(holders.resumableShare, 1);
    keys.rotate(true);
    assert.equal(holders.resumableShare, 1);
    holders.returned(1000);
    keys.rotate(true);
    // The oldest key is gone: 1/e of the clients have not been back since.
    assert.ok(Math.abs(holders.resumableShare - (1 - Math.exp(-1))) < 1e-9);
    keys.rotate(false);
    assert.equal(holders.resumableShare, 0);
    holders.returned(500);
    assert.ok(Math.abs(holders.resumableShare - (1 - Math.exp(-0.5))) < 1e-9);
    keys.restore(0);
    assert.ok(holders.resumableShare < 0.3 && keys.current === 0);
  });

  test('sessions are known to one balancer only: of 4, a quarter of returning clients resumes', () => {
    const shareWith = (resumption: 'tickets' | 'sessions'): number =>
      new Fleet(fleetOf({ balancers: balancersOf(4), tls: { resumption } })).resumableShare();
    assert.deepEqual([shareWith('tickets'), shareWith('sessions')], [1, 0.25]);
  });

  test('clients are neither made nor lost', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ back: fc.nat(3000), overlap: fc.boolean() }), { maxLength: 20 }), (steps) => {
        const keys = new TicketKeys();
        const holders = new TicketHolders(keys, 1000);
        for (const { back, overlap } of steps) {
          keys.rotate(overlap);
          holders.returned(back);
          assert.ok(holders.resumableShare >= 0 && holders.resumableShare <= 1 + 1e-9);
        }
        holders.returned(1e6);
        assert.ok(Math.abs(holders.resumableShare - 1) < 1e-9);
      }),
    );
  });
});

describe('queues', () => {
  test('accept queue: rho / (mu (1 - rho)), mu 1000/s, rho .80 to .995: 4 ms to 199 ms', (t) => {
    const waits = [0.8, 0.995].map((rho) => mm1WaitS(rho, 1000) * 1000);
    t.diagnostic(`expected 4 and 199 ms, ~50 x, simulated ${waits.join(' and ')} ms`);
    assert.ok(Math.abs((waits[0] ?? 0) - 4) < 1e-9 && Math.abs((waits[1] ?? 0) - 199) < 1e-6);
    assert.equal(mm1WaitS(1, 1000), Number.POSITIVE_INFINITY);
    // With one server the general form is the same.
    assert.ok(Math.abs(waitS(0.8, 1, 0.001) - 0.004) < 1e-9);
    assert.ok(waitS(0.8, 16, 0.001) < waitS(0.8, 4, 0.001));
  });

  test('overflow grows from nothing to the excess', () => {
    assert.ok(overflowShare(0.5, 128) < 1e-30);
    assert.ok(Math.abs(overflowShare(1, 128) - 1 / 129) < 1e-9);
    assert.ok(Math.abs(overflowShare(2, 128) - 0.5) < 1e-9);
  });
});

describe('zones', () => {
  test('by place a zone keeps all it gets; by capacity it spills what exceeds its share', (t) => {
    const capacity = [12, 20, 20].map((hosts) => hosts / 52);
    const traffic = [1 / 3, 1 / 3, 1 / 3];
    assert.deepEqual(zoneSplit('place', traffic, capacity, 0), [1, 0, 0]);
    const load = [0, 0, 0];
    for (const zone of [0, 1, 2]) {
      zoneSplit('capacity', traffic, capacity, zone).forEach((share, to) => {
        load[to] = (load[to] ?? 0) + share / 3;
      });
    }
    t.diagnostic(`load by capacity over zones of 12, 20, 20: expected ${capacity}, simulated ${load}`);
    for (const zone of [0, 1, 2]) assert.ok(Math.abs((load[zone] ?? 0) - (capacity[zone] ?? 0)) < 1e-9);
  });

  test('shares add up to one and fit the capacity, whatever they are', () => {
    const positive = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(positive, positive, (a, b) => {
        fc.pre(a.some((x) => x > 0) && b.some((x) => x > 0));
        const shareOf = (all: number[]): number[] => all.map((x) => x / all.reduce((sum, y) => sum + y, 0));
        const [traffic, capacity] = [shareOf(a), shareOf(b)];
        const load = [0, 0, 0];
        for (const zone of [0, 1, 2]) {
          const split = zoneSplit('capacity', traffic, capacity, zone);
          assert.ok(Math.abs(split.reduce((sum, x) => sum + x, 0) - 1) < 1e-9);
          split.forEach((share, to) => {
            load[to] = (load[to] ?? 0) + share * (traffic[zone] ?? 0);
            assert.ok(share === 0 || (capacity[to] ?? 0) > 0 || capacity[zone] === 0);
          });
        }
      }),
    );
  });
});
