import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BalancerState, FeatureName, FeatureView } from '../../src/aggregate/features.ts';
import { type EpochMs, epochMs, ms } from '../../src/base/units.ts';
import { createDetectionEngine } from '../../src/detect/registry.ts';
import type { DetectorSettings } from '../../src/detect/settings.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { NO_STAGES } from '../../src/model/stages.ts';
import { NO_EDGE } from '../support/no-edge.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const NOW = epochMs(1_800_000_000_000);
const CHECKOUT = labelsOf([['cluster', 'checkout']]);

const THRESHOLDS: Readonly<Record<string, DetectorSettings['thresholds']>> = {
  HostEjections: { smallPoolHosts: 10, rounds: 2, roundsWithin: 5 * MINUTE, roundGap: 10_000, outShare: 0.1 },
  UpstreamErrors: {
    ratioAboveBaseline: 3,
    minRatio: 0.01,
    chance: 1e-6,
    minEvents: 100,
    minExpected: 30,
    holdFor: 5 * MINUTE,
  },
  TrafficStopped: { baselineShare: 0.05, minExpected: 100, holdFor: 5 * MINUTE },
  TelemetryLost: { silentFor: 3 * MINUTE, ownIntervals: 3 },
};
const settingsOf = (name: string, enabled = true): ReadonlyMap<string, DetectorSettings> =>
  new Map([[name, { enabled, severity: 'ticket', owner: 'edge', runbook: name, thresholds: THRESHOLDS[name] ?? {} }]]);

/** Events per minute at a moment. */
type Rate = (at: number) => number;

interface World {
  readonly rates?: Partial<Record<FeatureName, readonly (readonly [labels: Record<string, string>, rate: Rate])[]>>;
  readonly hosts?: readonly (readonly [balancer: string, state: string, hosts: number])[];
  readonly out?: number;
  readonly balancers?: readonly BalancerState[];
  readonly firstDataAt?: number;
  /** False = nothing has ever been heard. */
  readonly isHeard?: boolean;
}

const balancerOf = (id: string, silentMinutes = 0, fields: Partial<BalancerState> = {}): BalancerState => ({
  id,
  zone: null,
  region: null,
  flavor: 'envoy',
  version: null,
  firstSeenAt: epochMs(NOW - DAY),
  newestPointAt: epochMs(NOW - silentMinutes * MINUTE),
  interval: ms(10_000),
  stale: silentMinutes >= 1,
  slos: ['availability'],
  clusters: ['checkout'],
  seriesCount: 1,
  stages: NO_STAGES,
  metricsUnderstood: [],
  metricsIgnored: [],
  brackets: [],
  ...fields,
});

function viewOf(world: World, now: EpochMs): FeatureView {
  const firstDataAt = epochMs(world.firstDataAt ?? NOW - 7 * 60 * MINUTE);
  const sum = (rate: Rate, from: number, to: number): number => {
    let total = 0;
    for (let at = from + 5000; at < to; at += 10_000) total += rate(at) / 6;
    return Math.round(total);
  };
  return {
    features: (name) =>
      (world.rates?.[name] ?? []).map(([labels, rate]) => ({
        labels: labelsOf(Object.entries(labels)),
        firstDataAt,
        range: (from, to) => sum(rate, from, to),
      })),
    gauges: (name) =>
      name === 'cluster.hosts'
        ? (world.hosts ?? []).map(([balancer, state, value]) => ({
            labels: labelsOf(Object.entries({ cluster: 'checkout', balancer, state })),
            value,
            at: now,
          }))
        : world.out === undefined
          ? []
          : [{ labels: labelsOf(Object.entries({ cluster: 'checkout', balancer: 'a' })), value: world.out, at: now }],
    ...NO_EDGE,
    balancers: () => world.balancers ?? [balancerOf('a')],
    watermark: () => (world.isHeard === false ? null : now),
  };
}

/** An engine with one detector; `tick` says what changed. */
function scene(name: string) {
  const engine = createDetectionEngine(settingsOf(name));
  return {
    engine,
    tick: (world: World, now = NOW): string[] =>
      engine.evaluate(viewOf(world, now), now).changes.map(({ kind, alert }) => `${kind} ${alert.severity}`),
  };
}

const checkout = { cluster: 'checkout' };
const lately =
  (recent: number, usual: number): Rate =>
  (at) =>
    at > NOW - 5 * MINUTE ? recent : usual;
