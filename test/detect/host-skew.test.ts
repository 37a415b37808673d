import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HostFleet, type HostStep } from '../support/host-fleet.ts';

const MINUTES = 60;
const HOT = 7;
const NAME = '10.0.0.7:8080';
const even = (): HostStep => ({ requests: 100 });
const hashes = (scene: HostFleet): void => scene.gauge('cluster.hash.entries', { cluster: 'checkout' }, 3277);
const shifted =
  (hot: number, others: number) =>
  ({ index }: { index: number }): HostStep => ({ requests: index === HOT ? hot : others });

describe('HostSkew, a hot host', () => {
  test('more than twice the mean for five minutes is told, and is over when it is even again', () => {
    const fleet = new HostFleet({ hosts: 20 }, 'HostSkew');
    fleet.run(10 * MINUTES, even);
    const said = fleet.run(10 * MINUTES, shifted(250, 92));
    assert.deepEqual(said.length, 1);
    assert.match(said[0] ?? '', new RegExp(`^fired HostSkew ticket ${NAME} @`));
    const after = Number(said[0]?.split('@')[1]) - 600;
    assert.ok(after > 240 && after <= 300, `after ${after} s`);
    assert.match(fleet.alerts[0]?.summary ?? '', /host 10\.0\.0\.7:8080 takes 1[23] % of its requests, 2\.[45] times/);
    assert.deepEqual(
      fleet.run(10 * MINUTES, even).map((line) => line.split(' ')[0]),
      ['resolved'],
    );
  });

  test('1.94 times the mean, or three minutes of three times, is not', () => {
    const fleet = new HostFleet({ hosts: 20 }, 'HostSkew');
    fleet.run(10 * MINUTES, even);
    assert.deepEqual(fleet.run(20 * MINUTES, shifted(190, 100)), []);
    assert.deepEqual(fleet.run(3 * MINUTES, shifted(300, 90)), []);
    assert.deepEqual(fleet.run(10 * MINUTES, even), []);
  });

  test('in a pool of five 1.5 times is the limit', () => {
    const five = new HostFleet({ hosts: 8 }, 'HostSkew');
    const plan =
      (hosts: number, hot: number) =>
      ({ index }: { index: number }): HostStep => ({ requests: index >= hosts ? 0 : index === 0 ? hot : 100 });
    assert.deepEqual(five.run(10 * MINUTES, plan(5, 140)), [], '1.30 times the mean');
    assert.equal(five.run(10 * MINUTES, plan(5, 190)).length, 1, '1.61 times');
    const six = new HostFleet({ hosts: 8 }, 'HostSkew');
    assert.deepEqual(six.run(20 * MINUTES, plan(6, 190)), [], '1.65 times in a pool of six');
  });

  test('by chance alone nothing is told: ten requests per host and minute, though some have twice that', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'HostSkew');
    assert.deepEqual(
      fleet.run(240 * MINUTES, () => ({ requests: 10 / 6 })),
      [],
    );
  });

  test('a quiet fleet is judged over five minutes, twice running', () => {
    const fleet = new HostFleet({ hosts: 10 }, 'HostSkew');
    fleet.run(20 * MINUTES, () => ({ requests: 4 }));
    const said = fleet.run(20 * MINUTES, shifted(12, 3));
    assert.equal(said.length, 1);
    const after = Number(said[0]?.split('@')[1]) - 1200;
    assert.ok(after >= 420 && after <= 660, `after ${after} s`);
  });

  test('a host of three times the capacity may take three times as much; of the same it may not', () => {
    const capacity = (own: number) => (scene: HostFleet) => {
      for (let index = 0; index < 20; index += 1) {
        const labels = { cluster: 'checkout', host: scene.hostName(index) };
        scene.gauge('host.capacity', labels, index === HOT ? own : 4);
      }
    };
    const larger = new HostFleet({ hosts: 20 }, 'HostSkew');
    assert.deepEqual(larger.run(20 * MINUTES, shifted(300, 90), capacity(12)), []);
    const smaller = new HostFleet({ hosts: 20 }, 'HostSkew');
    assert.equal(smaller.run(20 * MINUTES, even, capacity(1)).length, 1, 'an equal share of a quarter of the size');
  });
});

