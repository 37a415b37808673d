import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createAggregate } from '../../../src/aggregate/cells.ts';
import { toBalancerView } from '../../../src/app/to-views.ts';
import { present } from '../../../src/base/assert.ts';
import { createBurnEngine } from '../../../src/burn/engine.ts';
import type { GroupStatus } from '../../../src/burn/status.ts';
import type { BoundsAroundView } from '../../../src/model/views.ts';
import { at, latency, sloOf } from '../../aggregate/fixture.ts';
import { createFleet, type Fleet, type Metric } from '../../series/profiles/harness.ts';
import { WORKBOOK } from '../../support/fake-cells.ts';

const SENDER = { resource: { 'service.instance.id': 'lb-1' } };
const PUSH_S = 10;
const nanos = (seconds: number): string => `${at(seconds)}000000`;

/** How values become buckets. */
type Layout =
  | { readonly kind: 'explicit'; readonly bounds: readonly number[] }
  | { readonly kind: 'exponential'; readonly scale: number; readonly zeroThreshold: number };

type Point = Record<string, unknown>;

function explicitPoint(values: readonly number[], bounds: readonly number[]): Point {
  const bucketCounts = new Array<number>(bounds.length + 1).fill(0);
  for (const value of values) {
    const bucket = bounds.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? bounds.length : bucket;
    bucketCounts[index] = (bucketCounts[index] ?? 0) + 1;
  }
  return { explicitBounds: bounds, bucketCounts: bucketCounts.map(String), count: String(values.length) };
}

function exponentialPoint(values: readonly number[], scale: number, zeroThreshold: number): Point {
  const above = values.filter((value) => value > zeroThreshold);
  const indexes = above.map((value) => Math.ceil(Math.log2(value) * 2 ** scale) - 1);
  const offset = Math.min(0, ...indexes);
  const bucketCounts = new Array<number>(Math.max(0, ...indexes) - offset + 1).fill(0);
  for (const index of indexes) bucketCounts[index - offset] = (bucketCounts[index - offset] ?? 0) + 1;
  const zeroCount = String(values.length - above.length);
  const positive = { offset, bucketCounts: bucketCounts.map(String) };
  return { scale, zeroThreshold, zeroCount, positive, count: String(values.length) };
}

/** One push of the durations since the last; cumulative points hold all before them too. */
function metricOf(layout: Layout, values: readonly number[], from: number, isDelta: boolean): Metric {
  const sum = values.reduce((total, value) => total + value, 0);
  const point =
    layout.kind === 'explicit'
      ? explicitPoint(values, layout.bounds)
      : exponentialPoint(values, layout.scale, layout.zeroThreshold);
  return {
    name: 'http.server.request.duration',
    unit: 's',
    kind: layout.kind === 'explicit' ? 'histogram' : 'exponentialHistogram',
    point: { ...point, sum, startTimeUnixNano: nanos(from) },
    delta: isDelta,
  };
}

interface Watched {
  readonly fleet: Fleet;
  readonly status: GroupStatus;
  readonly bounds: readonly BoundsAroundView[];
}

const boundsOf = (fleet: Fleet, seconds: number): readonly BoundsAroundView[] =>
  fleet.aggregate.balancers(at(seconds)).flatMap((state) => toBalancerView(state).thresholdsBetweenBounds);

const statusOf = (fleet: Fleet, seconds: number): GroupStatus =>
  present(createBurnEngine().evaluate(fleet.aggregate, at(seconds)).statuses[0], 'status');

/** What comes of pushes of durations, each in its layout. */
function watch(threshold: number, pushes: readonly (readonly [Layout, readonly number[]])[], isDelta = false): Watched {
  const fleet = createFleet(sloOf('fast', { indicator: latency(threshold) }));
  const all: number[] = [];
  let seconds = 0;
  let start = 0;
  let last = pushes[0]?.[0];
  for (const [layout, values] of pushes) {
    // Other bounds are another stream, which begins with nothing after the last point.
    if (last?.kind !== layout.kind || (layout.kind === 'explicit' && layout !== last)) {
      all.length = 0;
      start = seconds + 1;
    }
    const from = isDelta ? seconds : start;
    seconds += PUSH_S;
    last = layout;
    all.push(...values);
    const outcome = fleet.push(seconds, SENDER, [metricOf(layout, isDelta ? values : all, from, isDelta)]);
    assert.equal(outcome.rejected, 0, outcome.message);
  }
  return { fleet, status: statusOf(fleet, seconds), bounds: boundsOf(fleet, seconds) };
}

const BOUNDS = [0.1, 0.25, 0.5, 1, 2.5];
const explicit = (bounds: readonly number[]): Layout => ({ kind: 'explicit', bounds });