const FIRING: Readonly<Record<string, World>> = {
  HostEjections: { rates: { 'cluster.ejections': [[checkout, lately(6, 0)]] }, hosts: [['a', 'healthy', 5]] },
  UpstreamErrors: {
    rates: { 'cluster.requests': [[checkout, () => 600]], 'cluster.errors': [[checkout, lately(60, 0)]] },
  },
  TrafficStopped: { rates: { 'cluster.requests': [[checkout, lately(0, 600)]] } },
};

describe('no data is not recovery', () => {
  for (const [name, firing] of Object.entries(FIRING)) {
    test(`${name} goes on when nothing at all is heard, as after a start without data`, () => {
      const { engine, tick } = scene(name);
      assert.deepEqual(tick(firing), ['fired ticket']);
      const { stored } = engine.evaluate(viewOf(firing, epochMs(NOW + MINUTE)), epochMs(NOW + MINUTE));
      const after = createDetectionEngine(settingsOf(name));
      after.restore(stored);
      assert.deepEqual(after.evaluate(viewOf({ isHeard: false, balancers: [] }, NOW), NOW).changes, []);
    });
  }

  test('an ejection goes on while no balancer reports the cluster, and ends once one does and says nothing', () => {
    const { tick } = scene('HostEjections');
    assert.deepEqual(tick(FIRING['HostEjections'] ?? {}), ['fired ticket']);
    const other = balancerOf('b', 0, { clusters: ['search'] });
    assert.deepEqual(tick({ balancers: [balancerOf('a', 9), other] }), []);
    assert.deepEqual(tick({ balancers: [balancerOf('a'), other] }), ['resolved ticket']);
  });

  test('errors go on while no request is counted, and end with enough good requests', () => {
    const { tick } = scene('UpstreamErrors');
    tick(FIRING['UpstreamErrors'] ?? {});
    assert.deepEqual(tick({ rates: { 'cluster.requests': [[checkout, () => 0]] } }), []);
    assert.deepEqual(tick({ rates: { 'cluster.requests': [[checkout, () => 600]] } }), ['resolved ticket']);
  });

  test('what a detector fired before it was switched off is closed as removed, once', () => {
    const { engine } = scene('HostEjections');
    const { stored } = engine.evaluate(viewOf(FIRING['HostEjections'] ?? {}, NOW), NOW);
    const off = createDetectionEngine(settingsOf('HostEjections', false));
    off.restore([...stored, { key: 'burn/HostEjections/x', value: '{}' }]);
    const { changes, removed } = off.evaluate(viewOf({}, NOW), NOW);
    assert.deepEqual(
      changes.map((change) => [change.kind, change.kind === 'resolved' ? change.reason : '', change.alert.name]),
      [['resolved', 'removed', 'HostEjections']],
    );
    assert.deepEqual(removed, [`detect/HostEjections/{"cluster"="checkout"}`]);
    assert.deepEqual(off.evaluate(viewOf({}, NOW), NOW).changes, []);
  });
});

describe('HostEjections, in pools and rounds', () => {
  const at =
    (secondsAgo: number): Rate =>
    (time) =>
      Math.abs(NOW - secondsAgo * 1000 - time) <= 5000 ? 6 : 0;
  const ejected = (host: string, balancer: string, secondsAgo: number) =>
    [{ cluster: 'checkout', host, balancer, reason: 'consecutive_5xx' }, at(secondsAgo)] as const;
  const pool = (hosts: number, ...ejections: readonly ReturnType<typeof ejected>[]): World => ({
    rates: { 'cluster.ejections': ejections },
    hosts: [
      ['a', 'healthy', hosts - 1],
      ['a', 'ejected', 1],
      ['b', 'healthy', hosts - 2],
    ],
  });

  test('nine hosts are a small pool, where one ejection counts; ten are not', () => {
    assert.deepEqual(scene('HostEjections').tick(pool(9, ejected('x', 'a', 60))), ['fired ticket']);
    assert.deepEqual(scene('HostEjections').tick(pool(10, ejected('x', 'a', 60))), []);
  });

  test('balancers that eject one host within ten seconds are one round, later ones a second', () => {
    const { tick } = scene('HostEjections');
    assert.deepEqual(tick(pool(40, ejected('x', 'a', 65), ejected('x', 'b', 55))), []);
    assert.deepEqual(tick(pool(40, ejected('x', 'a', 95), ejected('x', 'b', 55))), ['fired ticket']);
  });

  test('two hosts ejected once each are not two rounds of one host', () => {
    assert.deepEqual(scene('HostEjections').tick(pool(40, ejected('x', 'a', 95), ejected('y', 'a', 55))), []);
  });

  test('a round that is older than five minutes does not count', () => {
    assert.deepEqual(scene('HostEjections').tick(pool(40, ejected('x', 'a', 315), ejected('x', 'b', 55))), []);
  });
});

