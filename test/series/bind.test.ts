import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import { createBinder } from '../../src/series/bind.ts';
import type { Binder, SeriesBinding, SeriesDescription } from '../../src/series/binding.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { at, equals, errorsOf, latency, sloOf } from '../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from './describe.ts';

function bound(...slos: Slo[]): { aggregate: Aggregate; binder: Binder } {
  const aggregate = createAggregate();
  aggregate.replaceSlos(slos);
  return { aggregate, binder: createBinder({ slos, aggregate }) };
}

/** What a delta of a sum, or the count of a histogram's delta, does. */
function count(binding: SeriesBinding, amount: number): void {
  for (const { cell, weight } of binding.counters) cell.add(at(0), at(10), weight * amount);
}

const sumsOf = (aggregate: Aggregate) =>
  [...aggregate.groups()].map((group) => {
    const { bad, total } = group.range(at(0), at(10));
    return `${group.slo.id}${JSON.stringify([...group.labels])} ${bad}/${total}`;
  });

const featuresOf = (aggregate: Aggregate, name: Parameters<Aggregate['features']>[0]) =>
  [...aggregate.features(name)].map(
    (one) => `${[...one.labels].map(([label, value]) => `${label}=${value}`).join(',')}: ${one.range(at(0), at(10))}`,
  );

const upstream = (code: string, cluster: string): SeriesDescription =>
  seriesOf('cluster.upstream_rq_xx', { 'envoy.response_code_class': code, 'envoy.cluster_name': cluster });

test('a series feeds the total, and the part only where all conditions hold', () => {
  const { aggregate, binder } = bound(sloOf('up', { indicator: errorsOf('upstream') }), sloOf('down'));
  count(binder.bind(upstream('5', 'checkout')), 3);
  count(binder.bind(upstream('2', 'checkout')), 97);
  assert.deepEqual(sumsOf(aggregate), ['up[] 3/100']);
});

test('groups appear with the first series that belongs to them; a missing attribute is empty', () => {
  const slo = sloOf('a', { indicator: errorsOf('upstream'), groupBy: ['lb.upstream.cluster', 'lb.upstream.zone'] });
  const { aggregate, binder } = bound(slo);
  assert.deepEqual(sumsOf(aggregate), []);
  count(binder.bind(upstream('5', 'pay')), 1);
  count(binder.bind(upstream('2', 'checkout')), 5);
  assert.deepEqual(sumsOf(aggregate), [
    'a[["lb.upstream.cluster","checkout"],["lb.upstream.zone",""]] 0/5',
    'a[["lb.upstream.cluster","pay"],["lb.upstream.zone",""]] 1/1',
  ]);
});

test('a rollup counts over all groups beside them, and needs groups to stand beside', () => {
  const grouped = sloOf('a', { indicator: errorsOf('upstream'), groupBy: ['lb.upstream.cluster'], rollup: true });
  const plain = sloOf('b', { indicator: errorsOf('upstream'), rollup: true });
  const { aggregate, binder } = bound(grouped, plain);
  count(binder.bind(upstream('5', 'pay')), 1);
  count(binder.bind(upstream('5', 'checkout')), 2);
  assert.deepEqual(sumsOf(aggregate), [
    'a[] 3/3',
    'a[["lb.upstream.cluster","checkout"]] 2/2',
    'a[["lb.upstream.cluster","pay"]] 1/1',
    'b[] 3/3',
  ]);
});

test("a latency SLO asks in the series' own unit", () => {
  const { binder } = bound(sloOf('a', { indicator: latency(0.25) }));
  const envoy = binder.bind(histogramOf('http.downstream_rq_time', { 'envoy.http_conn_manager_prefix': 'i' }));
  assert.deepEqual(
    envoy.atOrBelow.map(({ threshold, weight }) => [threshold, weight]),
    [[250, 1]],
  );
  assert.equal(envoy.counters.length, 1, 'the total by count');
  assert.equal(envoy.histograms[0]?.toSeconds, 0.001);
  const seconds = binder.bind(histogramOf('http.server.request.duration', {}, { scope: 'app', unit: 's' }));
  assert.deepEqual(
    seconds.atOrBelow.map(({ threshold }) => threshold),
    [0.25],
  );
});

test('no threshold of whole milliseconds misses its bound by a rounding', () => {
  const thresholds = Array.from({ length: 3000 }, (_, index) => index + 1);
  const slos = thresholds.map((ms) => sloOf(`a${ms}`, { indicator: latency(ms / 1000) }));
  const { binder } = bound(...slos);
  const { atOrBelow } = binder.bind(histogramOf('http.downstream_rq_time', { 'envoy.http_conn_manager_prefix': 'i' }));
  assert.deepEqual(
    atOrBelow.map(({ threshold }) => threshold),
    thresholds,
  );
});

test('a latency SLO counts only what has buckets', () => {
  const { aggregate, binder } = bound(sloOf('a', { indicator: latency(0.3, 'lb.requests') }));
  binder.bind(seriesOf('lb.requests'));
  assert.deepEqual(sumsOf(aggregate), []);
});

