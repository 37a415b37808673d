import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EdgeFleet, fleetOf, HOUR_MS, type Load, MINUTE_MS, STEP_MS } from '../support/edge-fleet.ts';

const HEALTHY: Load = { requests: 100, errors: 0.1, cpu: 0.3, config: 'v1', refused: 0 };
const place = (id: string): number => Number(id.slice(5));

function scene(detector: string, count = 20, healthy: Load = HEALTHY) {
  const fleet = new EdgeFleet({ detectors: [detector], balancers: fleetOf(count) });
  fleet.run(HOUR_MS, () => healthy, false);
  fleet.run(MINUTE_MS, () => healthy);
  assert.deepEqual(fleet.said, []);
  return { fleet, from: fleet.now };
}

/** So many of the first balancers run v2 for so long. */
const spread = (fleet: EdgeFleet, count: number, forMs: number, load: Load = HEALTHY): void =>
  fleet.run(forMs, ({ id }) => ({ ...load, config: place(id) < count ? 'v2' : 'v1' }));

describe('ConfigPushUnstaged', () => {
  test('a version on all of 20 balancers at once is told within a step, with how far it came, and ends in 15 min', () => {
    const { fleet, from } = scene('ConfigPushUnstaged');
    spread(fleet, 20, 5 * MINUTE_MS);
    assert.deepEqual(fleet.lines(from), ['fired ConfigPushUnstaged ticket @10']);
    const alert = fleet.newest('ConfigPushUnstaged');
    assert.deepEqual(alert?.place, { configVersion: 'v2' });
    assert.match(alert?.summary ?? '', /^Config version v2 went to 20 of 20 balancers within 1 s: no canary/);
    assert.equal(fleet.evidence('ConfigPushUnstaged', 'rollout'), 'global');
    assert.equal(fleet.evidence('ConfigPushUnstaged', 'canaries'), 2);
    assert.equal(fleet.evidence('ConfigPushUnstaged', 'previous'), 'v1');
    spread(fleet, 20, 15 * MINUTE_MS);
    assert.deepEqual(fleet.lines(from).slice(1), ['resolved ConfigPushUnstaged ticket @920']);
  });

  for (const [canaries, waitMs, told] of [
    [2, 5 * MINUTE_MS, false],
    [2, 5 * MINUTE_MS - STEP_MS, true],
    [3, STEP_MS, true],
    [2, STEP_MS, true],
  ] as const) {
    test(`${canaries} of 20, then all after ${waitMs / 1000} s: ${told ? 'told' : 'silent'}`, () => {
      const { fleet } = scene('ConfigPushUnstaged');
      spread(fleet, canaries, waitMs);
      spread(fleet, 20, 10 * MINUTE_MS);
      assert.deepEqual(fleet.fired(), told ? ['ConfigPushUnstaged ticket'] : []);
    });
  }

  test('a kind of its own is told as such: routes go by stages too', () => {
    const { fleet } = scene('ConfigPushUnstaged', 20, { ...HEALTHY, configKind: 'rds' });
    spread(fleet, 20, MINUTE_MS, { ...HEALTHY, configKind: 'rds' });
    assert.match(fleet.newest('ConfigPushUnstaged')?.summary ?? '', /^Config rds version v2/);
  });

  test('a roll-back to what the fleet ran before is never told, and ends what was', () => {
    const { fleet, from } = scene('ConfigPushUnstaged');
    spread(fleet, 20, 2 * MINUTE_MS);
    fleet.run(5 * MINUTE_MS, () => HEALTHY);
    assert.deepEqual(fleet.lines(from), [
      'fired ConfigPushUnstaged ticket @10',
      'resolved ConfigPushUnstaged ticket @130',
    ]);
  });

  test('of two balancers one is the canary; a single one has none', () => {
    const pair = scene('ConfigPushUnstaged', 2).fleet;
    spread(pair, 1, MINUTE_MS);
    assert.deepEqual(pair.fired(), []);
    spread(pair, 2, MINUTE_MS);
    assert.deepEqual(pair.fired(), ['ConfigPushUnstaged ticket']);
    const single = scene('ConfigPushUnstaged', 1).fleet;
    spread(single, 1, MINUTE_MS);
    assert.deepEqual(single.fired(), []);
  });

  test('a rollout that nobody saw, while telemetry was away, is not taken for one at once', () => {
    const { fleet } = scene('ConfigPushUnstaged');
    fleet.run(HOUR_MS, () => null);
    spread(fleet, 20, 10 * MINUTE_MS);
    assert.deepEqual(fleet.fired(), []);
  });

  test('goes on over silence and a restart', () => {
    const { fleet } = scene('ConfigPushUnstaged');
    spread(fleet, 20, MINUTE_MS);
    fleet.run(HOUR_MS, () => null);
    fleet.restart();
    fleet.run(MINUTE_MS, () => null);
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired'],
    );
    spread(fleet, 20, MINUTE_MS);
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired', 'resolved'],
    );
  });
});