describe('a latency threshold between two bounds', () => {
  test('counts the bracket as bad, keeps both ends, and names the bounds and what would make it exact', () => {
    const durations = [0.05, 0.2, 0.28, 0.35, 0.4, 0.9, 3];
    const { status, bounds } = watch(0.3, [[explicit(BOUNDS), durations]]);
    assert.deepEqual([status.good, status.bad, status.total], [2, 5, 7]);
    assert.deepEqual(status.sliBracket, { low: 2 / 7, high: 5 / 7 });
    assert.equal(status.sli, 2 / 7);
    assert.equal(status.budgetRemainingBracket?.low, status.budgetRemaining);
    assert.ok((status.budgetRemainingBracket?.high ?? 0) > (status.budgetRemaining ?? 0));
    const fix = 'add the bound 0.3 s: a view with explicit boundaries in its OpenTelemetry SDK';
    assert.deepEqual(bounds, [{ slo: 'fast', threshold: 0.3, below: 0.25, above: 0.5, fix }]);
  });

  test('on a bound, however it is written, it is exact: no bracket, no second ring, no note', () => {
    for (const threshold of [1, Number('1.0'), 0.1 + 0.15, 2.5]) {
      const { status, bounds, fleet } = watch(threshold, [[explicit(BOUNDS), [0.05, 0.25, 1, 1.5, 9]]]);
      assert.deepEqual([status.sliBracket, status.budgetRemainingBracket, bounds], [null, null, []]);
      assert.deepEqual(
        fleet.aggregate.snapshot().groups.map(({ between }) => between),
        [undefined],
      );
    }
  });

  test('below the first and above the last bound the bracket is open to that side', () => {
    const low = watch(0.05, [[explicit(BOUNDS), [0.01, 0.2]]]);
    assert.deepEqual(low.status.sliBracket, { low: 0, high: 0.5 });
    assert.deepEqual([low.bounds[0]?.below, low.bounds[0]?.above], [0, 0.1]);
    const high = watch(5, [[explicit(BOUNDS), [0.01, 3, 7, 8]]]);
    assert.deepEqual(high.status.sliBracket, { low: 0.25, high: 1 });
    assert.deepEqual([high.bounds[0]?.below, high.bounds[0]?.above], [2.5, null]);
    const none = watch(0.3, [[explicit([]), [0.01, 3]]]);
    assert.deepEqual(none.status.sliBracket, { low: 0, high: 1 });
  });

  test('an exponential histogram brackets by the bucket that holds it, upper bounds inclusive', () => {
    const layout: Layout = { kind: 'exponential', scale: 0, zeroThreshold: 0 };
    const durations = [0.2, 0.25, 0.26, 0.3, 0.5, 0.6];
    const off = watch(0.3, [[layout, durations]]);
    assert.deepEqual(off.status.sliBracket, { low: 2 / 6, high: 5 / 6 });
    assert.deepEqual([off.bounds[0]?.below, off.bounds[0]?.above], [0.25, 0.5]);
    const on = watch(0.5, [[layout, durations]]);
    assert.deepEqual([on.status.sli, on.status.sliBracket], [5 / 6, null]);
    const zero = watch(0.3, [[{ ...layout, zeroThreshold: 1 }, [0, 0.2, 0.9, 1.5]]]);
    assert.deepEqual(zero.status.sliBracket, { low: 0, high: 0.75 });
  });

  test("milliseconds, and a balancer's own setting", () => {
    const fleet = createFleet(sloOf('fast', { indicator: latency(0.3, 'lb.stage.backend.duration') }));
    const metric: Metric = {
      name: 'cluster.upstream_rq_time',
      kind: 'histogram',
      attributes: { 'envoy.cluster_name': 'checkout' },
      point: { ...explicitPoint([10, 300, 310, 900], [25, 250, 500]), startTimeUnixNano: nanos(0) },
    };
    fleet.push(10, SENDER, [metric]);
    assert.deepEqual(statusOf(fleet, 10).sliBracket, { low: 0.25, high: 0.75 });
    const fix = 'add 300 to stats_config.histogram_bucket_settings (ms)';
    assert.deepEqual(boundsOf(fleet, 10), [{ slo: 'fast', threshold: 0.3, below: 0.25, above: 0.5, fix }]);
  });

  test('an alert that rests on it says so', () => {
    const fleet = createFleet(sloOf('fast', { indicator: latency(0.3), policy: WORKBOOK }));
    fleet.push(100, SENDER, [metricOf(explicit([0.25, 0.5]), [0.1, 0.4, 0.4, 0.9], 0, true)]);
    const [change] = createBurnEngine().evaluate(fleet.aggregate, at(100)).changes;
    const evidence = change?.alert.evidence.find(({ name }) => name === 'between_bounds');
    assert.match(change?.alert.summary ?? '', / % of requests take longer than 300 ms; /);
    assert.equal(evidence?.text, '2 of those lie between two histogram bounds around 300 ms: they may be good');
  });

  test('bounds that were put right are exact from then on, and forgotten after an hour', () => {
    const fleet = createFleet(sloOf('fast', { indicator: latency(0.3) }));
    fleet.push(10, SENDER, [metricOf(explicit([0.25, 0.5]), [0.4, 0.4], 0, true)]);
    const right = explicit([0.25, 0.3, 0.5]);
    fleet.push(20, SENDER, [metricOf(right, [0.28, 0.4], 10, true)]);
    assert.deepEqual(statusOf(fleet, 20).sliBracket, { low: 0.25, high: 0.75 });
    assert.equal(boundsOf(fleet, 20).length, 1);
    for (const seconds of [3600, 3620]) {
      fleet.push(seconds, SENDER, [metricOf(right, [0.1], seconds - 10, true)]);
    }
    assert.equal(boundsOf(fleet, 3620).length, 0);
  });

  test('a restart keeps both ends and the bounds', () => {
    const { fleet, status } = watch(0.3, [[explicit(BOUNDS), [0.05, 0.28, 0.4, 3]]]);
    const restored = createAggregate();
    restored.replaceSlos([sloOf('fast', { indicator: latency(0.3) })]);
    restored.restore(structuredClone(fleet.aggregate.snapshot()));
    const [after] = createBurnEngine().evaluate(restored, at(PUSH_S)).statuses;
    assert.deepEqual(after?.sliBracket, status.sliBracket);
    assert.deepEqual(restored.balancers(at(PUSH_S))[0]?.brackets, fleet.aggregate.balancers(at(PUSH_S))[0]?.brackets);
  });

  const duration = fc.oneof(
    fc.constantFrom(0, 0.1, 0.25, 0.3, 0.5, 1, 2, 4),
    fc.double({ min: 0.01, max: 20, noNaN: true }),
  );
  const batch = fc.array(duration, { maxLength: 12 });

  test('the number of raw durations within the threshold always lies between both ends, explicit bounds', () => {
    const bounds = fc
      .uniqueArray(fc.constantFrom(0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 1, 2, 5), { maxLength: 6 })
      .map((some) => some.sort((a, b) => a - b));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(bounds.map(explicit), fc.array(batch, { minLength: 1, maxLength: 4 })), {
          minLength: 1,
          maxLength: 3,
        }),
        duration.filter((threshold) => threshold > 0),
        fc.boolean(),
        (layouts, threshold, isDelta) => {
          const pushes = layouts.flatMap(([layout, batches]) => batches.map((values) => [layout, values] as const));
          holds(
            threshold,
            pushes,
            isDelta,
            (layout) => layout.kind === 'explicit' && layout.bounds.includes(threshold),
          );
        },
      ),
      { seed: 101, numRuns: 300 },
    );
  });

  test('and of exponential histograms, at any scale, that change scale and zero threshold', () => {
    const layout = fc.record({
      kind: fc.constant('exponential' as const),
      scale: fc.integer({ min: -2, max: 6 }),
      zeroThreshold: fc.constantFrom(0, 0, 0.05, 0.25),
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(layout, batch), { minLength: 1, maxLength: 6 }),
        fc.oneof(fc.constantFrom(0.25, 0.3, 0.5, 1, 4), fc.double({ min: 0.001, max: 30, noNaN: true })),
        fc.boolean(),
        (layouts, threshold, isDelta) => {
          const isBound = (one: Layout): boolean => {
            if (one.kind !== 'exponential' || one.zeroThreshold > threshold) return false;
            return Number.isInteger(Math.log2(threshold) * 2 ** one.scale);
          };
          holds(threshold, layouts, isDelta, isBound);
        },
      ),
      { seed: 102, numRuns: 300 },
    );
  });

  /** Raw durations against what the engine says of them; where every layout has the bound, both ends are one. */
  function holds(
    threshold: number,
    pushes: readonly (readonly [Layout, readonly number[]])[],
    isDelta: boolean,
    isBound: (layout: Layout) => boolean,
  ): void {
    const { status } = watch(threshold, pushes, isDelta);
    const values = pushes.flatMap(([, batch]) => batch);
    const within = values.filter((value) => value <= threshold).length;
    assert.equal(status.total, values.length);
    if (values.length === 0) {
      assert.equal(status.sliBracket, null);
      return;
    }
    const { low, high } = status.sliBracket ?? { low: status.sli, high: status.sli };
    const share = within / values.length;
    assert.ok((low ?? 2) <= share && share <= (high ?? -1), `${share} is not within [${low}, ${high}]`);
    if (pushes.every(([layout]) => isBound(layout))) assert.equal(status.sliBracket, null);
  }
});
