import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createPrng } from '../../src/base/prng.ts';
import { createPolicy, type PolicyName } from '../../src/sim/policies/create-policy.ts';
import { mix32 } from '../../src/sim/policies/hash.ts';
import { HashRing, ringOf } from '../../src/sim/policies/hash-ring.ts';
import { Hashing, LOAD_BOUND } from '../../src/sim/policies/hashing.ts';
import { LeastConnections } from '../../src/sim/policies/least-connections.ts';
import { MaglevTable } from '../../src/sim/policies/maglev.ts';
import { NO_HOST, type Policy, type PolicyHost } from '../../src/sim/policies/policy.ts';
import { RoundRobin } from '../../src/sim/policies/round-robin.ts';
import { slowStartShare } from '../../src/sim/policies/slow-start.ts';
import { TwoChoices } from '../../src/sim/policies/two-choices.ts';
import { WeightedRoundRobin } from '../../src/sim/policies/weighted-round-robin.ts';

const NAMES: readonly PolicyName[] = [
  'round-robin',
  'weighted-round-robin',
  'least-connections',
  'weighted-least-connections',
  'two-choices',
  'ring-hash',
  'ring-hash-bounded',
  'maglev',
  'maglev-bounded',
];

const hostsOf = (...weights: number[]): PolicyHost[] =>
  weights.map((weight, host) => ({ host, weight, joinedAt: Number.NEGATIVE_INFINITY }));

/** Picks without answers: every pick stays in flight. */
function picksOf(policy: Policy, count: number, hosts: number): number[] {
  const picked = new Array<number>(hosts).fill(0);
  for (let i = 0; i < count; i += 1) {
    const host = policy.pick(0, mix32(i));
    policy.started(host);
    picked[host] = (picked[host] ?? 0) + 1;
  }
  return picked;
}

describe('what holds for every policy', () => {
  for (const name of NAMES) {
    test(`${name}: picks only hosts it was given, whatever happens before`, () => {
      const step = fc.oneof(
        fc.record({ kind: fc.constant('pick' as const), key: fc.nat(0xffffffff) }),
        fc.record({ kind: fc.constant('end' as const), which: fc.nat(50) }),
        fc.record({
          kind: fc.constant('hosts' as const),
          hosts: fc.uniqueArray(fc.nat(20), { maxLength: 8 }),
          weight: fc.integer({ min: 1, max: 4 }),
        }),
      );
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), fc.nat(), (steps, seed) => {
          const policy = createPolicy(name, createPrng(seed));
          const flying: number[] = [];
          let allowed: number[] = [];
          for (const [now, step] of steps.entries()) {
            if (step.kind === 'hosts') {
              allowed = step.hosts;
              policy.hostsChanged(
                allowed.map((host, i) => ({ host, weight: 1 + (i % step.weight), joinedAt: now * 1000 })),
              );
            } else if (step.kind === 'end') {
              // Also ends that never started: they must change nothing.
              const [host] = flying.splice(step.which % Math.max(1, flying.length), 1);
              policy.finished(host ?? step.which);
            } else {
              const host = policy.pick(now * 1000, step.key);
              if (allowed.length === 0) assert.equal(host, NO_HOST);
              else assert.ok(allowed.includes(host), `${host} of ${allowed.join()}`);
              if (host !== NO_HOST) {
                policy.started(host);
                flying.push(host);
              }
            }
          }
        }),
        { numRuns: name.startsWith('maglev') ? 10 : 150 },
      );
    });
  }

  test('the same seed gives the same picks', () => {
    for (const name of NAMES) {
      const runs = [0, 1].map(() => {
        const policy = createPolicy(name, createPrng(7));
        policy.hostsChanged(hostsOf(1, 2, 3, 4));
        return picksOf(policy, 200, 4);
      });
      assert.deepEqual(runs[0], runs[1], name);
    }
  });
});

