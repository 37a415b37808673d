import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { at, errorsOf, sloOf } from '../../aggregate/fixture.ts';
import { histogramOf, seriesOf } from '../describe.ts';
import { createFleet, isIgnored, isLeftOut, type Metric, read, timeOf } from './harness.ts';

const SVC = 'reviews.shop.svc.cluster.local';
const REQUEST = {
  reporter: 'source',
  source_workload: 'web',
  destination_workload: 'reviews-v2',
  destination_service: SVC,
  destination_service_name: 'reviews',
  destination_service_namespace: 'shop',
  request_protocol: 'http',
  response_code: '200',
  response_flags: '-',
  connection_security_policy: 'mutual_tls',
};
const UP = `lb.side=upstream,lb.upstream.cluster=${SVC}`;

test('the caller tells the cluster, the callee what its clients see; scraped or through the sink of Envoy (gotcha 28)', () => {
  for (const name of ['istio_requests_total', 'istiocustom.istio_requests_total', 'istiocustom.istio_requests']) {
    assert.deepEqual(read(seriesOf(name, REQUEST)), [
      `lb.requests{http.response.status_code=200,lb.response.class=2xx,lb.response.source=upstream,${UP}}`,
    ]);
    const [callee] = translate(seriesOf(name, { ...REQUEST, reporter: 'destination' })).series;
    assert.equal(callee?.attributes.get('lb.side'), 'downstream');
    const [waypoint] = translate(seriesOf(name, { ...REQUEST, reporter: 'waypoint' })).series;
    assert.equal(waypoint?.attributes.get('lb.side'), 'downstream');
    assert.equal(translate(seriesOf(name, REQUEST)).flavor, 'istio');
  }
  assert.ok(isIgnored(seriesOf('istio_requests_total', { ...REQUEST, reporter: 'else' })));
});

test('a request that both proxies report is one on each side (gotcha 7)', () => {
  const fleet = createFleet(sloOf('down'), sloOf('up', { indicator: errorsOf('upstream') }));
  const sent = (reporter: string, value: number): Metric => ({
    name: 'istio_requests_total',
    attributes: { ...REQUEST, reporter, response_code: '503' },
    value,
  });
  for (const [seconds, value] of [
    [0, 1],
    [15, 5],
  ] as const) {
    fleet.push(seconds, { resource: { 'k8s.pod.name': 'web-1' } }, [sent('source', value)]);
    fleet.push(seconds, { resource: { 'k8s.pod.name': 'reviews-1' } }, [sent('destination', value)]);
  }
  assert.deepEqual(fleet.sums().sort(), ['down[] 4/4', 'up[] 4/4']);
});

test('response flags say why, and that the proxy answered itself (gotcha 49)', () => {
  const of = (response_flags: string, response_code = '503') => {
    const attributes = translate(seriesOf('istio_requests_total', { ...REQUEST, response_code, response_flags }))
      .series[0]?.attributes;
    return [attributes?.get('error.type'), attributes?.get('lb.response.source'), attributes?.get('lb.response.class')];
  };
  assert.deepEqual(of('-'), [undefined, 'upstream', '5xx']);
  assert.deepEqual(of('UH'), ['no_healthy_upstream', 'proxy', '5xx']);
  assert.deepEqual(of('UF,URX'), ['connect_failure', 'proxy', '5xx']);
  assert.deepEqual(of('UO'), ['circuit_open', 'proxy', '5xx']);
  assert.deepEqual(of('UT', '504'), ['timeout', 'proxy', '5xx']);
  assert.deepEqual(of('DC', '0'), ['downstream_reset', 'proxy', 'none']);
});

test('for gRPC its own status decides', () => {
  const grpc = { ...REQUEST, request_protocol: 'grpc', grpc_response_status: '14' };
  const [series] = translate(seriesOf('istio_requests_total', grpc)).series;
  assert.equal(series?.attributes.get('lb.response.class'), '5xx');
  assert.equal(series?.attributes.get('lb.grpc.status'), 'UNAVAILABLE');
  const [none] = translate(seriesOf('istio_requests_total', { ...grpc, grpc_response_status: '' })).series;
  assert.equal(none?.attributes.get('lb.response.class'), '2xx');
});

test('durations are milliseconds of whole requests; no stage is told (gotcha 20)', () => {
  const duration = (reporter: string, unit = '') =>
    histogramOf('istio_request_duration_milliseconds', { ...REQUEST, reporter }, { unit });
  assert.equal(timeOf(duration('destination', 's')), 'http.server.request.duration buckets x 0.001 exact');
  assert.equal(timeOf(duration('source')), 'http.client.request.duration buckets x 0.001 exact');
  const fleet = createFleet();
  const point = { count: '1', sum: 3, explicitBounds: [5], bucketCounts: ['1', '0'] };
  fleet.push(0, { resource: { 'k8s.pod.name': 'web-1' } }, [
    { name: 'istio_request_duration_milliseconds', kind: 'histogram', attributes: REQUEST, point },
  ]);
  const [state] = fleet.aggregate.balancers(at(0));
  assert.deepEqual(new Set(Object.values(state?.stages ?? {})), new Set(['absent']));
});

test('TCP connections; the control plane is left out, bytes and builds are ignored', () => {
  const tcp = { ...REQUEST, request_protocol: 'tcp' };
  assert.deepEqual(read(seriesOf('istio_tcp_connections_opened_total', tcp)), [`lb.connections.opened{${UP}}`]);
  assert.ok(isIgnored(seriesOf('istio_tcp_connections_closed_total', tcp)));
  const control = { ...REQUEST, destination_service: 'istiod.istio-system.svc.cluster.local' };
  assert.ok(isLeftOut(seriesOf('istio_requests_total', control)));
  const unknown = { ...REQUEST, destination_service: 'unknown', destination_service_name: 'PassthroughCluster' };
  const [series] = translate(seriesOf('istio_requests_total', unknown)).series;
  assert.equal(series?.attributes.get('lb.upstream.cluster'), 'PassthroughCluster');
});
