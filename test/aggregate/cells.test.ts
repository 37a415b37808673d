import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, serialize } from 'node:v8';
import { type Aggregate, type AggregateState, createAggregate } from '../../src/aggregate/cells.ts';
import { STEP_MS } from '../../src/aggregate/view.ts';
import { epochMs } from '../../src/base/units.ts';
import { labelsOf, NO_LABELS } from '../../src/model/labels.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { at, DAY, latency, sloOf, T0 } from './fixture.ts';

const NO_RESOURCE = new Map<string, { readonly text: string }>();

function aggregateOf(...slos: Slo[]): Aggregate {
  const aggregate = createAggregate();
  aggregate.replaceSlos(slos);
  return aggregate;
}

const only = <T>(items: Iterable<T>): T => {
  const [first, ...others] = [...items];
  assert.ok(first !== undefined && others.length === 0, `one item, not ${others.length + 1}`);
  return first;
};

test('a group sums part and total over the same steps, whichever of them is older', () => {
  const slo = sloOf('a');
  const aggregate = aggregateOf(slo);
  const group = aggregate.group(slo, NO_LABELS);
  group.total.add(at(0), at(10), 100);
  group.part.add(at(0), at(10), 2);
  // The part stays silent while the total goes on for 8 h: the 10 s level no longer holds the start.
  group.total.add(at(28_800), at(28_810), 50);
  const sums = group.range(epochMs(at(0) + 2_000), at(28_810));
  assert.deepEqual(sums, { bad: 2, total: 150, from: at(0), to: at(28_810), inconsistent: false, between: 0 });
});

test('where the part counts good events, bad is what is left of the total', () => {
  const counted = sloOf('a', {
    indicator: {
      kind: 'events',
      counts: 'good',
      part: { metric: 'lb.requests', where: [] },
      total: { metric: 'lb.requests', where: [] },
    },
  });
  const timed = sloOf('b', { indicator: latency(0.3) });
  const aggregate = aggregateOf(counted, timed);
  for (const slo of [counted, timed]) {
    const group = aggregate.group(slo, NO_LABELS);
    group.part.add(at(0), at(10), 90);
    group.total.add(at(0), at(10), 100);
    assert.equal(group.range(at(0), at(10)).bad, 10);
  }
});

test('more good than total, more bad than total and negative counts are flagged, and shown as they are', () => {
  const good = sloOf('good', { indicator: latency(0.3) });
  const bad = sloOf('bad');
  const aggregate = aggregateOf(good, bad);
  for (const slo of [good, bad]) {
    const group = aggregate.group(slo, NO_LABELS);
    group.part.add(at(0), at(10), 5);
    group.total.add(at(0), at(10), 4);
    assert.equal(group.range(at(0), at(10)).inconsistent, true);
  }
  const group = aggregate.group(bad, NO_LABELS);
  group.total.add(at(10), at(20), -3);
  group.part.add(at(10), at(20), -4);
  assert.deepEqual(group.range(at(10), at(20)).inconsistent, true);
  assert.equal(group.range(at(10), at(20)).total, -3);
});

test('a value that is no number stays out', () => {
  const slo = sloOf('a');
  const group = aggregateOf(slo).group(slo, NO_LABELS);
  group.total.add(at(0), at(10), Number.NaN);
  group.total.add(at(0), at(10), 4);
  assert.equal(group.range(at(0), at(10)).total, 4);
});

test('data begin with the first step that a count covers, also where it counts nothing', () => {
  const slo = sloOf('a');
  const group = aggregateOf(slo).group(slo, NO_LABELS);
  assert.equal(group.firstDataAt, null);
  assert.equal(group.lastEventAt, null);
  group.total.add(at(65), at(125), 0);
  assert.equal(group.firstDataAt, at(60));
  assert.equal(group.lastEventAt, null);
  group.total.add(at(125), at(185), 6);
  assert.equal(group.firstDataAt, at(60));
  assert.equal(group.lastEventAt, at(190));
  group.part.add(at(20), at(30), 1);
  assert.equal(group.firstDataAt, at(20));
});

test('counts older than everything kept do not make a group look old', () => {
  const slo = sloOf('a');
  const group = aggregateOf(slo).group(slo, NO_LABELS);
  group.total.add(at(0), at(10), 1);
  group.total.add(epochMs(T0 - 40 * DAY), epochMs(T0 - 40 * DAY), 9);
  assert.equal(group.firstDataAt, at(0));
});