describe('TrafficStopped, by what was due', () => {
  const stopped = (perMinute: number, forMinutes: number): World => ({
    rates: { 'cluster.requests': [[checkout, (at) => (at > NOW - forMinutes * MINUTE ? 0 : perMinute)]] },
  });

  test('a slow cluster is judged only once a hundred requests were due', () => {
    assert.deepEqual(scene('TrafficStopped').tick(stopped(6, 10)), []);
    assert.deepEqual(scene('TrafficStopped').tick(stopped(6, 17)), ['fired ticket']);
  });

  test('a cluster that never has a hundred requests an hour is never judged', () => {
    assert.deepEqual(scene('TrafficStopped').tick(stopped(1, 60)), []);
  });

  test('a cluster with less history than three spans is not judged', () => {
    const young = { ...stopped(600, 5), firstDataAt: NOW - 19 * MINUTE };
    assert.deepEqual(scene('TrafficStopped').tick(young), []);
    assert.deepEqual(scene('TrafficStopped').tick({ ...young, firstDataAt: NOW - 20 * MINUTE }), ['fired ticket']);
  });

  test('it is measured by the same hour of the days before: a nightly lull is no stop', () => {
    const isNight = (at: number): boolean => (NOW - at) % DAY < 90 * MINUTE || (NOW - at) % DAY > DAY - 90 * MINUTE;
    const world: World = {
      rates: { 'cluster.requests': [[checkout, (at) => (isNight(at) ? 1 : 600)]] },
      firstDataAt: NOW - 4 * DAY,
    };
    assert.deepEqual(scene('TrafficStopped').tick(world), []);
    assert.deepEqual(scene('TrafficStopped').tick({ ...world, firstDataAt: NOW - DAY }), ['fired ticket']);
  });

  test('it goes on for as long as nothing comes, by the rate from before it began', () => {
    const { tick } = scene('TrafficStopped');
    assert.deepEqual(tick(stopped(600, 5)), ['fired ticket']);
    for (const hours of [1, 3, 5]) {
      const later = epochMs(NOW + hours * 60 * MINUTE);
      assert.deepEqual(tick(stopped(600, 5), later), ['updated ticket'], `after ${hours} h`);
    }
  });
});

describe('TelemetryLost, by SLO', () => {
  test('pages when every balancer of one SLO is silent for three minutes, though another SLO is heard', () => {
    const others = balancerOf('c', 0, { slos: ['latency'] });
    const { engine } = scene('TelemetryLost');
    const world = { balancers: [balancerOf('a', 3), balancerOf('b', 5), others] };
    const pages = engine.evaluate(viewOf(world, NOW), NOW).changes.filter(({ alert }) => alert.severity === 'page');
    assert.deepEqual(
      pages.map(({ alert }) => alert.summary),
      ['No balancer of availability has sent metrics for 3 min: nothing can be said about these budgets.'],
    );
  });

  test('one balancer of the SLO that is heard, or was three minutes less a second ago, keeps it from paging', () => {
    const almost = balancerOf('b', 0, { newestPointAt: epochMs(NOW - 3 * MINUTE + 1000) });
    assert.deepEqual(scene('TelemetryLost').tick({ balancers: [balancerOf('a', 9), almost] }), ['fired ticket']);
  });

  test('resolves when the balancer is heard again', () => {
    const { tick } = scene('TelemetryLost');
    assert.deepEqual(tick({ balancers: [balancerOf('a', 4)] }), ['fired ticket', 'fired page']);
    assert.deepEqual(tick({ balancers: [balancerOf('a')] }), ['resolved ticket', 'resolved page']);
  });
});

test('the identity of a finding carries no measured value', () => {
  const { engine } = scene('UpstreamErrors');
  const [change] = engine.evaluate(viewOf(FIRING['UpstreamErrors'] ?? {}, NOW), NOW).changes;
  assert.deepEqual(change?.alert.labels, CHECKOUT);
});
