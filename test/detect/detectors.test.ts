import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BalancerState, FeatureName, FeatureView, GaugeName } from '../../src/aggregate/features.ts';
import { type EpochMs, epochMs, ms } from '../../src/base/units.ts';
import type { DetectionTick } from '../../src/detect/engine.ts';
import { createDetectionEngine } from '../../src/detect/registry.ts';
import type { DetectorSettings } from '../../src/detect/settings.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { NO_STAGES } from '../../src/model/stages.ts';
import { NO_EDGE } from '../support/no-edge.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = epochMs(1_800_000_000_000);

const settingsOf = (
  severity: DetectorSettings['severity'],
  thresholds: DetectorSettings['thresholds'],
): DetectorSettings => ({
  enabled: true,
  severity,
  owner: 'edge',
  runbook: 'x',
  thresholds,
});
const SETTINGS = new Map<string, DetectorSettings>([
  [
    'HostEjections',
    settingsOf('ticket', { smallPoolHosts: 10, rounds: 2, roundsWithin: 5 * MINUTE, roundGap: 10_000, outShare: 0.1 }),
  ],
  [
    'UpstreamErrors',
    settingsOf('ticket', {
      ratioAboveBaseline: 3,
      minRatio: 0.01,
      chance: 1e-6,
      minEvents: 100,
      minExpected: 30,
      holdFor: 5 * MINUTE,
    }),
  ],
  ['TrafficStopped', settingsOf('page', { baselineShare: 0.05, minExpected: 100, holdFor: 5 * MINUTE })],
  ['TelemetryLost', settingsOf('ticket', { silentFor: 3 * MINUTE, ownIntervals: 3 })],
]);

/** Rates per minute over time before NOW, in minutes; a positive argument is minutes ago. */
type Rate = (minutesAgo: number) => number;

interface World {
  readonly features?: readonly {
    readonly name: FeatureName;
    readonly labels: Readonly<Record<string, string>>;
    readonly rate: Rate;
  }[];
  readonly gauges?: Partial<Record<GaugeName, number>>;
  readonly balancers?: readonly Partial<BalancerState>[];
  readonly now?: EpochMs;
}

const balancerOf = (fields: Partial<BalancerState>): BalancerState => ({
  id: 'edge-1',
  zone: 'a',
  region: null,
  flavor: 'envoy',
  version: null,
  firstSeenAt: epochMs(NOW - 7 * HOUR),
  newestPointAt: NOW,
  interval: ms(10_000),
  stale: false,
  slos: ['upstream-availability'],
  clusters: ['checkout'],
  seriesCount: 1,
  stages: NO_STAGES,
  metricsUnderstood: [],
  metricsIgnored: [],
  brackets: [],
  ...fields,
});

function viewOf({ features = [], gauges = {}, balancers = [{}] }: World): FeatureView {
  const total = (rate: Rate, from: number, to: number): number => {
    let sum = 0;
    for (let at = from + 5000; at < to; at += 10_000) sum += rate((NOW - at) / MINUTE) / 6;
    return Math.round(sum);
  };
  return {
    features: (name) =>
      features
        .filter((feature) => feature.name === name)
        .map(({ labels, rate }) => ({
          labels: labelsOf(Object.entries(labels)),
          firstDataAt: epochMs(NOW - 7 * HOUR),
          range: (from, to) => total(rate, from, to),
        })),
    gauges: (name) => {
      const value = gauges[name];
      return value === undefined
        ? []
        : [
            {
              labels: labelsOf([
                ['cluster', 'checkout'],
                ['balancer', 'edge-1'],
              ]),
              value,
              at: NOW,
            },
          ];
    },
    ...NO_EDGE,
    balancers: () => balancers.map(balancerOf),
    watermark: () => NOW,
  };
}

const detect = (world: World, engine = createDetectionEngine(SETTINGS)): DetectionTick =>
  engine.evaluate(viewOf(world), world.now ?? NOW);
const fired = (tick: DetectionTick): string[] =>
  tick.changes.filter(({ kind }) => kind === 'fired').map(({ alert }) => `${alert.name} ${alert.severity}`);

const requests = (rate: Rate) => ({ name: 'cluster.requests' as const, labels: { cluster: 'checkout' }, rate });
const errors = (rate: Rate) => ({ name: 'cluster.errors' as const, labels: { cluster: 'checkout' }, rate });

describe('UpstreamErrors', () => {
  const lately = (share: number, usual: number, perMinute = 600): World => ({
    features: [requests(() => perMinute), errors((ago) => perMinute * (ago < 5 ? share : usual))],
  });

  test('fires above three times the usual share and 1 %, and not below', () => {
    assert.deepEqual(fired(detect(lately(0.05, 0))), ['UpstreamErrors ticket']);
    assert.deepEqual(fired(detect(lately(0.008, 0))), []);
    assert.deepEqual(fired(detect(lately(0.05, 0.03))), []);
    assert.deepEqual(fired(detect(lately(0.1, 0.03))), ['UpstreamErrors ticket']);
  });

  test('needs a hundred requests', () => {
    assert.deepEqual(fired(detect(lately(0.5, 0, 12))), []);
  });

  test('resolves when the share is usual again, and once', () => {
    const engine = createDetectionEngine(SETTINGS);
    detect(lately(0.05, 0), engine);
    const after = detect(lately(0, 0), engine);
    assert.deepEqual(
      after.changes.map(({ kind }) => kind),
      ['resolved'],
    );
    assert.deepEqual(detect(lately(0, 0), engine).changes, []);
  });

  test('a restored engine neither fires again nor forgets to resolve', () => {
    const { stored } = detect(lately(0.05, 0));
    const engine = createDetectionEngine(SETTINGS);
    engine.restore(stored);
    assert.deepEqual(fired(detect(lately(0.05, 0), engine)), []);
    assert.deepEqual(
      detect(lately(0, 0), engine).changes.map(({ kind }) => kind),
      ['resolved'],
    );
  });
});

