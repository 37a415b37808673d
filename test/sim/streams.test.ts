import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { at } from '../../src/sim/columns.ts';
import type { TimedChange } from '../../src/sim/faults/change.ts';
import { CLUSTER, type ClusterSpec, fleetOf, hostsOf } from '../../src/sim/fleet-spec.ts';
import { CLASS, CLASSES } from '../../src/sim/measures.ts';
import { createSimulation, type EngineName, type Simulation } from '../../src/sim/simulation.ts';

const SECOND = 1000;
const TIMEOUT_MS = 5 * SECOND;
/** 1,000 requests a second of 200 ms: 200 in flight, 50 on each of four connections. */
const PER_S = 1000;
const CONNECTIONS = 4;

function fleetWith(perConnection: number, timeline: readonly TimedChange[], engine: EngineName): Simulation {
  const cluster: ClusterSpec = {
    ...CLUSTER,
    requestsPerS: PER_S,
    timeoutMs: TIMEOUT_MS,
    hosts: hostsOf(1, { slots: 600, serviceMs: 200 }),
    streams: { connections: CONNECTIONS, perConnection },
  };
  return createSimulation(fleetOf({ seed: 11, clusters: [cluster] }), timeline, engine);
}

const stalled = (atMs: number, connections: number): TimedChange => ({
  at: atMs,
  change: { kind: 'streams_stalled', cluster: 0, hosts: 'all', connections },
});

const sum = (column: Float64Array): number => column.reduce((total, one) => total + one, 0);
const errors = ({ fleet }: Simulation): number => at(fleet.measures.requests, CLASS.serverError);
const requests = ({ fleet }: Simulation): number => sum(fleet.measures.requests.slice(0, CLASSES));

function assertNear(actual: number, expected: number, tolerance: number, what: string): void {
  const isNear = Math.abs(actual - expected) <= tolerance * expected;
  assert.ok(isNear, `${what}: ${actual}, expected about ${expected}`);
}

for (const engine of ['exact', 'fluid'] as const) {
  describe(`connections that carry many requests, ${engine}`, () => {
    test('one of four stands still: a quarter of what is in flight waits, few requests fail, all carry as many', (t) => {
      const simulation = fleetWith(250, [stalled(10 * SECOND, 1), stalled(40 * SECOND, 0)], engine);
      const { streams, measures } = simulation.fleet;
      simulation.advanceTo(10 * SECOND - 1);
      assertNear(sum(streams.active), 200, 0.25, 'in flight before');
      assert.equal(sum(streams.stalled), 0);
      assert.equal(errors(simulation), 0);
      simulation.advanceTo(25 * SECOND);
      const share = sum(streams.stalled) / sum(streams.active);
      const [before, failedBefore] = [requests(simulation), errors(simulation)];
      simulation.advanceTo(39 * SECOND);
      const failed = (errors(simulation) - failedBefore) / (requests(simulation) - before);
      t.diagnostic(
        `in flight ${sum(streams.active)}, ${(100 * share).toFixed(1)} % stand still, ${100 * failed} % fail`,
      );
      assertNear(share, 0.25, 0.15, 'share that stands still');
      const [still = 0, ...others] = streams.active;
      for (const other of others) assertNear(still, other, 0.25, 'streams on the one that stands still');
      // 67 of them end every 5 s: 13 of a thousand.
      assertNear(failed, 67 / 5 / PER_S, 0.34, 'share that fails');
      // The bucket that ends at the time-out.
      assert.ok(measures.streamDuration.quantile(0, 0.99) > 3, 'its tail is the time-out');
      assert.ok(measures.streamDuration.quantile(1, 0.99) < 1, "the others' tail is as before");
      simulation.advanceTo(50 * SECOND);
      const after = errors(simulation);
      simulation.advanceTo(60 * SECOND);
      assert.equal(errors(simulation), after, 'nothing fails once it is replaced');
      assert.equal(sum(streams.stalled), 0);
      assert.equal(sum(measures.streamsRejected), 0);
    });

    test('without a place left requests are turned away, and no more are in flight than fit', (t) => {
      const simulation = fleetWith(40, [], engine);
      const { streams, measures } = simulation.fleet;
      simulation.advanceTo(30 * SECOND);
      const rejected = sum(measures.streamsRejected) / requests(simulation);
      t.diagnostic(`${sum(streams.active)} in flight where 160 fit, ${(100 * rejected).toFixed(1)} % turned away`);
      // 160 places x 5 answers a second each are 800 of the 1,000.
      assertNear(rejected, 0.2, 0.34, 'share turned away');
      assert.ok(sum(streams.active) <= 160);
      assert.equal(errors(simulation), sum(measures.streamsRejected));
    });
  });
}
