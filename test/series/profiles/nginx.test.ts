import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { at, errorsOf, sloOf } from '../../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from '../describe.ts';
import { createFleet, isIgnored, isLeftOut, type Metric, read, timeOf } from './harness.ts';

const RECEIVER = { scope: 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/nginxreceiver' };
const AGENT = { scope: 'otelcol/nginxreceiver', resource: { 'instance.id': '6204037c', 'instance.type': 'nginx' } };
const PLUS = {
  scope: 'otelcol/nginxplusreceiver',
  resource: { 'instance.id': '8a11', 'instance.type': 'nginxplus' },
};
const PROMETHEUS = {
  scope: 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver',
  resource: { 'service.name': 'ingress', 'service.instance.id': 'ingress-1:10254' },
};
const PEER = {
  'nginx.zone.name': 'checkout_zone',
  'nginx.upstream.name': 'checkout',
  'nginx.peer.address': '10.0.0.5:80',
  'nginx.peer.name': 'app-1:80',
};
const PEER_PLACE = 'lb.side=upstream,lb.upstream.cluster=checkout,lb.upstream.host.name=10.0.0.5:80';

test("the Collector's receiver: dropped connections are the accepted ones less the handled ones", () => {
  const fleet = createFleet();
  const sent = (accepted: number, handled: number): Metric[] => [
    { name: 'nginx.connections_accepted', value: accepted },
    { name: 'nginx.connections_handled', value: handled },
  ];
  const weights = new Map<string, number>();
  for (const { name, value } of sent(100, 97)) {
    for (const { metric, weight } of translate(seriesOf(name, {}, RECEIVER)).series) {
      weights.set(metric, (weights.get(metric) ?? 0) + weight * (value ?? 0));
    }
  }
  assert.deepEqual(
    [...weights],
    [
      ['lb.connections.opened', 100],
      ['lb.connections.rejected', 3],
    ],
  );
  fleet.push(0, { ...RECEIVER, resource: { 'host.name': 'n1' } }, sent(1, 1));
  assert.equal(fleet.aggregate.balancers(at(0))[0]?.stages.accept_queue, 'proxy_signal');
});

test('connections of the receiver, whichever type its version gives them', () => {
  for (const shape of [
    { ...RECEIVER, kind: 'gauge' },
    { ...RECEIVER, monotonic: false },
  ] as const) {
    assert.deepEqual(read(seriesOf('nginx.connections_current', { state: 'active' }, shape)), [
      'lb.connections.active{lb.side=downstream}',
    ]);
    for (const state of ['reading', 'writing', 'waiting']) {
      assert.ok(isLeftOut(seriesOf('nginx.connections_current', { state }, shape)), state);
    }
  }
});

test('requests that say nothing of their outcome count for no SLO', () => {
  assert.ok(isIgnored(seriesOf('nginx.requests', {}, RECEIVER)));
  assert.ok(isLeftOut(gaugeOf('nginx.http.request.count', {}, AGENT)));
});

test("the Agent's gauges of responses hold what came since the last collection, and are added up (gotcha 11)", () => {
  const fleet = createFleet(sloOf('down'));
  const responses = (range: string, value: number): Metric => ({
    name: 'nginx.http.response.count',
    kind: 'gauge',
    unit: 'responses',
    attributes: { 'nginx.status_range': range },
    value,
  });
  fleet.push(0, AGENT, [responses('2xx', 10), responses('5xx', 3)]);
  fleet.push(60, AGENT, [responses('2xx', 10), responses('5xx', 3)]);
  fleet.push(120, AGENT, [responses('2xx', 4), responses('5xx', 0)]);
  assert.deepEqual(fleet.sums(), ['down[] 6/30']);
  const refused = fleet.push(180, AGENT, [responses('2xx', -1)]);
  assert.match(refused.message, /negative_delta/);
  assert.equal(fleet.aggregate.balancers(at(120))[0]?.flavor, 'nginx');
});

test('server zones tell clients, their locations the same again; peers tell clusters and hosts (gotcha 7, 35)', () => {
  const status = (type: string) =>
    seriesOf(
      'nginx.http.response.status',
      { 'nginx.status_range': '5xx', 'nginx.zone.name': 'shop', 'nginx.zone.type': type },
      PLUS,
    );
  assert.deepEqual(read(status('SERVER')), ['lb.requests{lb.listener=shop,lb.response.class=5xx,lb.side=downstream}']);
  assert.ok(isLeftOut(status('LOCATION')));
  assert.equal(translate(status('SERVER')).flavor, 'nginx_plus');
  const fleet = createFleet(sloOf('up', { indicator: errorsOf('upstream') }));
  const responses = (range: string, value: number): Metric => ({
    name: 'nginx.http.upstream.peer.responses',
    attributes: { ...PEER, 'nginx.status_range': range },
    // The Agent's own start.
    point: { asInt: String(value), startTimeUnixNano: `${at(-30)}000000` },
  });
  fleet.push(0, PLUS, [responses('2xx', 500), responses('5xx', 5)]);
  fleet.push(60, PLUS, [responses('2xx', 590), responses('5xx', 15)]);
  assert.deepEqual(fleet.sums(), ['up[] 10/100'], 'what stood before the first scrape is no growth');
  assert.deepEqual(fleet.features('host.errors'), ['cluster=checkout,host=10.0.0.5:80: 10']);
});

test('moving averages are averages (gotcha 14)', () => {
  const average = (name: string) => gaugeOf(name, PEER, { ...PLUS, unit: 'ms' });
  assert.equal(
    timeOf(average('nginx.http.upstream.peer.header.time')),
    'lb.stage.backend.duration average x 0.001 average_only',
  );
  assert.ok(isLeftOut(average('nginx.http.upstream.peer.response.time')));
  assert.equal(
    timeOf(average('nginx.stream.upstream.peer.connection.time')),
    'lb.stage.connect.duration average x 0.001 average_only',
  );
});

test('peers by state are the hosts of an upstream', () => {
  const fleet = createFleet();
  const states = { UP: 5, DOWN: 1, DRAINING: 1, UNAVAILABLE: 2, UNHEALTHY: 1, CHECKING: 1 };
  fleet.push(
    0,
    PLUS,
    Object.entries(states).map(([state, value]) => ({
      name: 'nginx.http.upstream.peer.count',
      kind: 'gauge',
      attributes: { 'nginx.upstream.name': 'checkout', 'nginx.zone.name': 'z', 'nginx.peer.state': state },
      value,
    })),
  );
  assert.deepEqual(fleet.gauges('cluster.hosts', 0), [
    'balancer=8a11,cluster=checkout,state=draining: 1',
    'balancer=8a11,cluster=checkout,state=excluded: 1',
    'balancer=8a11,cluster=checkout,state=healthy: 5',
    'balancer=8a11,cluster=checkout,state=unhealthy: 4',
  ]);
});

test('peers taken out for failing are ejections; the queue of an upstream is no accept queue (gotcha 44)', () => {
  assert.deepEqual(read(seriesOf('nginx.http.upstream.peer.unavailables', PEER, PLUS)), [
    `lb.upstream.ejections{lb.ejection.enforced=true,${PEER_PLACE}}`,
  ]);
  const upstream = { 'nginx.upstream.name': 'checkout', 'nginx.zone.name': 'z' };
  assert.deepEqual(read(seriesOf('nginx.http.upstream.queue.overflows', upstream, PLUS)), [
    'lb.rejections{lb.rejection.reason=overflow,lb.side=upstream,lb.upstream.cluster=checkout}',
  ]);
  assert.deepEqual(read(gaugeOf('nginx.http.upstream.queue.usage', upstream, PLUS)), [
    'lb.pool_queue.length{lb.side=upstream,lb.upstream.cluster=checkout}',
  ]);
});

test('handshakes: reused ones are among the successful ones, reasons split up the failed ones (gotcha 45)', () => {
  const fleet = createFleet();
  const tls = (value: number, attributes = {}): Metric => ({ name: 'nginx.ssl.handshakes', attributes, value });
  const failed = { 'nginx.ssl.status': 'FAILED' };
  const timedOut = { ...failed, 'nginx.ssl.handshake.reason': 'TIMEOUT' };
  fleet.push(0, PLUS, [tls(0), tls(0, { 'nginx.ssl.status': 'REUSE' })]);
  fleet.push(60, PLUS, [tls(100), tls(65, { 'nginx.ssl.status': 'REUSE' }), tls(4, failed), tls(4, timedOut)]);
  assert.deepEqual(fleet.features('tls.handshakes'), [
    'balancer=8a11,resumed=false: 35',
    'balancer=8a11,resumed=true: 65',
  ]);
  assert.deepEqual(read(seriesOf('nginx.ssl.handshakes', failed, PLUS)), [
    'lb.tls.handshakes{error.type=tls_failure,lb.side=downstream}',
  ]);
  assert.ok(isLeftOut(seriesOf('nginx.ssl.handshakes', timedOut, PLUS)));
  assert.deepEqual(read(seriesOf('nginxplus_ssl_session_reuses', {}, PROMETHEUS)), [
    '-1 x lb.tls.handshakes{lb.side=downstream,tls.resumed=false}',
    'lb.tls.handshakes{lb.side=downstream,tls.resumed=true}',
  ]);
});

test('accepted, dropped and active connections of Plus; reloads; what serves operators', () => {
  const of = (outcome: string) => ({ 'nginx.connections.outcome': outcome });
  assert.deepEqual(read(seriesOf('nginx.http.connections', of('ACCEPTED'), PLUS)), [
    'lb.connections.opened{lb.side=downstream}',
  ]);
  assert.deepEqual(read(seriesOf('nginx.http.connections', of('DROPPED'), PLUS)), [
    'lb.connections.rejected{error.type=overflow,lb.side=downstream}',
  ]);
  assert.deepEqual(read(gaugeOf('nginx.http.connection.count', of('ACTIVE'), PLUS)), [
    'lb.connections.active{lb.side=downstream}',
  ]);
  assert.deepEqual(read(seriesOf('nginx.config.reloads', {}, PLUS)), ['lb.config.reloads{lb.side=downstream}']);
  const zone = { 'nginx.status_range': '2xx', 'nginx.zone.name': 'status', 'nginx.zone.type': 'SERVER' };
  assert.ok(isLeftOut(seriesOf('nginx.http.response.status', zone, PLUS)));
  assert.ok(isIgnored(gaugeOf('nginx.slab.page.free', {}, PLUS)));
});

const INGRESS = { namespace: 'shop', ingress: 'edge', service: 'checkout', method: 'GET', path: '/', status: '503' };
const ingress = 'nginx_ingress_controller_';

test('ingress-nginx: requests belong to their service, without what the client wrote (gotcha 34)', () => {
  const expected = ['downstream', 'upstream'].map(
    (side) => `lb.requests{lb.response.class=5xx,lb.route=edge,lb.side=${side},lb.upstream.cluster=shop/checkout}`,
  );
  assert.deepEqual(read(seriesOf(`${ingress}requests`, INGRESS, PROMETHEUS)), expected);
  assert.deepEqual(read(seriesOf(`${ingress}requests`, { ...INGRESS, status: '5xx' }, PROMETHEUS)), expected);
  const unmatched = { ...INGRESS, namespace: '', ingress: '', service: '' };
  const [series] = translate(seriesOf(`${ingress}requests`, unmatched, PROMETHEUS)).series;
  assert.equal(series?.attributes.has('lb.upstream.cluster'), false);
});

test('ingress-nginx: durations are seconds, connect includes TLS, the whole response repeats the header', () => {
  const time = (name: string) => timeOf(histogramOf(`${ingress}${name}`, INGRESS, PROMETHEUS));
  assert.equal(time('connect_duration_seconds'), 'lb.stage.connect.duration buckets x 1 includes_tls');
  assert.equal(time('header_duration_seconds'), 'lb.stage.backend.duration buckets x 1 includes_tls');
  assert.equal(time('request_duration_seconds'), 'http.server.request.duration buckets x 1 exact');
  assert.ok(isLeftOut(histogramOf(`${ingress}response_duration_seconds`, INGRESS, PROMETHEUS)));
  assert.deepEqual(read(gaugeOf(`${ingress}ssl_expire_time_seconds`, { host: 'example.com' }, PROMETHEUS)), [
    'lb.tls.certificate.not_after{lb.tls.certificate.name=example.com}',
  ]);
});
