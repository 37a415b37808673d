import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDetectionEngine } from '../../src/detect/registry.ts';
import { countAlerts, seeded } from '../simulate/false-alarms.ts';
import { HealthyFleet } from '../support/healthy-fleet.ts';
import { shippedDetectors } from '../support/shipped-detectors.ts';

/** `npm run simulate -- false-alarms` has all sizes and eight weeks. */
const CHEAP = [
  [5, 5, 3],
  [5, 1_000, 2],
  [20, 50, 2],
] as const;

for (const [hosts, perMinute, days] of CHEAP) {
  test(`${days} days of ${hosts} hosts that are well at ${perMinute} requests a minute raise no alert`, () => {
    assert.deepEqual([...countAlerts({ hosts, perMinute, days, prng: seeded(hosts, perMinute, 99) })], []);
  });
}

test('the same fleet raises them where thresholds ask for less: the simulation would show false alarms', () => {
  const shipped = shippedDetectors('HostOutlier', 'UpstreamErrors');
  const eager = new Map(
    [...shipped].map(([name, settings]) => {
      const less = { chance: 0.05, minErrors: 1, above: 0.001, windows: 1, minRatio: 0.001, minEvents: 10 };
      return [name, { ...settings, thresholds: { ...settings.thresholds, ...less } }] as const;
    }),
  );
  const fleet = new HealthyFleet({ hosts: 20, perMinute: 50, days: 1, prng: seeded(20, 50, 99) });
  const engine = createDetectionEngine(eager);
  const fired = new Set<string>();
  for (const now of fleet.minutes()) {
    for (const { kind, alert } of engine.evaluate(fleet, now).changes) if (kind === 'fired') fired.add(alert.name);
  }
  assert.deepEqual([...fired].sort(), ['HostOutlier', 'UpstreamErrors']);
});