describe('ConfigDrift', () => {
  const refused = { ...HEALTHY, refused: 0.3 };

  test('balancers that refuse an update are named; it ends when they take one', () => {
    const { fleet, from } = scene('ConfigDrift', 6);
    fleet.run(STEP_MS, ({ id }) => (place(id) < 2 ? refused : { ...HEALTHY, config: 'v2' }));
    fleet.run(20 * MINUTE_MS, ({ id }) => (place(id) < 2 ? HEALTHY : { ...HEALTHY, config: 'v2' }));
    assert.deepEqual(fleet.lines(from), ['fired ConfigDrift ticket @10']);
    const alert = fleet.newest('ConfigDrift');
    assert.match(alert?.summary ?? '', /2 balancers refuse the update/);
    assert.match(String(alert?.evidence.find(({ name }) => name === 'refusing')?.text), /edge-0, edge-1/);
    fleet.run(MINUTE_MS, () => ({ ...HEALTHY, config: 'v2' }));
    assert.deepEqual(fleet.lines(from), ['fired ConfigDrift ticket @10', 'resolved ConfigDrift ticket @1220']);
  });

  test('a refusal by a balancer that names no version is told for an hour', () => {
    const { fleet, from } = scene('ConfigDrift', 3, { requests: 100, refused: 0 });
    fleet.run(STEP_MS, () => ({ requests: 100, refused: 0.3 }));
    fleet.run(2 * HOUR_MS, () => ({ requests: 100, refused: 0 }));
    assert.deepEqual(fleet.lines(from), ['fired ConfigDrift ticket @10', 'resolved ConfigDrift ticket @3610']);
  });

  test('who stays behind most of the zone for half an hour is told, and not before', () => {
    const { fleet, from } = scene('ConfigDrift', 9);
    // Zones in turn: of zone a edge-0, 3 and 6.
    spread(fleet, 6, 29 * MINUTE_MS);
    assert.deepEqual(fleet.lines(from), []);
    spread(fleet, 6, 2 * MINUTE_MS);
    assert.deepEqual(fleet.fired(), ['ConfigDrift ticket']);
    assert.equal(fleet.evidence('ConfigDrift', 'behind'), 3);
    assert.equal(fleet.evidence('ConfigDrift', 'target'), 'v2');
    spread(fleet, 9, MINUTE_MS);
    assert.equal(fleet.said.at(-1)?.kind, 'resolved');
  });

  test('stages that wait their turn are not behind; a straggler of a stage is', () => {
    const staged = (load: Load, id: string): Load => ({ ...load, stage: place(id) < 4 ? 0 : 3 });
    const { fleet } = scene('ConfigDrift', 9);
    fleet.run(2 * HOUR_MS, ({ id }) => staged({ ...HEALTHY, config: place(id) < 4 ? 'v2' : 'v1' }, id));
    assert.deepEqual(fleet.fired(), []);
    fleet.run(40 * MINUTE_MS, ({ id }) => staged({ ...HEALTHY, config: place(id) < 8 ? 'v2' : 'v1' }, id));
    assert.deepEqual(fleet.fired(), ['ConfigDrift ticket']);
    assert.deepEqual(fleet.newest('ConfigDrift')?.place, { zone: 'c', balancer: 'edge-8', configVersion: 'v2' });
  });

  test('balancers that have a configuration of their own are not behind', () => {
    const fleet = new EdgeFleet({ detectors: ['ConfigDrift'], balancers: fleetOf(6, ['a']) });
    const load = (id: string, version: string): Load => ({ ...HEALTHY, config: place(id) < 4 ? version : 'other' });
    fleet.run(HOUR_MS, ({ id }) => load(id, 'v1'));
    fleet.run(2 * HOUR_MS, ({ id }) => load(id, 'v2'));
    assert.deepEqual(fleet.fired(), []);
  });

  test('canaries that are rolled back one after the other are not behind; one that keeps the version is', () => {
    const { fleet } = scene('ConfigDrift', 30);
    const v2On = (...canaries: readonly number[]) => {
      return ({ id }: { id: string }): Load => ({ ...HEALTHY, config: canaries.includes(place(id)) ? 'v2' : 'v1' });
    };
    for (let round = 0; round < 2; round += 1) {
      fleet.run(10 * MINUTE_MS, v2On(0, 1));
      fleet.run(STEP_MS, v2On(0));
      fleet.run(30 * MINUTE_MS, v2On());
    }
    assert.deepEqual(fleet.fired(), []);
    fleet.run(10 * MINUTE_MS, v2On(0, 1));
    fleet.run(29 * MINUTE_MS, v2On(0));
    assert.deepEqual(fleet.fired(), []);
    fleet.run(2 * MINUTE_MS, v2On(0));
    assert.deepEqual(fleet.newest('ConfigDrift')?.place, { zone: 'a', balancer: 'edge-0', configVersion: 'v1' });
    assert.match(fleet.newest('ConfigDrift')?.summary ?? '', /for 30 min/);
  });

  for (const [p99, told] of [
    [2, false],
    [9, true],
  ] as const) {
    test(`changes of hosts that take ${p99} s at p99: ${told ? 'told' : 'silent'}`, () => {
      const { fleet } = scene('ConfigDrift', 3);
      fleet.run(10 * MINUTE_MS, () => ({ ...HEALTHY, propagation: { perSecond: 0.5, p99 } }));
      assert.deepEqual(fleet.fired(), told ? ['ConfigDrift ticket'] : []);
      if (told) assert.match(fleet.newest('ConfigDrift')?.summary ?? '', /hear of changed hosts late/);
    });
  }

  test('a few slow changes are no p99', () => {
    const { fleet } = scene('ConfigDrift', 1);
    fleet.run(10 * MINUTE_MS, () => ({ ...HEALTHY, propagation: { perSecond: 0.01, p99: 9 } }));
    assert.deepEqual(fleet.fired(), []);
  });

  test('goes on while those that refused are silent, over a restart too', () => {
    const { fleet } = scene('ConfigDrift', 6);
    fleet.run(STEP_MS, ({ id }) => (place(id) < 2 ? refused : { ...HEALTHY, config: 'v2' }));
    const others = ({ id }: { id: string }): Load | null => (place(id) < 2 ? null : { ...HEALTHY, config: 'v2' });
    fleet.run(10 * MINUTE_MS, others);
    fleet.restart();
    fleet.run(5 * MINUTE_MS, others);
    fleet.run(5 * MINUTE_MS, () => null);
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired'],
    );
    fleet.run(2 * MINUTE_MS, () => ({ ...HEALTHY, config: 'v2' }));
    assert.deepEqual(
      fleet.said.map(({ kind }) => kind),
      ['fired', 'resolved'],
    );
  });
});
