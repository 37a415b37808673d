import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { at, errorsOf, latency, sloOf } from '../../aggregate/fixture.ts';
import { gaugeOf, seriesOf } from '../describe.ts';
import { createFleet, isIgnored, isLeftOut, type Metric, read, timeOf } from './harness.ts';

const ADDR = 'http://lb1:8404/stats';
const RECEIVER = 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/haproxyreceiver';
const PROMETHEUS = {
  scope: 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver',
  resource: { 'service.name': 'haproxy', 'service.instance.id': 'lb1:8404' },
};

/** A row of the statistics as the receiver sends it: its identity stands in the resource alone. */
const row = (service: string, proxy = 'webservers', addr = ADDR) => ({
  scope: RECEIVER,
  resource: { 'haproxy.addr': addr, 'haproxy.proxy_name': proxy, 'haproxy.service_name': service },
});

const byClass = (statusCode: string, value: number): Metric => ({
  name: 'haproxy.requests.total',
  unit: '{requests}',
  attributes: { status_code: statusCode },
  value,
});

test('the receiver: frontends tell clients, backends clusters, servers hosts (gotcha 35)', () => {
  const requests = (service: string) => read(seriesOf('haproxy.requests.total', { status_code: '5xx' }, row(service)));
  assert.deepEqual(requests('FRONTEND'), [
    'lb.requests{lb.listener=webservers,lb.response.class=5xx,lb.side=downstream}',
  ]);
  assert.deepEqual(requests('BACKEND'), [
    'lb.requests{lb.response.class=5xx,lb.side=upstream,lb.upstream.cluster=webservers}',
  ]);
  assert.deepEqual(requests('s1'), [
    'lb.upstream.host.requests{lb.response.class=5xx,lb.side=upstream,lb.upstream.cluster=webservers,' +
      'lb.upstream.host.name=s1}',
  ]);
});

test('the exporter says the same in labels', () => {
  const of = (level: string, labels = {}) =>
    read(seriesOf(`haproxy_${level}_http_responses_total`, { proxy: 'web', code: '2xx', ...labels }, PROMETHEUS));
  assert.deepEqual(of('frontend'), ['lb.requests{lb.listener=web,lb.response.class=2xx,lb.side=downstream}']);
  assert.deepEqual(of('backend'), ['lb.requests{lb.response.class=2xx,lb.side=upstream,lb.upstream.cluster=web}']);
  assert.deepEqual(of('server', { server: 's1' }), [
    'lb.upstream.host.requests{lb.response.class=2xx,lb.side=upstream,lb.upstream.cluster=web,lb.upstream.host.name=s1}',
  ]);
  assert.deepEqual(of('backend', { code: 'other' }), [
    'lb.requests{lb.response.class=none,lb.side=upstream,lb.upstream.cluster=web}',
  ]);
  assert.ok(isLeftOut(seriesOf('haproxy_frontend_http_requests_total', { proxy: 'web' }, PROMETHEUS)));
  assert.ok(isLeftOut(seriesOf('haproxy_listener_http_responses_total', { proxy: 'web', code: '2xx' }, PROMETHEUS)));
});

test('one request in all three rows is counted once on each side (gotcha 7)', () => {
  const fleet = createFleet(sloOf('down'), sloOf('up', { indicator: errorsOf('upstream') }));
  const rows = ['s1', 'BACKEND', 'FRONTEND'];
  for (const [seconds, value] of [
    [0, 1000],
    [60, 1007],
  ] as const) {
    for (const service of rows) fleet.push(seconds, row(service), [byClass('5xx', value)]);
  }
  assert.deepEqual(fleet.sums().sort(), ['down[] 7/7', 'up[] 7/7']);
  assert.deepEqual(fleet.features('host.errors'), ['cluster=webservers,host=s1: 7']);
  assert.deepEqual(fleet.features('cluster.errors'), ['cluster=webservers: 7'], 'the scraper history is no growth');
});

