import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HostFleet } from '../support/host-fleet.ts';

const MINUTES = 60;
const even = () => ({ requests: 100 });
/** Of 1,000 requests in each step of 10 s. */
const retries =
  (layers: Readonly<Record<string, number>>, overflow = 0) =>
  (scene: HostFleet): void => {
    for (const [layer, share] of Object.entries(layers)) {
      scene.count('cluster.retries', { cluster: 'checkout', layer }, Math.round(1000 * share));
    }
    scene.count('cluster.retries.overflow', { cluster: 'checkout' }, Math.round(1000 * overflow));
  };
const usual = retries({ edge: 0.01 });
function scene(): HostFleet {
  const fleet = new HostFleet({ hosts: 10 }, 'RetryStorm');
  assert.deepEqual(fleet.run(40 * MINUTES, even, usual), []);
  return fleet;
}
const kinds = (said: readonly string[]): string[] => said.map((line) => line.split(' ')[0] ?? '');

describe('RetryStorm', () => {
  test('25 % retries are above the budget of 20 %, 15 % are not', () => {
    const fleet = scene();
    assert.deepEqual(fleet.run(10 * MINUTES, even, retries({ edge: 0.15 })), []);
    assert.deepEqual(kinds(fleet.run(3 * MINUTES, even, retries({ edge: 0.25 }))), ['fired']);
    assert.match(
      fleet.alerts[0]?.summary ?? '',
      /2\d % of the requests are retries of the edge layer \(budget: 20 %\)/,
    );
    assert.deepEqual(kinds(fleet.run(5 * MINUTES, even, usual)), ['resolved']);
  });

  test('two layers that retry the same requests multiply; one of them alone is as it should be', () => {
    const fleet = scene();
    assert.deepEqual(fleet.run(10 * MINUTES, even, retries({ edge: 0.05, client: 0.001 })), []);
    assert.deepEqual(kinds(fleet.run(4 * MINUTES, even, retries({ edge: 0.05, client: 0.05 }))), ['fired']);
    assert.match(
      fleet.alerts[0]?.summary ?? '',
      /2 layers retry the same requests \((edge and client|client and edge)\)/,
    );
  });

  test('three retries each by balancer and client: sixteen times the load', () => {
    const fleet = new HostFleet({ hosts: 10 }, 'RetryStorm');
    fleet.run(4 * MINUTES, () => ({ requests: 1600, errors: 1 }), retries({ edge: 12, client: 3 }));
    const times = fleet.alerts[0]?.evidence.find((text) => /times the load/.test(text));
    assert.match(times ?? '', /^1[3-9] times the load/);
  });

  test('a budget that keeps back retries of 5 % of the requests says so; 0.8 % is little enough', () => {
    const fleet = scene();
    assert.deepEqual(kinds(fleet.run(4 * MINUTES, even, retries({ edge: 0.19 }, 0.05))), ['fired']);
    assert.match(fleet.alerts[0]?.summary ?? '', /budgets keep back retries of \d\.\d % of the requests/);
    const always = new HostFleet({ hosts: 10 }, 'RetryStorm');
    assert.deepEqual(always.run(60 * MINUTES, even, retries({ edge: 0.1 }, 0.008)), []);
  });

  test('a single spike and a quiet cluster are not', () => {
    const fleet = scene();
    fleet.run(10, even, retries({ edge: 0.9 }));
    assert.deepEqual(fleet.run(5 * MINUTES, even, usual), []);
    const quiet = new HostFleet({ hosts: 10 }, 'RetryStorm');
    const few = (one: HostFleet): void => one.count('cluster.retries', { cluster: 'checkout', layer: 'edge' }, 1);
    assert.deepEqual(
      quiet.run(60 * MINUTES, () => ({ requests: 0.2 }), few),
      [],
    );
  });

  test('it goes on through silence and a restart', () => {
    const fleet = scene();
    fleet.run(4 * MINUTES, even, retries({ edge: 0.5 }));
    assert.deepEqual(fleet.silence(60 * MINUTES), []);
    fleet.restart();
    assert.deepEqual(fleet.silence(60), []);
  });
});
