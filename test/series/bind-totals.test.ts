import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { createBinder } from '../../src/series/bind.ts';
import type { SeriesDescription } from '../../src/series/binding.ts';
import { at } from '../aggregate/fixture.ts';
import { seriesOf } from './describe.ts';

function bound() {
  const aggregate = createAggregate();
  const binder = createBinder({ slos: [], aggregate });
  const feed = (series: SeriesDescription, value: number): void => {
    for (const { cell, weight } of binder.bind(series).counters) cell.add(at(0), at(10), weight * value);
  };
  const read = (metric: string): readonly string[] =>
    aggregate
      .totals(metric)
      .map(
        ({ labels, value }) =>
          `${[...labels].map(([name, text]) => `${name.split('.').at(-1)}=${text}`).join(' ')}: ${value}`,
      );
  return { aggregate, binder, feed, read };
}

const zone = { resource: { 'cloud.availability_zone': 'a', 'lb.flavor': 'custom' } };
const requests = (attributes: Record<string, string>) => seriesOf('lb.requests', attributes, zone);

test('requests of clients go by balancer, those to hosts by cluster and zone and once more by host; errors are born 0', () => {
  const { feed, read } = bound();
  feed(requests({ 'lb.side': 'downstream', 'lb.response.class': '2xx', 'lb.listener': 'x' }), 5);
  feed(requests({ 'lb.side': 'downstream', 'lb.response.class': '2xx', 'lb.listener': 'y' }), 6);
  const upstream = {
    'lb.side': 'upstream',
    'lb.upstream.cluster': 'shop',
    'lb.upstream.zone': 'b',
    'lb.response.class': '2xx',
  };
  feed(requests({ ...upstream, 'lb.upstream.host.name': 'h1' }), 3);
  feed(requests({ ...upstream, 'lb.upstream.host.name': 'h2', 'lb.response.class': '5xx' }), 4);
  feed(requests({ 'lb.response.class': '2xx' }), 99);
  assert.deepEqual(read('lb.requests'), [
    'availability_zone=a class=2xx side=downstream id=lb-1: 11',
    'availability_zone=a class=5xx side=downstream id=lb-1: 0',
    'class=2xx side=upstream cluster=shop zone=b: 3',
    'class=5xx side=upstream cluster=shop zone=b: 4',
  ]);
  assert.deepEqual(read('lb.upstream.host.requests'), [
    'class=2xx cluster=shop name=h1 zone=b: 3',
    'class=5xx cluster=shop name=h1 zone=b: 0',
    'class=5xx cluster=shop name=h2 zone=b: 4',
  ]);
});

test("Envoy's handshakes come out full and resumed; those towards hosts are left out", () => {
  const { feed, read } = bound();
  feed(seriesOf('listener.ssl.handshake', {}, zone), 100);
  feed(seriesOf('listener.ssl.session_reused', {}, zone), 65);
  feed(seriesOf('cluster.ssl.handshake', { 'envoy.cluster_name': 'shop' }, zone), 9);
  assert.deepEqual(read('lb.tls.handshakes'), ['id=lb-1 resumed=false: 35', 'id=lb-1 resumed=true: 65']);
});

test('a stage is a histogram by balancer and cluster, in seconds', () => {
  const { aggregate, binder } = bound();
  const stage = seriesOf(
    'lb.stage.backend.duration',
    { 'lb.upstream.cluster': 'shop', 'lb.upstream.host.name': 'h1' },
    zone,
  );
  const { histograms } = binder.bind({ ...stage, kind: 'histogram', unit: 's' });
  for (const { cell } of histograms) cell.add(at(0), at(10), Float64Array.of(0.1, 1), Float64Array.of(1, 2, 3), 7);
  const [found] = aggregate.totalHistograms('lb.stage.backend.duration');
  assert.deepEqual(
    [...(found?.labels ?? [])],
    [
      ['lb.upstream.cluster', 'shop'],
      ['service.instance.id', 'lb-1'],
    ],
  );
  assert.deepEqual([found?.bounds, found?.counts, found?.sum], [[0.1, 1], [1, 2, 3], 7]);
});