describe('HostSkew, hashing', () => {
  test('1.4 times its usual load is a hot key where the cluster hashes, and nothing elsewhere', () => {
    const hashing = new HostFleet({ hosts: 20 }, 'HostSkew');
    hashing.run(60 * MINUTES, even, hashes);
    assert.equal(hashing.run(10 * MINUTES, shifted(140, 98), hashes).length, 1);
    assert.match(hashing.alerts[0]?.summary ?? '', /1\.4 times the mean for 5 min, usually 1\.0 times; .*hot key/);
    const other = new HostFleet({ hosts: 20 }, 'HostSkew');
    other.run(60 * MINUTES, even);
    assert.deepEqual(other.run(10 * MINUTES, shifted(140, 98)), []);
  });

  test('a ring that gives a host 1.4 times the mean has always done so', () => {
    const fleet = new HostFleet({ hosts: 20 }, 'HostSkew');
    assert.deepEqual(fleet.run(120 * MINUTES, shifted(140, 98), hashes), []);
  });

  test('bounded load that sends 6 % past the host of their key is told, 0.5 % is not', () => {
    const fleet = new HostFleet({ hosts: 20 }, 'HostSkew');
    const overflow = (share: number) => (scene: HostFleet) => {
      hashes(scene);
      scene.count('cluster.hash.overflows', { cluster: 'checkout' }, Math.round(2000 * share));
    };
    assert.deepEqual(fleet.run(60 * MINUTES, even, overflow(0.005)), []);
    assert.equal(fleet.run(10 * MINUTES, even, overflow(0.06)).length, 1);
    assert.match(fleet.alerts[0]?.evidence.join() ?? '', /sent past the host of their key \(usual: 0\.50 %\)/);
    assert.equal(fleet.run(10 * MINUTES, even, overflow(0.005)).length, 1);
  });
});

describe('HostSkew, hosts that joined', () => {
  const joining =
    (atSecond: number, isNew: (index: number) => boolean, share: number) =>
    ({ index, at }: { index: number; at: number }): HostStep =>
      !isNew(index) ? even() : at <= atSecond ? { requests: 0, isAbsent: true } : { requests: 100 * share };
  const upper = (index: number): boolean => index >= 20;

  test('twenty new hosts that carry 3 % are told six minutes after they joined', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'HostSkew');
    const said = fleet.run(60 * MINUTES, joining(1800, upper, 0.03));
    assert.equal(said.length, 1);
    const after = Number(said[0]?.split('@')[1]) - 1800;
    assert.ok(after >= 350 && after <= 420, `after ${after} s`);
    assert.match(fleet.alerts[0]?.summary ?? '', /20 new hosts take [23]\.\d % of its requests where 50 % were due/);
  });

  test('those that take their share are not, nor those of a service that has just begun', () => {
    const fleet = new HostFleet({ hosts: 40 }, 'HostSkew');
    assert.deepEqual(fleet.run(60 * MINUTES, joining(1800, upper, 1)), []);
    const young = new HostFleet({ hosts: 40 }, 'HostSkew');
    assert.deepEqual(young.run(30 * MINUTES, joining(120, upper, 0.03)), []);
  });

  test('a host that is healthy and has never had a request is idle too; one that never was healthy is not', () => {
    const scene = (isHealthy: boolean): readonly string[] => {
      const fleet = new HostFleet({ hosts: 10 }, 'HostSkew');
      return fleet.run(60 * MINUTES, even, (one) => {
        if (one.seconds < 1800) return;
        const labels = { cluster: 'checkout', host: 'fresh' };
        if (isHealthy) one.count('host.seen', labels, 0);
        one.gauge('host.healthy', labels, isHealthy ? 1 : 0);
      });
    };
    assert.equal(scene(true).length, 1);
    assert.deepEqual(scene(false), []);
  });
});