test('groups come in the order of SLO and labels, and have keys of their own', () => {
  const [a, b] = [sloOf('a', { groupBy: ['zone'] }), sloOf('b', { groupBy: ['zone'] })];
  const aggregate = aggregateOf(b, a);
  for (const slo of [b, a]) for (const zone of ['z2', '', 'z1']) aggregate.group(slo, labelsOf([['zone', zone]]));
  const order = [...aggregate.groups()].map(({ slo, labels }) => `${slo.id}/${labels.get('zone')}`);
  assert.deepEqual(order, ['a/', 'a/z1', 'a/z2', 'b/', 'b/z1', 'b/z2']);
  assert.equal(new Set([...aggregate.groups()].map(({ key }) => key)).size, 6);
});

test('a reload keeps the history of an edited target, starts a changed query afresh, and drops what is gone', () => {
  const slos = [sloOf('edited'), sloOf('changed'), sloOf('gone')];
  const aggregate = aggregateOf(...slos);
  const balancer = aggregate.balancer('lb-1');
  for (const slo of slos) {
    const group = aggregate.group(slo, NO_LABELS);
    group.total.add(at(0), at(10), 7);
    aggregate.addFeeder(group, balancer);
  }
  const edited = sloOf('edited', { displayName: 'New name', labels: labelsOf([['team', 'edge']]) });
  const changed = sloOf('changed', { generation: 'g2' });
  aggregate.replaceSlos([edited, changed]);
  const group = only(aggregate.groups());
  assert.equal(group.slo.displayName, 'New name');
  assert.equal(group.range(at(0), at(10)).total, 7);
  assert.deepEqual([...balancer.slos], ['edited']);
  assert.equal(aggregate.group(changed, NO_LABELS).range(at(0), at(10)).total, 0);
});

test('features are kept by labels and come in their order', () => {
  const aggregate = createAggregate();
  aggregate.feature('cluster.requests', labelsOf([['cluster', 'b']])).add(at(0), at(10), 4);
  aggregate.feature('cluster.requests', labelsOf([['cluster', 'a']])).add(at(0), at(10), 3);
  aggregate.feature('cluster.requests', labelsOf([['cluster', 'a']])).add(at(10), at(20), 3);
  const read = [...aggregate.features('cluster.requests')].map((one) => [
    one.labels.get('cluster'),
    one.range(at(0), at(20)),
  ]);
  assert.deepEqual(read, [
    ['a', 6],
    ['b', 4],
  ]);
  assert.deepEqual([...aggregate.features('host.errors')], []);
});

test('parts of a gauge add up per balancer, late values change nothing, and vanished ones expire', () => {
  const aggregate = createAggregate();
  const labels = labelsOf([
    ['cluster', 'c'],
    ['state', 'unhealthy'],
  ]);
  const total = aggregate.gauge('cluster.hosts', labels, 'total');
  const healthy = aggregate.gauge('cluster.hosts', labels, 'healthy');
  for (const seconds of [0, 10, 20]) aggregate.heard('lb-1', NO_RESOURCE, at(seconds), at(seconds));
  total.set(at(20), 'lb-1', 10);
  healthy.set(at(20), 'lb-1', -7);
  healthy.set(at(10), 'lb-1', -1);
  const reading = only(aggregate.gauges('cluster.hosts', at(20)));
  assert.deepEqual([reading.value, reading.at, reading.labels.get('balancer')], [3, at(20), 'lb-1']);
  for (const seconds of [30, 40, 50, 60, 70, 80]) aggregate.heard('lb-1', NO_RESOURCE, at(seconds), at(seconds));
  assert.deepEqual([...aggregate.gauges('cluster.hosts', at(80))], [], 'the balancer goes on, this gauge does not');
});

test('gauges of a stale balancer are not read', () => {
  const aggregate = createAggregate();
  aggregate.heard('lb-1', NO_RESOURCE, at(0), at(0));
  aggregate.gauge('cluster.hosts', NO_LABELS, 's').set(at(0), 'lb-1', 3);
  assert.equal([...aggregate.gauges('cluster.hosts', at(179))].length, 1);
  assert.equal([...aggregate.gauges('cluster.hosts', at(180))].length, 0);
});

test('a histogram adds up series with the same bounds, and keeps others apart', () => {
  const aggregate = createAggregate();
  const cell = aggregate.histogram('lb.stage.backend.duration', labelsOf([['cluster', 'c']]));
  cell.add(at(0), at(60), new Float64Array([0.1, 1]), new Float64Array([5, 3, 1]), 2.25);
  cell.add(at(0), at(60), new Float64Array([0.1, 1]), new Float64Array([1, 0, 0]), 0.05);
  cell.add(at(0), at(60), new Float64Array([0.5]), new Float64Array([2, 2]), null);
  const series = only(aggregate.histograms('lb.stage.backend.duration'));
  assert.deepEqual(series.range(at(0), at(60)), [
    { bounds: [0.1, 1], counts: [6, 3, 1], sum: 2.3 },
    { bounds: [0.5], counts: [2, 2], sum: null },
  ]);
});