describe('HostEjections', () => {
  const ejections = (rate: Rate) => ({
    name: 'cluster.ejections' as const,
    labels: { cluster: 'checkout', balancer: 'edge-1' },
    rate,
  });
  const once = ejections((ago) => (ago > 2 && ago < 2 + 1 / 6 ? 6 : 0));

  test('one ejection counts in a pool under ten hosts, not in a larger one', () => {
    assert.deepEqual(fired(detect({ features: [once], gauges: { 'cluster.hosts': 5 } })), ['HostEjections ticket']);
    assert.deepEqual(fired(detect({ features: [once], gauges: { 'cluster.hosts': 40 } })), []);
  });

  test('in a larger pool two rounds count, and so does a tenth of the hosts out', () => {
    const twice = ejections((ago) => ((ago > 1 && ago < 1 + 1 / 6) || (ago > 3 && ago < 3 + 1 / 6) ? 6 : 0));
    assert.deepEqual(fired(detect({ features: [twice], gauges: { 'cluster.hosts': 40 } })), ['HostEjections ticket']);
    const out = (hosts: number): World => ({ gauges: { 'cluster.hosts': 40, 'cluster.ejections.active': hosts } });
    assert.deepEqual(fired(detect(out(4))), ['HostEjections ticket']);
    assert.deepEqual(fired(detect(out(3))), []);
  });
});

describe('TrafficStopped', () => {
  const stopped = (perMinute: number, share: number): World => ({
    features: [requests((ago) => perMinute * (ago < 5 ? share : 1))],
  });

  test('pages below a twentieth of what was due, and not above', () => {
    assert.deepEqual(fired(detect(stopped(600, 0.01))), ['TrafficStopped page']);
    assert.deepEqual(fired(detect(stopped(600, 0.2))), []);
  });

  test('a quiet night cannot fire it: a hundred requests must have been due', () => {
    assert.deepEqual(fired(detect(stopped(1, 0))), []);
  });

  test('says nothing while the balancers of the cluster are silent, and holds what fired', () => {
    const engine = createDetectionEngine(SETTINGS);
    assert.deepEqual(fired(detect(stopped(600, 0), engine)), ['TrafficStopped page']);
    const blind = detect({ ...stopped(600, 0), balancers: [{ stale: true }] }, engine);
    assert.deepEqual(
      blind.changes.filter(({ alert }) => alert.name === 'TrafficStopped'),
      [],
    );
  });
});

describe('TelemetryLost', () => {
  const silent = (minutes: number, others: readonly Partial<BalancerState>[] = []): World => ({
    balancers: [{ newestPointAt: epochMs(NOW - minutes * MINUTE), stale: minutes >= 1 }, ...others],
  });

  test('is a ticket for one stale balancer, a page when all of an SLO have been silent for 3 min', () => {
    assert.deepEqual(fired(detect(silent(0.5))), []);
    assert.deepEqual(fired(detect(silent(2, [{ id: 'edge-2' }]))), ['TelemetryLost ticket']);
    assert.deepEqual(fired(detect(silent(2))), ['TelemetryLost ticket']);
    assert.deepEqual(fired(detect(silent(3))), ['TelemetryLost ticket', 'TelemetryLost page']);
  });

  test('a region whose balancers are all silent is told once, while another is heard', () => {
    const one = (id: string, region: string, stale: boolean) => ({
      id,
      region,
      stale,
      newestPointAt: epochMs(NOW - (stale ? 2 : 0) * MINUTE),
    });
    const far = one('c', 'r1', false);
    const told = (balancers: readonly Partial<BalancerState>[]) =>
      detect({ balancers }).changes.map(({ alert }) => JSON.stringify(alert.place));
    assert.deepEqual(told([one('a', 'r2', true), one('b', 'r2', true), far]), ['{"region":"r2"}']);
    assert.equal(told([one('a', 'r2', true), one('b', 'r2', false), far]).length, 1);
    assert.match(told([one('a', 'r2', true), far]).join(), /"balancer":"a"/);
    assert.equal(told([one('a', 'r2', true), one('b', 'r2', true), { ...far, stale: true }]).length, 3);
  });

  test('waits three push intervals where those are longer', () => {
    const slow = { newestPointAt: epochMs(NOW - 4 * MINUTE), interval: ms(2 * MINUTE), stale: false };
    assert.deepEqual(fired(detect({ balancers: [slow] })), []);
  });
});