test('an SLO of events may count a histogram', () => {
  const metric = 'http.server.request.duration';
  const slo = sloOf('a', {
    indicator: {
      kind: 'events',
      counts: 'bad',
      part: { metric, where: [{ kind: 'matches', attribute: 'http.response.status_code', pattern: '5..' }] },
      total: { metric, where: [] },
    },
  });
  const { aggregate, binder } = bound(slo);
  count(binder.bind(histogramOf(metric, { 'http.response.status_code': 503 }, { scope: 'app' })), 4);
  count(binder.bind(histogramOf(metric, { 'http.response.status_code': 200 }, { scope: 'app' })), 6);
  assert.deepEqual(sumsOf(aggregate), ['a[] 4/10']);
});

test('resumed handshakes move from full to resumed, and the total stays what it is', () => {
  const handshakes = (id: string, where: ReturnType<typeof equals>[]): Slo =>
    sloOf(id, {
      indicator: {
        kind: 'events',
        counts: 'bad',
        part: { metric: 'lb.tls.handshakes', where },
        total: { metric: 'lb.tls.handshakes', where: [] },
      },
    });
  const { aggregate, binder } = bound(
    handshakes('failed', [equals('error.type', 'tls_failure')]),
    handshakes('full', [equals('tls.resumed', 'false')]),
    handshakes('resumed', [equals('tls.resumed', 'true')]),
  );
  const listener = { 'envoy.listener_address': '0.0.0.0_443' };
  count(binder.bind(seriesOf('listener.ssl.handshake', listener)), 100);
  const reused = binder.bind(seriesOf('listener.ssl.session_reused', listener));
  count(reused, 65);
  count(binder.bind(seriesOf('listener.ssl.connection_error', listener)), 4);
  assert.deepEqual(sumsOf(aggregate), ['failed[] 4/104', 'full[] 35/104', 'resumed[] 65/104']);
  assert.deepEqual(featuresOf(aggregate, 'tls.handshakes'), [
    'balancer=lb-1,listener=0.0.0.0_443,resumed=false: 35',
    'balancer=lb-1,listener=0.0.0.0_443,resumed=true: 65',
  ]);
  assert.equal(new Set(reused.counters.map(({ cell }) => cell)).size, reused.counters.length, 'each cell once');
  assert.ok(
    reused.counters.every(({ weight }) => weight !== 0),
    'a cell that would get nothing is not fed',
  );
});

test('upstream requests feed the cluster and its host, failed ones its errors', () => {
  const { aggregate, binder } = bound();
  count(
    binder.bind(
      seriesOf('lb.requests', {
        'lb.side': 'upstream',
        'lb.upstream.cluster': 'c',
        'lb.upstream.zone': 'z1',
        'lb.upstream.host.name': 'h1',
        'lb.response.class': '5xx',
      }),
    ),
    2,
  );
  count(
    binder.bind(
      seriesOf('lb.requests', {
        'lb.side': 'upstream',
        'lb.upstream.cluster': 'c',
        'network.peer.address': '10.0.0.1',
        'network.peer.port': 80,
        'lb.response.class': '2xx',
      }),
    ),
    8,
  );
  count(
    binder.bind(
      seriesOf('lb.requests', { 'lb.side': 'downstream', 'lb.upstream.cluster': 'c', 'lb.response.class': '5xx' }),
    ),
    50,
  );
  count(binder.bind(seriesOf('lb.requests', { 'lb.side': 'upstream', 'lb.response.class': '5xx' })), 50);
  assert.deepEqual(featuresOf(aggregate, 'cluster.requests'), ['cluster=c,zone=z1: 2', 'cluster=c: 8']);
  assert.deepEqual(featuresOf(aggregate, 'cluster.errors'), ['cluster=c,zone=z1: 2']);
  assert.deepEqual(featuresOf(aggregate, 'host.requests'), [
    'cluster=c,host=10.0.0.1:80: 8',
    'cluster=c,host=h1,zone=z1: 2',
  ]);
  assert.deepEqual(featuresOf(aggregate, 'host.errors'), ['cluster=c,host=h1,zone=z1: 2']);
});

test("Envoy's endpoints feed hosts, not the cluster and not the SLO", () => {
  const { aggregate, binder } = bound(sloOf('a', { indicator: errorsOf('upstream') }));
  const endpoint = { 'envoy.cluster_name': 'c', 'envoy.endpoint_address': '10.1.2.3:8080' };
  count(binder.bind(seriesOf('cluster.endpoint.rq_success', endpoint)), 91);
  count(binder.bind(seriesOf('cluster.endpoint.rq_error', endpoint)), 9);
  assert.deepEqual(featuresOf(aggregate, 'host.requests'), ['cluster=c,host=10.1.2.3:8080: 100']);
  assert.deepEqual(featuresOf(aggregate, 'host.errors'), ['cluster=c,host=10.1.2.3:8080: 9']);
  assert.deepEqual(featuresOf(aggregate, 'cluster.requests'), []);
  assert.deepEqual(sumsOf(aggregate), []);
});