test('averages are known as averages: no stage is exact, no latency SLO counts them (gotcha 14)', () => {
  const average = (name: string, service = 'BACKEND') => gaugeOf(name, {}, { ...row(service), unit: 'ms' });
  assert.equal(
    timeOf(average('haproxy.connections.average_time')),
    'lb.stage.connect.duration average x 0.001 average_only',
  );
  assert.equal(
    timeOf(average('haproxy.responses.average_time')),
    'lb.stage.backend.duration average x 0.001 average_only',
  );
  assert.equal(
    timeOf(gaugeOf('haproxy_backend_connect_time_average_seconds', { proxy: 'web' }, PROMETHEUS)),
    'lb.stage.connect.duration average x 1 average_only',
  );
  assert.ok(isLeftOut(average('haproxy.connections.average_time', 's1')), 'the average of the backend is enough');
  assert.ok(isIgnored(gaugeOf('haproxy_backend_max_connect_time_seconds', { proxy: 'web' }, PROMETHEUS)));

  const query = { metric: 'lb.stage.backend.duration', where: [] };
  const fleet = createFleet(
    sloOf('slow', { indicator: latency(0.25, 'lb.stage.backend.duration') }),
    sloOf('events', { indicator: { kind: 'events', counts: 'bad', part: query, total: query } }),
  );
  fleet.push(0, row('BACKEND'), [
    { name: 'haproxy.responses.average_time', kind: 'gauge', unit: 'ms', value: 105 },
    { name: 'haproxy.connections.average_time', kind: 'gauge', unit: 'ms', value: 2 },
  ]);
  assert.deepEqual(fleet.sums(), []);
  assert.deepEqual(fleet.aggregate.histograms('lb.stage.backend.duration'), []);
  assert.deepEqual(fleet.aggregate.balancers(at(0))[0]?.stages, {
    accept_queue: 'absent',
    tls: 'absent',
    connect: 'average_only',
    backend: 'average_only',
    write: 'absent',
  });
});

test('what the receiver calls the average time of requests is the wait for a server, not for the accept (gotcha 44)', () => {
  const queue = gaugeOf('haproxy.requests.average_time', {}, { ...row('BACKEND'), unit: 'ms' });
  assert.equal(timeOf(queue), 'lb.stage.pool_queue.duration average x 0.001 average_only');
});

test('the queue is declared a counter and is a level (gotcha 9)', () => {
  const queued = seriesOf('haproxy.requests.queued', {}, row('BACKEND'));
  assert.deepEqual(read(queued), ['lb.pool_queue.length{lb.side=upstream,lb.upstream.cluster=webservers}']);
  assert.equal(translate(queued).reads, 'level');
  const fleet = createFleet();
  for (const [seconds, value] of [5, 0, 7, 2].entries()) {
    fleet.push(seconds * 60, row('BACKEND'), [{ name: 'haproxy.requests.queued', value }]);
  }
  assert.equal(fleet.ingest.counters().get('reset'), undefined, 'a queue that drains has not restarted');
  assert.equal(fleet.ingest.counters().get('accepted'), 4);
  assert.equal(translate(gaugeOf('haproxy_backend_current_queue', { proxy: 'web' }, PROMETHEUS)).reads, undefined);
});

test('retries and redispatches are attempts to connect again (gotcha 46)', () => {
  const expected = ['lb.retries{lb.retry.outcome=attempt,lb.side=upstream,lb.upstream.cluster=webservers}'];
  for (const name of ['haproxy.connections.retries', 'haproxy.requests.redispatched']) {
    const series = seriesOf(name, {}, row('BACKEND'));
    assert.deepEqual(read(series), expected);
    assert.equal(translate(series).series[0]?.fidelity, 'proxy_signal');
    assert.ok(isLeftOut(seriesOf(name, {}, row('s1'))));
  }
  for (const name of ['retry', 'redispatch']) {
    const series = seriesOf(`haproxy_backend_${name}_warnings_total`, { proxy: 'webservers' }, PROMETHEUS);
    assert.deepEqual(read(series), expected);
  }
});

test('servers by state are the hosts of a backend (gotcha 47)', () => {
  const fleet = createFleet();
  const states = { UP: 3, DOWN: 1, DRAIN: 1, NOLB: 1, MAINT: 2 };
  const metrics = Object.entries(states).map(
    ([state, value]): Metric => ({
      name: 'haproxy_backend_agg_server_status',
      kind: 'gauge',
      attributes: { proxy: 'web', state },
      value,
    }),
  );
  fleet.push(0, PROMETHEUS, [
    ...metrics,
    { name: 'haproxy_backend_active_servers', kind: 'gauge', attributes: { proxy: 'web' }, value: 3 },
    {
      name: 'haproxy_server_status',
      kind: 'gauge',
      attributes: { proxy: 'web', server: 's3', state: 'DOWN' },
      value: 1,
    },
  ]);
  assert.deepEqual(fleet.gauges('cluster.hosts', 0), [
    'balancer=lb1:8404,cluster=web,state=draining: 2',
    'balancer=lb1:8404,cluster=web,state=excluded: 2',
    'balancer=lb1:8404,cluster=web,state=healthy: 3',
    'balancer=lb1:8404,cluster=web,state=unhealthy: 1',
  ]);
});

