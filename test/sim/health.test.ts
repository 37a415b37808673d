import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ACTIVE_CHECKS, ActiveChecks, TWO_SIGNAL } from '../../src/sim/health/active-checks.ts';
import { HostPool, type PoolHost } from '../../src/sim/health/host-pool.ts';
import { OUTLIERS, OutlierEjection } from '../../src/sim/health/outlier-ejection.ts';
import { isPanic } from '../../src/sim/health/panic.ts';
import { LeastConnections } from '../../src/sim/policies/least-connections.ts';

describe('active checks', () => {
  test('every 5 s, 2 failures take a host down, 2 passes bring it back', (t) => {
    const checks = new ActiveChecks(1);
    const seen = [false, true, false, false, true, false, true, true].map((passed) => checks.probed(0, passed));
    t.diagnostic(`checks: expected 5 s, 2 down, 2 up, simulated ${ACTIVE_CHECKS.intervalMs / 1000} s, ${seen.join()}`);
    assert.deepEqual(seen, [null, null, null, 'down', null, null, null, 'up']);
    assert.equal(ACTIVE_CHECKS.intervalMs, 5000);
  });

  test('two signals: suspect after 2 failed probes, down only when 10 of the last 20 requests failed too', (t) => {
    const checks = new ActiveChecks(1, { ...ACTIVE_CHECKS, twoSignal: TWO_SIGNAL });
    for (let i = 0; i < 9; i += 1) checks.answered(0, true);
    for (let i = 0; i < 3; i += 1) assert.equal(checks.probed(0, false), null);
    assert.ok(checks.isUp(0) && checks.isSuspect(0));
    for (let i = 0; i < 11; i += 1) assert.equal(checks.answered(0, false), null);
    // The nine oldest failures leave the last twenty one by one as new ones come in: nine all the time.
    for (let i = 0; i < 9; i += 1) assert.equal(checks.answered(0, true), null, `failure ${i}`);
    assert.equal(checks.answered(0, true), 'down');
    t.diagnostic('two-signal: expected suspect at 2 probes and down at 10 of 20, simulated the same');
    assert.equal(checks.isSuspect(0), false);
  });

  test('probes are kept out of load accounting', (t) => {
    const policy = new LeastConnections();
    const pool = new HostPool(poolHosts(2), { checks: ACTIVE_CHECKS, outliers: OUTLIERS, panicBelow: 0.5 }, [
      { policy, takes: () => true },
    ]);
    for (let i = 0; i < 50; i += 1) pool.probed(0, i % 2 === 0);
    t.diagnostic(`host 0 after 50 probes, ties by insertion: expected picked first, simulated host ${policy.pick()}`);
    assert.equal(policy.pick(), 0);
    assert.equal(pool.healthy, 2);
  });
});

const poolHosts = (count: number): PoolHost[] =>
  Array.from({ length: count }, () => ({ weight: 1, member: true, draining: false, joinedAt: 0 }));