test('a snapshot goes through serialisation and everything goes on exactly', () => {
  const slos = [sloOf('a', { groupBy: ['zone'] }), sloOf('b')];
  const play = (aggregate: Aggregate, from: number, to: number): void => {
    for (let second = from; second < to; second += 10) {
      for (const [index, zone] of ['z1', 'z2'].entries()) {
        const group = aggregate.group(slos[0] as Slo, labelsOf([['zone', zone]]));
        group.total.add(at(second - 13), at(second - 3), (second * 7) % 311);
        group.part.add(at(second - 13), at(second - 3), second % (5 + index));
        aggregate.addFeeder(group, aggregate.balancer(`lb-${index}`));
        aggregate.heard(`lb-${index}`, new Map([['lb.flavor', { text: 'envoy' }]]), at(second - 3), at(second));
      }
      aggregate
        .feature('tls.handshakes', labelsOf([['balancer', 'lb-0']]))
        .add(at(second - 10), at(second), second % 9);
      aggregate.gauge('cluster.hosts', NO_LABELS, 's').set(at(second), 'lb-0', second % 4);
      aggregate
        .histogram('lb.stage.tls.duration', NO_LABELS)
        .add(at(second - 10), at(second), new Float64Array([1]), new Float64Array([second % 3, 1]), second / 8);
    }
  };
  const read = (aggregate: Aggregate, now: number) => ({
    groups: [...aggregate.groups()].map((group) => ({
      key: group.key,
      first: group.firstDataAt,
      last: group.lastEventAt,
      sums: [60, 3600, 30_000, 2_000_000].map((length) => group.range(at(now - length), at(now))),
      feed: aggregate.feed(group, at(now)),
    })),
    features: [...aggregate.features('tls.handshakes')].map((one) => [
      one.firstDataAt,
      one.range(at(now - 7200), at(now)),
    ]),
    gauges: [...aggregate.gauges('cluster.hosts', at(now))],
    histograms: aggregate.histograms('lb.stage.tls.duration').map((one) => one.range(at(now - 7200), at(now))),
    balancers: aggregate.balancers(at(now)),
    watermark: aggregate.watermark(at(now)),
  });
  const original = aggregateOf(...slos);
  play(original, 0, 40_000);
  const restored = aggregateOf(...slos);
  restored.restore(deserialize(serialize(original.snapshot())) as AggregateState);
  assert.deepEqual(read(restored, 40_000), read(original, 40_000));
  for (const aggregate of [original, restored]) play(aggregate, 40_000, 41_000);
  assert.deepEqual(read(restored, 41_000), read(original, 41_000));
});

test('a snapshot is not touched by what comes after it', () => {
  const slo = sloOf('a');
  const aggregate = aggregateOf(slo);
  const group = aggregate.group(slo, NO_LABELS);
  for (let step = 0; step < 20; step += 1) group.total.add(at(step * 10), at(step * 10 + 10), 5);
  const snapshot = aggregate.snapshot();
  const before = structuredClone(snapshot);
  for (let step = 20; step < 40; step += 1) group.total.add(at(step * 10), at(step * 10 + 10), 5);
  group.total.add(at(0), at(10), 5);
  assert.deepEqual(snapshot, before);
});

test('a snapshot of other SLOs is taken up only where id and query are the same', () => {
  const before = aggregateOf(sloOf('same'), sloOf('changed'), sloOf('gone'));
  for (const id of ['same', 'changed', 'gone']) before.group(sloOf(id), NO_LABELS).total.add(at(0), at(10), 3);
  const after = aggregateOf(sloOf('same'), sloOf('changed', { generation: 'g2' }));
  after.restore(before.snapshot());
  assert.equal(only(after.groups()).slo.id, 'same');
});

test('a group with 36 days of large counts stays below 160 kB', () => {
  const slo = sloOf('a');
  const group = aggregateOf(slo).group(slo, NO_LABELS);
  for (let end = T0 - 37 * DAY; end <= T0; end += STEP_MS) {
    group.total.add(epochMs(end - STEP_MS), epochMs(end), 100_000);
    group.part.add(epochMs(end - STEP_MS), epochMs(end), 90_000);
  }
  assert.equal(group.range(epochMs(T0 - 30 * DAY), epochMs(T0)).total, (30 * DAY * 100_000) / STEP_MS);
  assert.ok(group.byteLength() > 100_000, 'the measure sees the cells');
  assert.ok(group.byteLength() <= 150_000, `${group.byteLength()} bytes of cells; objects around them take about 4 kB`);
});