test('the receiver tells only the active servers', () => {
  const fleet = createFleet();
  for (const proxy of ['web', 'api']) {
    fleet.push(0, row('BACKEND', proxy), [{ name: 'haproxy.active', kind: 'gauge', value: 4 }]);
    fleet.push(0, row('s1', proxy), [{ name: 'haproxy.active', kind: 'gauge', value: 1 }]);
  }
  assert.deepEqual(fleet.gauges('cluster.hosts', 0), [
    `balancer=${ADDR},cluster=api,state=healthy: 4`,
    `balancer=${ADDR},cluster=web,state=healthy: 4`,
  ]);
});

test('failed checks, and servers that checks took out, by host; a deploy is no ejection', () => {
  const server = { proxy: 'web', server: 's3' };
  const place = 'lb.side=upstream,lb.upstream.cluster=web,lb.upstream.host.name=s3';
  assert.deepEqual(read(seriesOf('haproxy_server_check_failures_total', server, PROMETHEUS)), [
    `lb.upstream.health_checks.failed{${place}}`,
  ]);
  assert.deepEqual(read(seriesOf('haproxy_server_check_up_down_total', server, PROMETHEUS)), [
    `lb.upstream.ejections{lb.ejection.enforced=true,lb.ejection.reason=health_check,${place}}`,
  ]);
  const fleet = createFleet();
  for (const value of [1, 2]) {
    fleet.push(60 * value, PROMETHEUS, [{ name: 'haproxy_server_check_up_down_total', attributes: server, value }]);
  }
  assert.deepEqual(fleet.features('cluster.ejections'), []);
});

test('handshakes with clients, resumed ones among them, from the extra counters (gotcha 45)', () => {
  const fleet = createFleet();
  const tls = (name: string, value: number, kind: 'sum' | 'gauge'): Metric => ({
    name: `haproxy_frontend_${name}`,
    kind,
    attributes: { proxy: 'web', mod: 'ssl' },
    value,
  });
  for (const kind of ['sum', 'gauge'] as const) {
    const sender = { ...PROMETHEUS, resource: { 'service.instance.id': kind } };
    fleet.push(0, sender, [tls('ssl_sess', 50, kind), tls('ssl_reused_sess', 20, kind)]);
    fleet.push(60, sender, [tls('ssl_sess', 150, kind), tls('ssl_reused_sess', 85, kind)]);
  }
  assert.deepEqual(fleet.features('tls.handshakes'), [
    'balancer=gauge,listener=web,resumed=false: 35',
    'balancer=gauge,listener=web,resumed=true: 65',
    'balancer=sum,listener=web,resumed=false: 35',
    'balancer=sum,listener=web,resumed=true: 65',
  ]);
  assert.deepEqual(read(seriesOf('haproxy_frontend_ssl_failed_handshake', { proxy: 'web' }, PROMETHEUS)), [
    'lb.tls.handshakes{error.type=tls_failure,lb.listener=web,lb.side=downstream}',
  ]);
  assert.ok(isLeftOut(seriesOf('haproxy_listener_ssl_sess', { proxy: 'web' }, PROMETHEUS)));
});

test('sessions, and requests that either side broke off', () => {
  const active = read(gaugeOf('haproxy_frontend_current_sessions', { proxy: 'web' }, PROMETHEUS));
  assert.deepEqual(active, ['lb.connections.active{lb.listener=web,lb.side=downstream}']);
  assert.deepEqual(read(seriesOf('haproxy_backend_client_aborts_total', { proxy: 'web' }, PROMETHEUS)), [
    'lb.stream.resets{lb.side=downstream,lb.upstream.cluster=web,network.io.direction=receive}',
  ]);
  assert.deepEqual(read(seriesOf('haproxy.clients.canceled', {}, row('BACKEND'))), [
    'lb.stream.resets{lb.side=downstream,lb.upstream.cluster=webservers,network.io.direction=receive}',
  ]);
});

test('two HAProxies behind one Collector are two balancers; pages of statistics are no traffic', () => {
  const fleet = createFleet();
  for (const addr of ['http://lb1/stats', 'http://lb2/stats']) {
    fleet.push(0, row('BACKEND', 'web', addr), [byClass('2xx', 5)]);
  }
  assert.deepEqual(
    fleet.aggregate.balancers(at(0)).map(({ id, flavor }) => `${id} ${flavor}`),
    ['http://lb1/stats haproxy', 'http://lb2/stats haproxy'],
  );
  const stats = seriesOf('haproxy.requests.total', { status_code: '2xx' }, row('FRONTEND', 'stats'));
  assert.ok(isLeftOut(stats));
});