describe('outlier ejection', () => {
  test('5 consecutive 5xx eject; a success between starts the count anew', (t) => {
    const ejector = new OutlierEjection(40);
    for (let i = 0; i < 4; i += 1) assert.equal(ejector.answered(0, 3, true), null);
    assert.equal(ejector.answered(0, 3, false), null);
    let failures = 0;
    for (;;) {
      failures += 1;
      const ejection = ejector.answered(0, 3, true);
      if (ejection === null) continue;
      assert.deepEqual(ejection, { host: 3, reason: 'consecutive_5xx', enforced: true, until: 30_000 });
      break;
    }
    t.diagnostic(`consecutive 5xx that eject: expected 5, simulated ${failures}`);
    assert.equal(failures, 5);
  });

  test('30, 60, 90 s: the nth ejection lasts n times as long, the third within two minutes', (t) => {
    const ejector = new OutlierEjection(40);
    const spans: number[] = [];
    const starts: number[] = [];
    for (let now = 0; now < 400_000 && spans.length < 3; now += 100) {
      ejector.release(now);
      if (now % 10_000 === 0) ejector.sweep(now);
      const ejection = ejector.answered(now, 0, true);
      if (ejection === null) continue;
      spans.push((ejection.until - now) / 1000);
      starts.push(now / 1000);
    }
    t.diagnostic(`ejections: expected 30, 60, 90 s, third within 120 s, simulated ${spans} at ${starts} s`);
    assert.deepEqual(spans, [30, 60, 90]);
    assert.ok((starts[2] ?? 999) - (starts[0] ?? 0) < 120);
  });

  test('success rate below mean - 1.9 sigma, every 10 s, at least 5 hosts of at least 100 requests', (t) => {
    const sweepOf = (hosts: number, requests: number, bad: number): number[] => {
      const ejector = new OutlierEjection(hosts);
      for (let host = 0; host < hosts; host += 1) {
        ejector.countAnswers(host, requests, requests * (host === 0 ? 1 - bad : 0.999));
      }
      return ejector.sweep(10_000).map(({ host }) => host);
    };
    t.diagnostic(
      `sweep of 40: expected host 0, simulated ${sweepOf(40, 100, 0.3)}; 99 requests: ${sweepOf(40, 99, 0.3)}`,
    );
    assert.deepEqual(sweepOf(40, 100, 0.3), [0]);
    assert.deepEqual(sweepOf(5, 100, 0.3), [0]);
    assert.deepEqual(sweepOf(40, 99, 0.3), []);
    assert.deepEqual(sweepOf(4, 100, 0.3), []);
    assert.equal(OUTLIERS.intervalMs, 10_000);
    // One of n lies (n - 1) / sqrt(n - 1) sigmas below: with 5 hosts 2.0, just beyond 1.9.
    const everyOther = new OutlierEjection(10);
    for (let host = 0; host < 10; host += 1) everyOther.countAnswers(host, 100, host < 6 ? 0 : 100);
    assert.deepEqual(everyOther.sweep(10_000), [], 'a slow dependency fails most hosts alike: none is an outlier');
  });

  test('cap 10 %, at most 20 %, at least one host; what the cap refuses is told', (t) => {
    const ejectAll = (hosts: number, cap: number): { out: number; refused: number } => {
      const ejector = new OutlierEjection(hosts, { ...OUTLIERS, cap });
      let refused = 0;
      for (let host = 0; host < hosts; host += 1) {
        for (let i = 0; i < 5; i += 1) if (ejector.answered(0, host, true)?.enforced === false) refused += 1;
      }
      return { out: ejector.out, refused };
    };
    const seen = [ejectAll(40, 0.1), ejectAll(40, 0.9), ejectAll(12, 0.1), ejectAll(3, 0.1)];
    t.diagnostic(`out of 40, 40 with cap 0.9, 12, 3: expected 4, 8, 1, 1, simulated ${seen.map(({ out }) => out)}`);
    assert.deepEqual(seen, [
      { out: 4, refused: 36 },
      { out: 8, refused: 32 },
      { out: 1, refused: 11 },
      { out: 1, refused: 2 },
    ]);
  });

  test('whatever is answered, the cap holds and every host comes back', () => {
    const answer = fc.record({ host: fc.nat(19), failed: fc.boolean(), gap: fc.nat(3000) });
    fc.assert(
      fc.property(
        fc.array(answer, { minLength: 50, maxLength: 400 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, cap) => {
          const ejector = new OutlierEjection(20, { ...OUTLIERS, cap, consecutive: 2 });
          let now = 0;
          for (const { host, failed, gap } of all) {
            now += gap;
            ejector.release(now);
            const wasOut = ejector.isOut(host);
            const ejection = ejector.answered(now, host, failed);
            assert.ok(ejection === null || (failed && !wasOut));
            assert.ok(ejector.out <= Math.max(1, Math.floor(Math.min(0.2, cap) * 20)));
            const out = Array.from({ length: 20 }, (_, i) => ejector.isOut(i)).filter(Boolean).length;
            assert.equal(out, ejector.out);
          }
          ejector.release(now + 30_000 * 400);
          assert.equal(ejector.out, 0);
        },
      ),
    );
  });
});

describe('panic', () => {
  test('below 50 % healthy every host is used; at zero without panic none', (t) => {
    const picksWith = (down: number, panicBelow: number): number => {
      const policy = new LeastConnections();
      const pool = new HostPool(poolHosts(10), { checks: ACTIVE_CHECKS, outliers: null, panicBelow }, [
        { policy, takes: () => true },
      ]);
      for (let host = 0; host < down; host += 1) for (let i = 0; i < 2; i += 1) pool.probed(host, false);
      const picked = new Set<number>();
      for (let i = 0; i < 10; i += 1) {
        const host = policy.pick();
        if (host < 0) break;
        policy.started(host);
        picked.add(host);
      }
      return picked.size;
    };
    const seen = [picksWith(5, 0.5), picksWith(6, 0.5), picksWith(10, 0.5), picksWith(10, 0)];
    t.diagnostic(`hosts used with 5, 6, 10 of 10 down, 10 without panic: expected 5, 10, 10, 0, simulated ${seen}`);
    assert.deepEqual(seen, [5, 10, 10, 0]);
    assert.equal(isPanic(0, 0), false);
  });

  test('a draining or absent host is never picked, in panic neither', () => {
    const hosts = poolHosts(4);
    const policy = new LeastConnections();
    const pool = new HostPool(hosts, { checks: ACTIVE_CHECKS, outliers: null, panicBelow: 0.5 }, [
      { policy, takes: () => true },
    ]);
    for (let host = 0; host < 4; host += 1) for (let i = 0; i < 2; i += 1) pool.probed(host, false);
    Object.assign(hosts[0] ?? {}, { draining: true });
    Object.assign(hosts[1] ?? {}, { member: false });
    pool.refresh();
    assert.ok(pool.inPanic);
    assert.deepEqual([pool.members, pool.healthy, policy.pick()], [2, 0, 2]);
  });
});