describe('round robin', () => {
  test('3 hosts, 8 workers x 2,000 picks: 5334/5333/5333', (t) => {
    // The workers share the counter; whose turn is next is drawn.
    const turn = new Uint32Array(new SharedArrayBuffer(4));
    const workers = Array.from({ length: 8 }, () => {
      const policy = new RoundRobin(turn);
      policy.hostsChanged(hostsOf(1, 1, 1));
      return { policy, left: 2000 };
    });
    const prng = createPrng(1);
    const picked = [0, 0, 0];
    for (;;) {
      const busy = workers.filter(({ left }) => left > 0);
      const worker = busy[prng.below(busy.length)];
      if (worker === undefined) break;
      worker.left -= 1;
      const host = worker.policy.pick();
      picked[host] = (picked[host] ?? 0) + 1;
    }
    t.diagnostic(`round robin: expected 5334/5333/5333, simulated ${picked.join('/')}`);
    assert.deepEqual(picked, [5334, 5333, 5333]);
  });

  test('a snapshot is not changed by what happens to the list it came from', () => {
    const hosts = hostsOf(1, 1);
    const policy = new RoundRobin();
    policy.hostsChanged(hosts);
    hosts.length = 0;
    assert.deepEqual([policy.pick(), policy.pick(), policy.pick()], [0, 1, 0]);
  });

  test('weighted 2:1 over 9: 6 and 3, the heavy one spread out', (t) => {
    const policy = new WeightedRoundRobin();
    policy.hostsChanged(hostsOf(2, 1));
    const order = Array.from({ length: 9 }, () => policy.pick());
    const heavy = order.filter((host) => host === 0).length;
    t.diagnostic(`weighted round robin 2:1 over 9: expected 6 and 3, simulated ${heavy} and ${9 - heavy}`);
    assert.deepEqual(order, [0, 1, 0, 0, 1, 0, 0, 1, 0]);
  });

  test('weighted: whole cycles are exactly proportional', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }), (weights) => {
        const policy = new WeightedRoundRobin();
        policy.hostsChanged(hostsOf(...weights));
        const cycle = weights.reduce((a, b) => a + b, 0);
        assert.deepEqual(
          picksOf(policy, cycle * 3, weights.length),
          weights.map((weight) => weight * 3),
        );
      }),
    );
  });
});

describe('least connections', () => {
  test('capacity 4 with 2 in flight (0.5) comes before capacity 1 with 1 (1.0)', (t) => {
    const policy = new LeastConnections();
    policy.hostsChanged(hostsOf(1, 4));
    for (const host of [0, 1, 1]) policy.started(host);
    t.diagnostic(`load ratio 2/4 against 1/1: expected the first, simulated host of capacity ${[1, 4][policy.pick()]}`);
    assert.equal(policy.pick(), 1);
  });

  test('ties by insertion order; weighted: 4:2:1 and 7 requests give 4, 2, 1, ties to the higher weight', (t) => {
    const plain = new LeastConnections();
    plain.hostsChanged(hostsOf(1, 2, 4));
    assert.equal(plain.pick(), 0);
    const weighted = new LeastConnections('weight');
    weighted.hostsChanged(hostsOf(1, 2, 4));
    assert.equal(weighted.pick(), 2);
    const picked = picksOf(weighted, 7, 3).reverse();
    t.diagnostic(`weighted least connections 4:2:1: expected 4, 2, 1, simulated ${picked.join(', ')}`);
    assert.deepEqual(picked, [4, 2, 1]);
  });

  test('counts never fall below zero', (t) => {
    const policy = new LeastConnections();
    policy.hostsChanged(hostsOf(1, 1));
    for (let i = 0; i < 5; i += 1) policy.finished(1);
    policy.started(1);
    t.diagnostic(`after 5 ends too many and one start: expected the other host, simulated host ${policy.pick()}`);
    assert.equal(policy.pick(), 0);
  });

  test('always a host of least ratio, by brute force, with the heap bounded', (t) => {
    const prng = createPrng(11);
    const weights = Array.from({ length: 30 }, () => 1 + prng.below(4));
    const policy = new LeastConnections();
    policy.hostsChanged(hostsOf(...weights));
    const active = new Array<number>(30).fill(0);
    let most = 0;
    for (let i = 0; i < 50_000; i += 1) {
      const ratios = active.map((count, host) => count / (weights[host] ?? 1));
      const least = ratios.indexOf(Math.min(...ratios));
      assert.equal(policy.pick(), least);
      // Loads also move behind the policy's back, so that many entries go stale without reaching the top.
      const host = prng.below(2) === 0 ? least : prng.below(30);
      if (prng.below(2) === 0 || (active[host] ?? 0) === 0) {
        active[host] = (active[host] ?? 0) + 1;
        policy.started(host);
      } else {
        active[host] = (active[host] ?? 0) - 1;
        policy.finished(host);
      }
      most = Math.max(most, policy.heap.entries);
      assert.ok(policy.heap.entries <= policy.heap.capacity);
    }
    t.diagnostic(
      `heap of 30 hosts: at most ${most} entries of ${policy.heap.capacity}, ${policy.heap.rebuilds} rebuilds`,
    );
    assert.ok(policy.heap.capacity <= 4 * 30);
    assert.ok(policy.heap.rebuilds > 0);
  });
});

