import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { formatDuration } from '../../src/base/duration.ts';
import { ms } from '../../src/base/units.ts';
import type { Rules } from '../../src/config/config.ts';
import { DETECTOR_THRESHOLDS } from '../../src/config/detector-thresholds.ts';
import { loadRules } from '../../src/config/load.ts';
import { DETECTORS } from '../../src/detect/registry.ts';
import { ALERT } from '../../src/model/conventions.ts';
import { PACKAGE, SHIPPED } from './fixture.ts';

function load(): Rules {
  const { rules, problems } = loadRules({
    rulesDir: null,
    shippedDir: SHIPPED,
    runbooksDir: path.join(PACKAGE, 'runbooks'),
  });
  assert.deepEqual(problems, []);
  assert.ok(rules !== null);
  return rules;
}

describe('the shipped rules', () => {
  it('have no finding, not even a warning, and a runbook for every alert', () => {
    const { slos } = load();
    assert.deepEqual(
      slos.map((slo) => [slo.id, slo.objective.text, slo.window.text, slo.policy.name, slo.groupBy.join()]),
      [
        ['edge-handshakes', '0.999', '30d', 'countdown', ''],
        ['upstream-availability', '0.999', '30d', 'countdown', 'lb.upstream.cluster,lb.upstream.zone'],
        ['upstream-latency', '0.99', '30d', 'countdown', 'lb.upstream.cluster,lb.upstream.zone'],
      ],
    );
  });

  it('count what they say they count', () => {
    const { slos } = load();
    const upstream = { kind: 'equals', attribute: 'lb.side', value: 'upstream' };
    const downstream = { kind: 'equals', attribute: 'lb.side', value: 'downstream' };
    assert.deepEqual(
      slos.map((slo) => slo.indicator),
      [
        {
          kind: 'events',
          counts: 'bad',
          part: {
            metric: 'lb.tls.handshakes',
            where: [downstream, { kind: 'matches', attribute: 'error.type', pattern: '.+' }],
          },
          total: { metric: 'lb.tls.handshakes', where: [downstream] },
        },
        {
          kind: 'events',
          counts: 'bad',
          part: {
            metric: 'lb.requests',
            where: [upstream, { kind: 'equals', attribute: 'lb.response.class', value: '5xx' }],
          },
          total: { metric: 'lb.requests', where: [upstream] },
        },
        { kind: 'latency', query: { metric: 'lb.stage.backend.duration', where: [] }, threshold: 0.25 },
      ],
    );
  });

  it('set every threshold of every detector, and name every detector', () => {
    const { detectors } = load();
    const names = Object.values(ALERT).filter((name) => name !== ALERT.errorBudgetBurn);
    assert.deepEqual([...detectors.keys()].sort(), [...names].sort());
    for (const { name } of DETECTORS) assert.ok(detectors.has(name), name);
    for (const [name, { thresholds, runbook }] of detectors) {
      assert.deepEqual(Object.keys(thresholds).sort(), Object.keys(DETECTOR_THRESHOLDS[name] ?? {}).sort(), name);
      assert.equal(runbook, name);
    }
  });

  it('define exactly the thresholds that detectors ask for', () => {
    const folder = path.join(PACKAGE, 'src/detect');
    const asked = new Set<string>();
    for (const file of readdirSync(folder)) {
      const text = readFileSync(path.join(folder, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/threshold\(settings, '(\w+)'\)/g)) asked.add(name);
    }
    assert.ok(asked.size > 5, 'the pattern still finds what detectors ask for');
    const known = new Set(Object.values(DETECTOR_THRESHOLDS).flatMap((thresholds) => Object.keys(thresholds)));
    for (const name of asked) assert.ok(known.has(name), name);
  });

  it('explain a burning budget by what stands before it, in one direction', () => {
    const { correlation } = load();
    const edges = correlation.causes.map(({ cause, effect }) => `${cause} ${effect}`);
    for (const edge of [
      'HostEjections UpstreamErrors',
      'HostEjections ErrorBudgetBurn',
      'UpstreamErrors ErrorBudgetBurn',
    ]) {
      assert.ok(edges.includes(edge), edge);
    }
    assert.deepEqual(correlation.subjects.get('cluster'), ['lb_upstream_cluster', 'cluster', 'service', 'job']);
    assert.deepEqual(correlation.subjects.get('host'), ['lb_upstream_host_name', 'host', 'instance', 'pod', 'node']);
    assert.deepEqual(correlation.subjects.get('zone'), ['lb_upstream_zone', 'zone', 'dc', 'region']);
    const { openAfter, resolveHold, reopenWithin, reopenWithinTicket, ackLapse, minAlerts, storm } = correlation;
    assert.deepEqual(
      { openAfter, resolveHold, reopenWithin, reopenWithinTicket, ackLapse, minAlerts, storm },
      {
        openAfter: 0,
        resolveHold: 300_000,
        reopenWithin: 900_000,
        reopenWithinTicket: 86_400_000,
        ackLapse: 3_600_000,
        minAlerts: 1,
        storm: { clusters: 5, share: 0.2, within: 60_000 },
      },
    );
  });

  it('hold the tiers of the design for 30 days', () => {
    const { policies } = loadRules({
      rulesDir: null,
      shippedDir: SHIPPED,
      runbooksDir: path.join(PACKAGE, 'runbooks'),
    });
    const table = (name: string): readonly string[] => {
      const built = policies.build(name, ms(30 * 86_400_000), { units: 999n, scale: 3 });
      assert.ok(built.kind === 'policy' && built.left.length === 0);
      const lines = built.policy.tiers.map((tier) => {
        const factor = Number(tier.factor.numerator) / Number(tier.factor.denominator);
        const windows = `${formatDuration(tier.long)}/${formatDuration(tier.short)}`;
        return `${tier.name} ${tier.severity} ${windows} ${factor} ${tier.minBurn} ${tier.minBadEvents}`;
      });
      return [String(built.policy.confidence), ...lines];
    };
    assert.deepEqual(policies.names, ['workbook', 'countdown']);
    assert.deepEqual(table('workbook'), [
      'null',
      '50h page 1h/5m 14.4 full 0',
      '5d page 6h/30m 6 full 0',
      '10d ticket 1d/2h 3 full 0',
      '30d ticket 3d/6h 1 full 0',
    ]);
    assert.deepEqual(table('countdown'), [
      '0.98',
      '6h page 5m/1m 120 full 2',
      '50h page 1h/5m 14.4 half 2',
      '5d page 6h/30m 6 half 4',
      '10d ticket 1d/2h 3 half 4',
      '30d ticket 3d/6h 1 half 4',
    ]);
  });

  it('send nowhere until somebody says where', () => {
    const { receivers, routes } = load();
    assert.deepEqual([receivers, routes], [[], []]);
  });
});
