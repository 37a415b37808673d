import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { DETECTORS } from '../../src/detect/registry.ts';
import { HOUR, HostFleet, MINUTE } from '../support/host-fleet.ts';
import { shippedDetectors } from '../support/shipped-detectors.ts';

const seconds = (ms: number): number => ms / 1000;
const CLUSTERS = Array.from({ length: 10 }, (_, index) => `s${index}`);
const well = () => ({ requests: 100, errors: 0.001, time: 0.04 });
const bad = ({ index }: { index: number }) => (index === 7 ? { requests: 300, errors: 0.9, time: 0.002 } : well());

/** How each detector is brought to fire. */
const FIRING: Readonly<Record<string, () => HostFleet>> = {
  FastFailSinkhole: () => began(new HostFleet({ hosts: 20 }, 'FastFailSinkhole'), bad),
  HostOutlier: () => began(new HostFleet({ hosts: 20 }, 'HostOutlier'), bad),
  EjectionCapReached() {
    const fleet = new HostFleet({ hosts: 10 }, 'EjectionCapReached');
    fleet.run(30, well, (scene) => scene.gauge('cluster.ejections.active', { cluster: 'checkout' }, 2));
    return fleet;
  },
  HealthCheckCascade() {
    const fleet = new HostFleet({ hosts: 4, clusters: CLUSTERS }, 'HealthCheckCascade');
    fleet.run(300, () => ({ requests: 1 }));
    fleet.run(60, () => ({ requests: 1, isHealthy: false }));
    return fleet;
  },
  HealthCheckFlapping() {
    const fleet = new HostFleet({ hosts: 10 }, 'HealthCheckFlapping');
    const labels = { cluster: 'checkout', host: fleet.hostName(3), balancer: 'edge-1' };
    fleet.run(120, well, (scene) => scene.count('host.health.changes', labels, 1));
    return fleet;
  },
  HostSkew: () => began(new HostFleet({ hosts: 20 }, 'HostSkew'), bad, 360),
  ZoneSkew() {
    const zoneOf = (index: number): string => (index < 2 ? 'a' : 'b');
    const fleet = new HostFleet({ hosts: 8, zoneOf }, 'ZoneSkew');
    fleet.run(seconds(6.1 * HOUR), ({ index }) => ({ requests: index < 2 ? 60 : 20 }));
    return fleet;
  },
};

function began(fleet: HostFleet, plan: Parameters<HostFleet['run']>[1], forSeconds = 180): HostFleet {
  fleet.run(seconds(40 * MINUTE), well);
  fleet.run(forSeconds, plan);
  return fleet;
}

describe('no data is not recovery, for hosts, pools and zones', () => {
  for (const [name, begin] of Object.entries(FIRING)) {
    test(`${name} goes on through silence and a restart`, () => {
      const fleet = begin();
      const fired = fleet.said.filter((line) => line.startsWith(`fired ${name}`));
      assert.ok(fired.length >= 1 && fleet.said.length === fired.length, `${fleet.said}`);
      assert.deepEqual(fleet.silence(seconds(2 * HOUR)), [], 'while its balancers are silent');
      fleet.restart();
      assert.deepEqual(fleet.silence(60), [], 'after a restart');
    });

    test(`${name} goes on when nothing at all is known, as after a start without data`, () => {
      const fleet = begin();
      fleet.restart();
      const { changes } = fleet.engine.evaluate(createAggregate(), fleet.now);
      assert.deepEqual(changes, []);
    });
  }

  test('covers every detector that looks at hosts, pools and zones', () => {
    const before = ['HostEjections', 'TelemetryLost', 'TrafficStopped', 'UpstreamErrors'];
    const known = [...Object.keys(FIRING), ...before];
    for (const name of Object.keys(FIRING))
      assert.ok(
        DETECTORS.some((detector) => detector.name === name),
        name,
      );
    for (const name of known) assert.ok(shippedDetectors(name).size === 1, name);
  });
});