describe('two choices', () => {
  test('an idle-looking host draws at most 2/N', (t) => {
    const policy = new TwoChoices(createPrng(3));
    policy.hostsChanged(hostsOf(...new Array<number>(40).fill(1)));
    for (let host = 1; host < 40; host += 1) for (let i = 0; i < 5; i += 1) policy.started(host);
    let drawn = 0;
    for (let i = 0; i < 40_000; i += 1) if (policy.pick(0) === 0) drawn += 1;
    t.diagnostic(`share of a host that always looks idle, 40 hosts: expected 5 %, simulated ${drawn / 400} %`);
    assert.ok(Math.abs(drawn / 40_000 - 2 / 40) < 0.004);
  });

  test('slow start: weight x max(0.1, age / 60 s)', (t) => {
    const shares = [0, 3, 6, 30, 60, 600].map((age) => slowStartShare(age * 1000));
    t.diagnostic(
      `slow start at 0, 3, 6, 30, 60, 600 s: expected 0.1, 0.1, 0.1, 0.5, 1, 1, simulated ${shares.join(', ')}`,
    );
    assert.deepEqual(shares, [0.1, 0.1, 0.1, 0.5, 1, 1]);
    const policy = new TwoChoices(createPrng(3));
    policy.hostsChanged([
      { host: 0, weight: 1, joinedAt: 0 },
      { host: 1, weight: 1, joinedAt: -60_000 },
    ]);
    // (0 + 1) / 0.5 against (0 + 1) / 1, then against (1 + 1) / 1: equal, either may be picked.
    assert.equal(policy.pick(30_000), 1);
    for (let i = 0; i < 2; i += 1) policy.started(1);
    assert.equal(policy.pick(30_000), 0);
  });
});

describe('hashing', () => {
  test('ring positions 25, 60, 90: key hash 19 moves from the first to the second, others stay', (t) => {
    const points = [25, 60, 90].map((position, host) => ({ position, host }));
    const ownerOf = (ring: HashRing, hash: number): number => ring.hostAt(ring.locate(hash));
    const whole = new HashRing(points);
    const without = new HashRing(points.slice(1));
    t.diagnostic(
      `key 19: expected host 1 then 2, simulated ${ownerOf(whole, 19) + 1} then ${ownerOf(without, 19) + 1}`,
    );
    assert.deepEqual([ownerOf(whole, 19), ownerOf(without, 19)], [0, 1]);
    for (let hash = 0; hash < 120; hash += 1) {
      if (ownerOf(whole, hash) !== 0) assert.equal(ownerOf(without, hash), ownerOf(whole, hash), `key ${hash}`);
    }
    assert.equal(ownerOf(whole, 91), 0);
  });

  test('removing one of n hosts moves only its keys on a ring, and few others with Maglev', (t) => {
    const hosts = hostsOf(...new Array<number>(20).fill(1));
    const fewer = hosts.filter(({ host }) => host !== 7);
    const tables = { ring: [ringOf(hosts), ringOf(fewer)], maglev: [new MaglevTable(hosts), new MaglevTable(fewer)] };
    for (const [name, [before, after]] of Object.entries(tables)) {
      assert.ok(before !== undefined && after !== undefined);
      let moved = 0;
      let others = 0;
      for (let key = 0; key < 50_000; key += 1) {
        const hash = mix32(key);
        const from = before.hostAt(before.locate(hash));
        if (from === after.hostAt(after.locate(hash))) continue;
        moved += 1;
        if (from !== 7) others += 1;
      }
      t.diagnostic(
        `${name}, 1 of 20 removed: expected 5 % moved, simulated ${moved / 500} %, of others ${others / 500} %`,
      );
      assert.ok(moved / 50_000 > 0.035 && moved / 50_000 < 0.08);
      assert.ok(name === 'ring' ? others === 0 : others / 50_000 < 0.03, `${name}: ${others} others`);
    }
  });

  test('Maglev shares follow the weights within 1 %', () => {
    const table = new MaglevTable(hostsOf(1, 2, 4));
    const slots = [0, 0, 0];
    for (let slot = 0; slot < table.slots; slot += 1) slots[table.hostAt(slot)] = (slots[table.hostAt(slot)] ?? 0) + 1;
    for (const [host, weight] of [1, 2, 4].entries()) {
      assert.ok(Math.abs((slots[host] ?? 0) / table.slots - weight / 7) < 0.01 * (weight / 7), slots.join());
    }
  });

  test('bounded load: a hot key leaves no host above 1.25 x the mean', (t) => {
    for (const tableOf of [ringOf, (hosts: readonly PolicyHost[]) => new MaglevTable(hosts)]) {
      const run = (bound: number | null): { over: number; overflowed: number } => {
        const policy = new Hashing(tableOf, bound);
        const hosts = 10;
        policy.hostsChanged(hostsOf(...new Array<number>(hosts).fill(1)));
        const prng = createPrng(5);
        const active = new Array<number>(hosts).fill(0);
        for (let i = 0; i < 2000; i += 1) {
          const host = policy.pick(0, prng.next() < 0.3 ? 12_345 : mix32(i));
          active[host] = (active[host] ?? 0) + 1;
          policy.started(host);
          if (bound !== null) assert.ok((active[host] ?? 0) <= Math.ceil((bound * (i + 1)) / hosts));
        }
        return { over: Math.max(...active) / 200, overflowed: policy.overflowed };
      };
      const [free, bounded] = [run(null), run(LOAD_BOUND)];
      t.diagnostic(`hot key of 30 %: expected <= 1.25 x mean, simulated ${bounded.over}, ${free.over} without a bound`);
      assert.ok(free.over > 3 && bounded.over <= LOAD_BOUND && bounded.overflowed > 300);
    }
  });
});
