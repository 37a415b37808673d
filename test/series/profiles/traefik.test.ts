import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { at, errorsOf, latency, sloOf } from '../../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from '../describe.ts';
import { createFleet, isIgnored, isLeftOut, type Metric, read, timeOf } from './harness.ts';

const OTLP = {
  scope: 'github.com/traefik/traefik',
  resource: { 'service.name': 'traefik', 'service.version': '3.7.9', 'host.name': 'edge-1', 'process.pid': 1 },
};
const SCRAPED = {
  scope: 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver',
  resource: { 'service.name': 'traefik', 'service.instance.id': 'edge-1:8082' },
};
const REQUEST = { code: '200', method: 'GET', protocol: 'http' };
const CHECKOUT = { ...REQUEST, service: 'checkout@docker' };

test('requests of entry points are from clients, those of services to clusters; pushed or scraped alike', () => {
  for (const shape of [OTLP, SCRAPED]) {
    const entry = seriesOf('traefik_entrypoint_requests_total', { ...REQUEST, entrypoint: 'websecure' }, shape);
    assert.deepEqual(read(entry), [
      'lb.requests{http.request.method=GET,http.response.status_code=200,lb.listener=websecure,' +
        'lb.response.class=2xx,lb.side=downstream}',
    ]);
    assert.equal(translate(entry).flavor, 'traefik');
    assert.deepEqual(read(seriesOf('traefik_service_requests_total', { ...CHECKOUT, code: '503' }, shape)), [
      'lb.requests{http.request.method=GET,http.response.status_code=503,lb.response.class=5xx,lb.side=upstream,' +
        'lb.upstream.cluster=checkout@docker}',
    ]);
  }
});

test('routers, and what the conventions say of servers, repeat entry points (gotcha 34)', () => {
  const router = { ...CHECKOUT, router: 'checkout@docker' };
  assert.ok(isLeftOut(seriesOf('traefik_router_requests_total', router, OTLP)));
  assert.ok(isLeftOut(histogramOf('traefik_router_request_duration_seconds', router, OTLP)));
  const attributes = { 'server.address': 'evil.example', 'http.response.status_code': 200 };
  assert.ok(isLeftOut(histogramOf('http.server.request.duration', attributes, OTLP)));
});

test("the conventions' client durations tell hosts beside their services, and the port once (gotcha 35)", () => {
  const attributes = {
    'http.request.method': 'GET',
    'http.response.status_code': 503,
    'error.type': '503',
    'server.address': '10.0.0.5:8080',
    'server.port': 8080,
    'network.protocol.name': 'http/1.1',
  };
  const place =
    '{error.type=503,http.request.method=GET,http.response.status_code=503,lb.response.class=5xx,lb.side=upstream,' +
    'lb.upstream.host.name=10.0.0.5:8080}';
  assert.deepEqual(read(histogramOf('http.client.request.duration', attributes, { ...OTLP, unit: 's' })), [
    `buckets of http.client.request.duration${place}`,
    `count of lb.upstream.host.requests${place}`,
  ]);
});

test('Traefik 3.7 writes 0 as the port of an address that has one', () => {
  const attributes = { 'server.address': '10.0.0.5:8080', 'server.port': 0, 'http.response.status_code': 200 };
  const [, requests] = read(histogramOf('http.client.request.duration', attributes, { ...OTLP, unit: 's' }));
  assert.match(requests ?? '', /lb\.upstream\.host\.name=10\.0\.0\.5:8080}$/);
});

test('one request that passes every level is one request on each side, whatever order they come in (gotcha 7)', () => {
  const status = { 'http.response.status_code': 503 };
  const point = { count: '9', sum: 0.9, explicitBounds: [0.25], bucketCounts: ['9', '0'] };
  const metrics: Metric[] = [
    { name: 'traefik_entrypoint_requests_total', attributes: { ...REQUEST, code: '503', entrypoint: 'web' }, value: 9 },
    { name: 'traefik_router_requests_total', attributes: { ...CHECKOUT, code: '503', router: 'r' }, value: 9 },
    { name: 'traefik_service_requests_total', attributes: { ...CHECKOUT, code: '503' }, value: 9 },
    ...['http.server.request.duration', 'http.client.request.duration', 'traefik_service_request_duration_seconds'].map(
      (name): Metric => ({ name, kind: 'histogram', attributes: { ...status, service: 'checkout@docker' }, point }),
    ),
  ];
  for (const ordered of [metrics, [...metrics].reverse()]) {
    const fleet = createFleet(
      sloOf('down'),
      sloOf('up', { indicator: errorsOf('upstream'), groupBy: ['lb.upstream.cluster'] }),
      sloOf('slow', { indicator: latency(0.25, 'lb.stage.backend.duration'), groupBy: ['lb.upstream.cluster'] }),
    );
    fleet.push(0, OTLP, [{ name: 'traefik_config_reloads_total', value: 1 }]);
    fleet.push(10, OTLP, ordered);
    assert.deepEqual(fleet.sums().sort(), [
      'down[] 9/9',
      'slow[lb.upstream.cluster=checkout@docker] 0/9',
      'up[lb.upstream.cluster=checkout@docker] 9/9',
    ]);
  }
});

