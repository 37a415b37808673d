import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { createBinder } from '../../src/series/bind.ts';
import type { SeriesDescription } from '../../src/series/binding.ts';
import { at } from '../aggregate/fixture.ts';
import { gaugeOf, seriesOf } from './describe.ts';

function bound() {
  const aggregate = createAggregate();
  const binder = createBinder({ slos: [], aggregate });
  const feed = (series: SeriesDescription, value: number): void => {
    aggregate.heard(series.balancer, new Map(), at(10), at(10));
    const { counters, gauges } = binder.bind(series);
    for (const { cell, weight } of counters) cell.add(at(0), at(10), weight * value);
    for (const { cell, weight } of gauges) cell.set(at(10), series.balancer, weight * value);
  };
  const read = (name: Parameters<typeof aggregate.features>[0]): readonly string[] =>
    [...aggregate.features(name)].map(
      (one) => `${[...one.labels].map((pair) => pair.join('=')).join(' ')}: ${one.range(at(0), at(10))}`,
    );
  return { aggregate, feed, read };
}

const zone = { resource: { 'cloud.availability_zone': 'a', 'lb.flavor': 'custom' } };

test("Envoy listeners tell handshakes by balancer and zone, failed ones apart, and hosts' side nothing", () => {
  const { feed, read } = bound();
  feed(seriesOf('listener.ssl.handshake', {}, zone), 100);
  feed(seriesOf('listener.ssl.session_reused', {}, zone), 65);
  feed(seriesOf('listener.ssl.connection_error', {}, zone), 7);
  feed(seriesOf('cluster.ssl.handshake', { 'envoy.cluster_name': 'shop' }, zone), 9);
  assert.deepEqual(read('tls.handshakes'), ['balancer=lb-1 resumed=false: 35', 'balancer=lb-1 resumed=true: 65']);
  assert.deepEqual(read('zone.handshakes'), ['resumed=false zone=a: 35', 'resumed=true zone=a: 65']);
  assert.deepEqual(read('tls.handshakes.failed'), ['balancer=lb-1: 7']);
});

test('handshakes and connections go by listener where that is told', () => {
  const { feed, read } = bound();
  const listener = { 'envoy.listener_address': '0.0.0.0_8443' };
  feed(seriesOf('listener.ssl.handshake', listener, zone), 10);
  feed(seriesOf('listener.ssl.connection_error', listener, zone), 2);
  feed(seriesOf('listener.downstream_cx_total', listener, zone), 12);
  assert.deepEqual(read('tls.handshakes'), ['balancer=lb-1 listener=0.0.0.0_8443 resumed=false: 10']);
  assert.deepEqual(read('tls.handshakes.failed'), ['balancer=lb-1 listener=0.0.0.0_8443: 2']);
  assert.deepEqual(read('balancer.connections'), ['balancer=lb-1 listener=0.0.0.0_8443: 12']);
});

test('requests, errors and connections of clients go by balancer', () => {
  const { feed, read } = bound();
  feed(seriesOf('http.downstream_rq_xx', { 'envoy.response_code_class': '5' }), 3);
  feed(seriesOf('http.downstream_rq_xx', { 'envoy.response_code_class': '2' }), 97);
  feed(seriesOf('cluster.upstream_rq_xx', { 'envoy.response_code_class': '2', 'envoy.cluster_name': 'shop' }), 50);
  feed(seriesOf('listener.downstream_cx_total'), 12);
  feed(seriesOf('cluster.upstream_cx_total', { 'envoy.cluster_name': 'shop' }), 5);
  assert.deepEqual(read('balancer.requests'), ['balancer=lb-1: 100']);
  assert.deepEqual(read('balancer.errors'), ['balancer=lb-1: 3']);
  assert.deepEqual(read('balancer.connections'), ['balancer=lb-1: 12']);
});

test('CPU is kept as samples, and as busy and idle seconds of the machine', () => {
  const { feed, read } = bound();
  feed(gaugeOf('lb.cpu.utilization'), 0.25);
  feed(gaugeOf('lb.cpu.utilization'), 0.75);
  feed(gaugeOf('lb.cpu.utilization'), Number.NaN);
  feed(seriesOf('node_cpu_seconds_total', { mode: 'user' }), 30);
  feed(seriesOf('node_cpu_seconds_total', { mode: 'idle' }), 10);
  assert.deepEqual(read('balancer.cpu.samples'), ['balancer=lb-1: 2']);
  assert.deepEqual(read('balancer.cpu.permille'), ['balancer=lb-1: 1000']);
  assert.deepEqual(read('balancer.cpu.time'), ['balancer=lb-1 state=busy: 30', 'balancer=lb-1 state=idle: 10']);
});