test('ejections feed what was enforced by reason, and what was refused', () => {
  const { aggregate, binder } = bound();
  const of = (name: string) =>
    binder.bind(seriesOf(`cluster.outlier_detection.${name}`, { 'envoy.cluster_name': 'c' }));
  count(of('ejections_enforced_total'), 3);
  count(of('ejections_enforced_consecutive_5xx'), 3);
  count(of('ejections_overflow'), 1);
  assert.deepEqual(featuresOf(aggregate, 'cluster.ejections'), [
    'balancer=lb-1,cluster=c,reason=consecutive_5xx: 3',
    'balancer=lb-1,cluster=c: 0',
  ]);
  assert.deepEqual(featuresOf(aggregate, 'cluster.ejections.refused'), ['balancer=lb-1,cluster=c: 1']);
});

test('host gauges come out in exclusive states that add up to the pool', () => {
  const { aggregate, binder } = bound();
  aggregate.heard('lb-1', new Map(), at(0), at(0));
  for (const [stat, value] of [
    ['total', 10],
    ['healthy', 6],
    ['degraded', 1],
    ['excluded', 0],
  ] as const) {
    const { gauges } = binder.bind(gaugeOf(`cluster.membership_${stat}`, { 'envoy.cluster_name': 'c' }));
    for (const { cell, weight } of gauges) cell.set(at(0), 'lb-1', weight * value);
  }
  const states = [...aggregate.gauges('cluster.hosts', at(0))].map(({ labels, value }) => [labels.get('state'), value]);
  assert.deepEqual(states, [
    ['degraded', 1],
    ['excluded', 0],
    ['healthy', 6],
    ['unhealthy', 3],
  ]);
});

test('a gauge bound again after a reload is not added twice', () => {
  const aggregate = createAggregate();
  aggregate.heard('lb-1', new Map(), at(0), at(0));
  for (let reload = 0; reload < 2; reload += 1) {
    const binder = createBinder({ slos: [], aggregate });
    const { gauges } = binder.bind(gaugeOf('lb.upstream.ejections.active', { 'lb.upstream.cluster': 'c' }));
    for (const { cell, weight } of gauges) cell.set(at(0), 'lb-1', weight * 2);
  }
  assert.deepEqual(
    [...aggregate.gauges('cluster.ejections.active', at(0))].map(({ value }) => value),
    [2],
  );
});

test('stages are kept as histograms by cluster', () => {
  const { aggregate, binder } = bound();
  const { histograms } = binder.bind(histogramOf('cluster.upstream_rq_time', { 'envoy.cluster_name': 'c' }));
  for (const { cell } of histograms) cell.add(at(0), at(10), new Float64Array([0.01]), new Float64Array([3, 1]), 0.2);
  const [series] = aggregate.histograms('lb.stage.backend.duration');
  assert.deepEqual([...(series?.labels ?? [])], [['cluster', 'c']]);
});

test('the book learns what a balancer is, feeds and sends', () => {
  const { aggregate, binder } = bound(sloOf('up', { indicator: errorsOf('upstream') }));
  binder.bind(upstream('5', 'checkout'));
  binder.bind(upstream('2', 'slo_ingest'));
  binder.bind(seriesOf('server.live'));
  aggregate.heard('lb-1', new Map(), at(0), at(0));
  const [state] = aggregate.balancers(at(0));
  assert.equal(state?.flavor, 'envoy');
  assert.deepEqual(state?.slos, ['up']);
  assert.deepEqual(state?.clusters, ['checkout']);
  assert.equal(state?.seriesCount, 3);
  assert.deepEqual(state?.metricsUnderstood, ['cluster.upstream_rq_xx']);
  assert.deepEqual(state?.metricsIgnored, ['server.live']);
  const [group] = aggregate.groups();
  assert.ok(group !== undefined && aggregate.feed(group, at(0)).coverage === 1);
});

test('a new binder counts series anew and binds kept groups to their cells', () => {
  const slo = sloOf('up', { indicator: errorsOf('upstream') });
  const { aggregate, binder } = bound(slo);
  count(binder.bind(upstream('5', 'checkout')), 2);
  aggregate.replaceSlos([slo]);
  count(createBinder({ slos: [slo], aggregate }).bind(upstream('5', 'checkout')), 3);
  assert.deepEqual(sumsOf(aggregate), ['up[] 5/5']);
  assert.equal(aggregate.balancer('lb-1').seriesCount, 1);
});

test('clusters to leave out can be given', () => {
  const aggregate = createAggregate();
  const binder = createBinder({ slos: [], aggregate, ignoredClusters: ['mesh-.*'] });
  assert.equal(binder.bind(upstream('2', 'mesh-control')).counters.length, 0);
  assert.notEqual(binder.bind(upstream('2', 'slo_ingest')).counters.length, 0);
});

test('an unknown metric binds to nothing', () => {
  const { binder } = bound(sloOf('a'));
  const binding = binder.bind(seriesOf('my.counter'));
  assert.deepEqual(binding, { understood: false, counters: [], atOrBelow: [], histograms: [], gauges: [] });
});