test('durations are seconds, whatever unit is declared (gotcha 19)', () => {
  for (const unit of ['s', 'ms', '']) {
    const shape = { ...OTLP, unit };
    assert.equal(
      timeOf(histogramOf('traefik_service_request_duration_seconds', CHECKOUT, shape)),
      'lb.stage.backend.duration buckets x 1 includes_queue_and_retries',
    );
    assert.equal(
      timeOf(histogramOf('traefik_entrypoint_request_duration_seconds', { entrypoint: 'web' }, shape)),
      'http.server.request.duration buckets x 1 exact',
    );
  }
});

test("gRPC's status decides the class, where there is one (gotcha 50)", () => {
  const classOf = (code: string, protocol: string) =>
    translate(seriesOf('traefik_service_requests_total', { ...CHECKOUT, code, protocol }, OTLP)).series[0]?.attributes;
  assert.equal(classOf('0', 'grpc')?.get('lb.response.class'), '2xx');
  assert.equal(classOf('14', 'grpc')?.get('lb.response.class'), '5xx');
  assert.equal(classOf('14', 'grpc-web')?.get('lb.grpc.status'), 'UNAVAILABLE');
  assert.equal(classOf('5', 'grpc')?.get('lb.response.class'), '4xx');
  assert.equal(classOf('502', 'grpc')?.get('lb.response.class'), '5xx');
  assert.equal(classOf('0', 'http')?.get('lb.response.class'), 'none');
});

test('servers that are up and down make the hosts of a service (gotcha 47)', () => {
  const fleet = createFleet();
  const server = (url: string, value: number): Metric => ({
    name: 'traefik_service_server_up',
    kind: 'gauge',
    attributes: { service: 'checkout@docker', url },
    value,
  });
  fleet.push(0, OTLP, [
    server('http://10.0.0.1:80', 1),
    server('http://10.0.0.2:80', 0),
    server('http://10.0.0.3:80', 1),
  ]);
  assert.deepEqual(fleet.gauges('cluster.hosts', 0), [
    'balancer=edge-1/1,cluster=checkout@docker,state=healthy: 2',
    'balancer=edge-1/1,cluster=checkout@docker,state=unhealthy: 1',
  ]);
});

test('open connections, also under the name that a Collector makes of the unit 1; certificates; retries; reloads (gotcha 28)', () => {
  const open = { entrypoint: 'web', protocol: 'TCP' };
  for (const name of ['traefik_open_connections', 'traefik_open_connections_ratio']) {
    assert.deepEqual(read(gaugeOf(name, open, SCRAPED)), ['lb.connections.active{lb.listener=web,lb.side=downstream}']);
  }
  const certificate = { cn: 'example.com', serial: '1234', sans: 'example.com,www.example.com' };
  assert.deepEqual(read(gaugeOf('traefik_tls_certs_not_after', certificate, OTLP)), [
    'lb.tls.certificate.not_after{lb.tls.certificate.name=example.com}',
  ]);
  assert.deepEqual(read(seriesOf('traefik_service_retries_total', { service: 'checkout@docker' }, OTLP)), [
    'lb.retries{lb.retry.outcome=attempt,lb.side=upstream,lb.upstream.cluster=checkout@docker}',
  ]);
  assert.deepEqual(read(gaugeOf('traefik_config_last_reload_success', {}, { ...OTLP, unit: 'ms' })), [
    'lb.config.last_reload.time{}',
  ]);
});

test("Traefik's own dashboard, ping and metrics are left out", () => {
  for (const service of ['api@internal', 'ping@internal', 'prometheus@internal']) {
    assert.ok(isLeftOut(seriesOf('traefik_service_requests_total', { ...REQUEST, service }, OTLP)), service);
  }
  for (const entrypoint of ['traefik', 'metrics', 'ping']) {
    assert.ok(isLeftOut(seriesOf('traefik_entrypoint_requests_total', { ...REQUEST, entrypoint }, OTLP)), entrypoint);
  }
});

test('TLS requests are no handshakes, and other types than the table says are not its metrics (gotcha 45)', () => {
  assert.ok(isIgnored(seriesOf('traefik_entrypoint_requests_tls_total', { tls_version: '1.3' }, OTLP)));
  assert.ok(isIgnored(gaugeOf('traefik_service_requests_total', CHECKOUT, OTLP)));
  assert.ok(isIgnored(seriesOf('traefik_service_request_duration_seconds', CHECKOUT, OTLP)));
});

test('the fleet knows what Traefik tells of the stages', () => {
  const fleet = createFleet();
  const point = { count: '1', sum: 0.1, explicitBounds: [], bucketCounts: [] };
  fleet.push(0, OTLP, [
    { name: 'traefik_service_request_duration_seconds', kind: 'histogram', attributes: CHECKOUT, point },
    { name: 'traefik_new_in_4', value: 1 },
  ]);
  const [state] = fleet.aggregate.balancers(at(0));
  assert.deepEqual([state?.flavor, state?.version], ['traefik', '3.7.9']);
  assert.deepEqual(state?.stages, {
    accept_queue: 'absent',
    tls: 'absent',
    connect: 'absent',
    backend: 'includes_queue_and_retries',
    write: 'absent',
  });
  assert.deepEqual(state?.metricsIgnored, ['traefik_new_in_4']);
});