test("config versions, certificates of clients' side and successful renewals are noted", () => {
  const { aggregate, feed } = bound();
  feed(gaugeOf('lb.config.info', { 'lb.config.version': 'v7', 'lb.config.kind': 'cds' }), 1);
  feed(gaugeOf('lb.config.info', {}), 1);
  feed(gaugeOf('lb.tls.certificate.not_after', { 'lb.tls.certificate.name': 'shop' }), 2e9);
  feed(gaugeOf('lb.tls.certificate.not_after', { 'lb.tls.certificate.name': 'mesh', 'lb.side': 'upstream' }), 2e9);
  const renewals = (outcome: string) =>
    seriesOf('lb.tls.certificate.renewals', {
      'lb.tls.certificate.name': 'shop',
      'lb.tls.certificate.renewal.outcome': outcome,
    });
  feed(renewals('failure'), 4);
  assert.deepEqual(
    aggregate.configs(at(10)).map(({ kind, version }) => [kind, version]),
    [['cds', 'v7']],
  );
  const read = () => aggregate.certificates(at(10)).map(({ name, renewalCountedAt }) => [name, renewalCountedAt]);
  assert.deepEqual(read(), [['shop', null]]);
  feed(renewals('success'), 0);
  assert.deepEqual(read(), [['shop', 0]]);
  feed(renewals('success'), 1);
  assert.deepEqual(read(), [['shop', at(10)]]);
});

test('updates that an Envoy refuses go by kind, whichever family tells them', () => {
  const { feed, read } = bound();
  feed(seriesOf('cluster_manager.cds.update_rejected', {}, zone), 2);
  feed(seriesOf('listener_manager.lds.update_rejected', {}, zone), 1);
  feed(seriesOf('cluster.update_rejected', { 'envoy.cluster_name': 'shop' }, zone), 3);
  feed(seriesOf('http.edge.rds.update_rejected', { 'envoy.http_conn_manager_prefix': 'edge' }, zone), 4);
  assert.deepEqual(read('config.rejected'), [
    'balancer=lb-1 kind=cds: 2',
    'balancer=lb-1 kind=eds: 3',
    'balancer=lb-1 kind=lds: 1',
    'balancer=lb-1 kind=rds: 4',
  ]);
});

test('streams are told by connection where it is named, and by cluster as an Envoy does', () => {
  const { aggregate, feed, read } = bound();
  const host = { 'lb.upstream.cluster': 'shop', 'lb.upstream.host.name': 'a' };
  const over = { ...host, 'lb.upstream.connection': '0' };
  feed(gaugeOf('lb.upstream.streams.active', over), 100);
  feed(gaugeOf('lb.upstream.streams.stalled', over), 7);
  feed(gaugeOf('lb.upstream.streams.limit', over), 128);
  feed(gaugeOf('lb.upstream.streams.active', { 'lb.upstream.host.name': 'a' }), 1);
  feed(gaugeOf('cluster.http2.streams_active', { 'envoy.cluster_name': 'shop' }, zone), 400);
  feed(seriesOf('lb.upstream.streams.rejected', host), 3);
  const peaks = (name: 'streams.active' | 'streams.stalled'): readonly string[] =>
    [...aggregate.peaks(name)].map(({ labels }) => [...labels].map((pair) => pair.join('=')).join(' '));
  assert.deepEqual(peaks('streams.active'), [
    'balancer=lb-1 cluster=shop connection=0 host=a',
    'balancer=lb-1 cluster=shop',
  ]);
  assert.deepEqual(peaks('streams.stalled'), ['balancer=lb-1 cluster=shop connection=0 host=a']);
  assert.deepEqual(
    [...aggregate.gauges('streams.limit', at(10))].map(({ value }) => value),
    [128],
  );
  assert.deepEqual(read('streams.rejected'), ['balancer=lb-1 cluster=shop host=a: 3']);
});
