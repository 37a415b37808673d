import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { translate } from '../../src/series/profiles/registry.ts';
import { at } from '../../src/sim/columns.ts';
import { createEmitter, type EmittedFlavor } from '../../src/sim/emit/emitter.ts';
import type { TimedChange } from '../../src/sim/faults/change.ts';
import { balancersOf, CLUSTER, type FleetSpec, fleetOf, hostsOf } from '../../src/sim/fleet-spec.ts';
import { ACTIVE_CHECKS } from '../../src/sim/health/active-checks.ts';
import { OUTLIERS } from '../../src/sim/health/outlier-ejection.ts';
import { CLASS, CLASSES } from '../../src/sim/measures.ts';
import { createSimulation, type Simulation } from '../../src/sim/simulation.ts';
import { readPoints, type SentPoint } from '../support/emitted.ts';

const EPOCH = epochMs(Date.UTC(2026, 2, 2));
const SPEC: FleetSpec = fleetOf({
  seed: 7,
  zones: [
    { name: 'a', region: 'r1' },
    { name: 'b', region: 'r1' },
  ],
  balancers: balancersOf(2, {}, 2),
  clusters: [
    { ...CLUSTER, requestsPerS: 300, hosts: hostsOf(6, {}, 2), checks: ACTIVE_CHECKS, outliers: OUTLIERS },
    { ...CLUSTER, name: 'api', requestsPerS: 100, hosts: hostsOf(4, { name: 'api' }, 2), panicBelow: 0 },
  ],
});
const BROKEN: TimedChange[] = [
  { at: 30_000, change: { kind: 'hosts', cluster: 0, hosts: [0], set: { failShare: 1, failMs: 2 } } },
  { at: 40_000, change: { kind: 'config', balancers: [1], version: 'v2', effect: {} } },
];

interface Sent {
  readonly atMs: number;
  readonly balancer: string;
  readonly body: Uint8Array;
}

function runFleet(
  flavor: EmittedFlavor,
  timeline: readonly TimedChange[] = BROKEN,
): { simulation: Simulation; sent: Sent[] } {
  const simulation = createSimulation(SPEC, timeline);
  const emitter = createEmitter(simulation.fleet, flavor, EPOCH);
  const sent: Sent[] = [];
  for (let now = 10_000; now <= 60_000; now += 10_000) {
    simulation.advanceTo(now);
    for (const { balancer, body } of emitter.exportAt(now)) sent.push({ atMs: now, balancer, body: body.slice() });
  }
  return { simulation, sent };
}

const lastOf = (sent: readonly Sent[]): SentPoint[] =>
  sent.filter(({ atMs }) => atMs === 60_000).flatMap(({ body }) => readPoints(body));

const sumOf = (points: readonly SentPoint[], metric: string, where: Readonly<Record<string, string>> = {}): number =>
  points
    .filter((point) => point.metric === metric)
    .filter(({ attributes }) => Object.entries(where).every(([name, value]) => attributes.get(name) === value))
    .reduce((sum, { value }) => sum + value, 0);

function classTotal({ fleet }: Simulation, column: Float64Array, ofClass: number): number {
  assert.ok(fleet);
  let total = 0;
  for (let i = ofClass; i < column.length; i += CLASSES) total += at(column, i);
  return total;
}

describe('the emitter', () => {
  for (const flavor of ['canonical', 'envoy'] as const) {
    test(`${flavor}: every request decodes, and the profile understands each of its metrics`, () => {
      const staging = new Staging();
      const unknown = new Set<string>();
      for (const { body } of runFleet(flavor).sent) {
        decodeMetrics(body, staging);
        assert.ok(staging.pointCount > 0);
        for (const { description } of readPoints(body)) {
          if (!translate(description).understood) unknown.add(description.name);
        }
      }
      assert.deepEqual([...unknown], []);
    });

    test(`${flavor}: the same seed gives the same bytes, another seed others`, () => {
      const [first, second] = [runFleet(flavor).sent, runFleet(flavor).sent];
      assert.deepEqual(first, second);
      const simulation = createSimulation({ ...SPEC, seed: 8 }, BROKEN);
      simulation.advanceTo(10_000);
      const [other] = [...createEmitter(simulation.fleet, flavor, EPOCH).exportAt(10_000)];
      assert.notDeepEqual(other?.body, first[0]?.body);
    });

    test(`${flavor}: times and starts are those of the export and of the fleet`, () => {
      for (const { atMs, body } of runFleet(flavor).sent) {
        for (const { time, start, description } of readPoints(body)) {
          assert.equal(time, EPOCH + atMs, description.name);
          if (description.kind !== 'gauge') assert.equal(start, EPOCH, description.name);
        }
      }
    });

    test(`${flavor}: counters never fall, and a series of errors begins with the errors`, () => {
      const before = new Map<string, number>();
      const begun = new Map<string, number>();
      for (const { atMs, balancer, body } of runFleet(flavor).sent) {
        for (const { key, value, description } of readPoints(body)) {
          const own = `${balancer} ${key}`;
          if (description.kind !== 'gauge') assert.ok(value >= (before.get(own) ?? 0), own);
          before.set(own, value);
          if (!begun.has(own)) begun.set(own, atMs);
        }
      }
      const isErrors = flavor === 'envoy' ? /rq_error/ : /5xx.*host-0|host-0.*5xx/;
      const errors = [...begun].filter(([key]) => isErrors.test(key));
      assert.ok(errors.length > 0);
      for (const [key, atMs] of errors) assert.ok(atMs >= 40_000, `${key} at ${atMs}`);
    });
  }

  test('canonical: what is sent is what the fleet counted, to the last request', () => {
    const { simulation, sent } = runFleet('canonical');
    const points = lastOf(sent);
    const { measures, hostCount } = simulation.fleet;
    const down = (responseClass: string): number =>
      sumOf(points, 'lb.requests', { 'lb.side': 'downstream', 'lb.response.class': responseClass });
    assert.equal(down('2xx'), classTotal(simulation, measures.requests, CLASS.ok));
    assert.equal(down('5xx'), classTotal(simulation, measures.requests, CLASS.serverError));
    assert.ok(down('5xx') > 0);
    const sink = { 'lb.side': 'upstream', 'lb.upstream.host.name': 'host-0' };
    let attempts = 0;
    for (const balancer of [0, 1]) {
      for (let c = 0; c < CLASSES; c += 1) attempts += at(measures.attempts, balancer * hostCount * CLASSES + c);
    }
    assert.equal(sumOf(points, 'lb.requests', sink), attempts);
    const backend = points.filter(({ metric }) => metric === 'lb.stage.backend.duration');
    assert.ok(
      Math.abs(backend.reduce((sum, { sum: s }) => sum + s, 0) - measures.backend.sums.reduce((a, b) => a + b)) < 1e-6,
    );
    assert.equal(
      sumOf(points, 'lb.upstream.ejections'),
      measures.ejections.reduce((a, b) => a + b),
    );
    assert.equal(sumOf(points, 'lb.upstream.hosts', { 'lb.upstream.cluster': 'api' }), 2 * 4);
  });

  test('canonical: zone and region are in the resource, config versions change over', () => {
    const { sent } = runFleet('canonical');
    const versionsAt = (ms: number): string[] =>
      sent
        .filter(({ atMs }) => atMs === ms)
        .flatMap(({ body }) => readPoints(body))
        .filter(({ metric }) => metric === 'lb.config.info')
        .map(({ attributes }) => attributes.get('lb.config.version') ?? '');
    assert.deepEqual(versionsAt(30_000), ['v1', 'v1']);
    assert.deepEqual(versionsAt(50_000), ['v1', 'v2']);
    const zones = sent.slice(0, 2).map(({ body }) => readPoints(body)[0]?.description.resource);
    assert.deepEqual(
      zones.map((resource) => resource?.get('cloud.availability_zone')?.text),
      ['a', 'b'],
    );
    assert.equal(zones[0]?.get('cloud.region')?.text, 'r1');
  });

  test('envoy: milliseconds, resumed handshakes counted twice, nothing that an Envoy cannot know', () => {
    const { simulation, sent } = runFleet('envoy');
    const points = lastOf(sent);
    const { measures } = simulation.fleet;
    const time = points.filter(({ metric }) => metric === 'cluster.upstream_rq_time');
    const backendS = measures.backend.sums.reduce((a, b) => a + b);
    assert.ok(Math.abs(time.reduce((sum, { sum: s }) => sum + s, 0) / 1000 - backendS) < 1e-6);
    const [full = 0, resumed = 0] = [0, 1].map((kind) =>
      [0, 1].reduce((sum, b) => sum + at(measures.handshakes, b * 3 + kind), 0),
    );
    assert.equal(sumOf(points, 'listener.ssl.handshake'), full + resumed);
    assert.equal(sumOf(points, 'listener.ssl.session_reused'), resumed);
    const told = new Set(
      points.flatMap(({ description }) => translate(description).series.map(({ metric }) => metric)),
    );
    for (const metric of [
      'lb.stage.accept_queue.duration',
      'lb.stage.tls.duration',
      'lb.config.info',
      'lb.cpu.utilization',
    ]) {
      assert.ok(!told.has(metric), metric);
    }
    assert.ok(told.has('lb.stage.connect.duration') && told.has('lb.upstream.ejections'));
  });

  test('a balancer that joins sends from then on; one that leaves is silent', () => {
    const spec: FleetSpec = { ...SPEC, balancers: balancersOf(2, {}, 2).map((b, i) => ({ ...b, present: i === 0 })) };
    const simulation = createSimulation(spec, [
      { at: 25_000, change: { kind: 'balancers', balancers: [1], present: true } },
      { at: 45_000, change: { kind: 'balancers', balancers: [0], present: false } },
    ]);
    const emitter = createEmitter(simulation.fleet, 'canonical', EPOCH);
    const sending: string[][] = [];
    for (let now = 10_000; now <= 60_000; now += 10_000) {
      simulation.advanceTo(now);
      sending.push([...emitter.exportAt(now)].map(({ balancer }) => balancer));
    }
    const both = ['lb-0', 'lb-1'];
    assert.deepEqual(sending, [['lb-0'], ['lb-0'], both, both, ['lb-1'], ['lb-1']]);
  });
});
