import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { at, errorsOf, sloOf } from '../../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from '../describe.ts';
import { createFleet, isIgnored, isLeftOut, type Metric, read, timeOf } from './harness.ts';

const SDK = { scope: 'grpc-go', resource: { 'service.name': 'web', 'service.instance.id': 'web-1' }, unit: 's' };
const CALL = { 'grpc.method': 'shop.Cart/Add', 'grpc.target': 'xds:///cart', 'grpc.status': 'UNAVAILABLE' };
const XDS = {
  ...CALL,
  'grpc.lb.backend_service': 'cart-backend',
  'grpc.lb.locality': '{region="r1", zone="z1", sub_zone="s"}',
};

test('attempts are requests to the cluster, by status, in the zone of the locality', () => {
  const place =
    'lb.grpc.status=UNAVAILABLE,lb.response.class=5xx,lb.route=shop.Cart/Add,lb.side=upstream,' +
    'lb.upstream.cluster=cart-backend,lb.upstream.zone=z1';
  assert.deepEqual(read(histogramOf('grpc.client.attempt.duration', XDS, SDK)), [
    `count of lb.requests{${place}}`,
    `buckets of http.client.request.duration{${place}}`,
    `buckets of lb.stage.backend.duration{${place}}`,
  ]);
  const [plain] = translate(histogramOf('grpc.client.attempt.duration', CALL, SDK)).series;
  assert.equal(plain?.attributes.get('lb.upstream.cluster'), 'cart', 'without the optional label its target');
  assert.equal(plain?.attributes.has('lb.upstream.zone'), false);
  assert.equal(translate(histogramOf('grpc.client.attempt.duration', CALL, SDK)).flavor, 'grpc');
});

test("servers' calls are what their clients see", () => {
  const call = histogramOf('grpc.server.call.duration', { 'grpc.method': 'a.B/C', 'grpc.status': 'OK' }, SDK);
  const place = 'lb.grpc.status=OK,lb.response.class=2xx,lb.route=a.B/C,lb.side=downstream';
  assert.deepEqual(read(call), [`count of lb.requests{${place}}`, `buckets of http.server.request.duration{${place}}`]);
});

test('only what the server failed at is an error', () => {
  const classOf = (status: string) =>
    translate(
      histogramOf('grpc.client.attempt.duration', { ...CALL, 'grpc.status': status }, SDK),
    ).series[0]?.attributes.get('lb.response.class');
  const server = ['UNKNOWN', 'DEADLINE_EXCEEDED', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'];
  const caller = ['CANCELLED', 'INVALID_ARGUMENT', 'NOT_FOUND', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED'];
  for (const status of server) assert.equal(classOf(status), '5xx', status);
  for (const status of caller) assert.equal(classOf(status), '4xx', status);
  assert.equal(classOf('NO_SUCH_STATUS'), 'none');
});

test('an attempt, its call and what was started are one request', () => {
  const fleet = createFleet(sloOf('up', { indicator: errorsOf('upstream') }));
  const point = { count: '6', sum: 0.6, explicitBounds: [0.3], bucketCounts: ['6', '0'] };
  fleet.push(0, SDK, [{ name: 'my.other', value: 0 }]);
  fleet.push(10, SDK, [
    { name: 'grpc.client.attempt.started', attributes: { 'grpc.method': 'a.B/C' }, value: 7 },
    { name: 'grpc.client.call.duration', kind: 'histogram', attributes: CALL, point },
    { name: 'grpc.client.attempt.duration', kind: 'histogram', attributes: CALL, point },
  ]);
  assert.deepEqual(fleet.sums(), ['up[] 6/6']);
  assert.equal(fleet.aggregate.balancers(at(10))[0]?.stages.backend, 'whole_response');
});

test('retries are the sum of a histogram of how many each call took (gotcha 13, 46)', () => {
  const slo = sloOf('retries', {
    indicator: {
      kind: 'events',
      counts: 'bad',
      part: { metric: 'lb.retries', where: [] },
      total: { metric: 'lb.retries', where: [] },
    },
  });
  const fleet = createFleet(slo);
  const retries = (count: number, sum: number, buckets: number[]): Metric => ({
    name: 'grpc.client.call.retries',
    kind: 'histogram',
    attributes: { 'grpc.target': 'cart' },
    point: { count: String(count), sum, explicitBounds: [1, 2], bucketCounts: buckets.map(String) },
  });
  fleet.push(0, SDK, [{ name: 'my.other', value: 0 }]);
  fleet.push(10, SDK, [retries(3, 5, [1, 2, 0])]);
  fleet.push(20, SDK, [retries(4, 9, [1, 2, 1])]);
  assert.deepEqual(fleet.sums(), ['retries[] 9/9'], '3 calls took 5, one more took 4');
  fleet.push(30, SDK, [retries(1, 2, [0, 1, 0])]);
  assert.deepEqual(fleet.sums(), ['retries[] 11/11'], 'after a restart');
  const exponential = histogramOf('grpc.client.call.retries', {}, { ...SDK, kind: 'exponential_histogram' });
  assert.ok(isIgnored(exponential), 'its sum is not kept');
});

test('handshakes by result and resumption, where the optional label is on (gotcha 45)', () => {
  const of = (result: string, more = {}) =>
    read(seriesOf('grpc.server.tls.handshakes', { 'grpc.tls.handshake.result': result, ...more }, SDK));
  assert.deepEqual(of('SUCCESS', { 'grpc.tls.handshake.resumed': 'RESUMED_HANDSHAKE' }), [
    'lb.tls.handshakes{lb.side=downstream,tls.resumed=true}',
  ]);
  assert.deepEqual(of('SUCCESS', { 'grpc.tls.handshake.resumed': 'FULL_HANDSHAKE' }), [
    'lb.tls.handshakes{lb.side=downstream,tls.resumed=false}',
  ]);
  assert.deepEqual(of('SUCCESS'), ['lb.tls.handshakes{lb.side=downstream}']);
  assert.deepEqual(of('CERTIFICATE_EXPIRED'), ['lb.tls.handshakes{error.type=tls_failure,lb.side=downstream}']);
  assert.deepEqual(of('HANDSHAKE_TIMEOUT'), ['lb.tls.handshakes{error.type=timeout,lb.side=downstream}']);
});

test('ejections by method; refused ones only where the cap refused', () => {
  const prefix = 'grpc.lb.outlier_detection.';
  const of = (name: string, attributes: Record<string, string>) =>
    seriesOf(`${prefix}${name}`, { 'grpc.target': 'cart', ...attributes }, SDK);
  const method = { [`${prefix}detection_method`]: 'success_rate' };
  assert.deepEqual(read(of('ejections_enforced', method)), [
    'lb.upstream.ejections{lb.ejection.enforced=true,lb.ejection.reason=success_rate,lb.side=upstream,' +
      'lb.upstream.cluster=cart}',
  ]);
  const reason = (value: string) => ({ ...method, [`${prefix}unenforced_reason`]: value });
  assert.deepEqual(read(of('ejections_unenforced', reason('max_ejection_overflow'))), [
    'lb.upstream.ejections{lb.ejection.enforced=false,lb.ejection.reason=overflow,lb.side=upstream,' +
      'lb.upstream.cluster=cart}',
  ]);
  assert.ok(isLeftOut(of('ejections_unenforced', reason('enforcement_percentage'))));
});

test('connections; health checks and the control plane are no traffic', () => {
  const target = { 'grpc.target': 'cart' };
  assert.deepEqual(read(seriesOf('grpc.subchannel.open_connections', target, { ...SDK, monotonic: false })), [
    'lb.connections.active{lb.side=upstream,lb.upstream.cluster=cart}',
  ]);
  assert.deepEqual(read(seriesOf('grpc.subchannel.connection_attempts_failed', target, SDK)), [
    'lb.connections.rejected{error.type=connect_failure,lb.side=upstream,lb.upstream.cluster=cart}',
  ]);
  const health = { ...CALL, 'grpc.method': 'grpc.health.v1.Health/Check' };
  assert.ok(isLeftOut(histogramOf('grpc.server.call.duration', health, SDK)));
  assert.ok(isIgnored(gaugeOf('grpc.xds_client.connected', {}, SDK)));
  assert.ok(isIgnored(histogramOf('grpc.lb.wrr.endpoint_weights', target, SDK)));
});

test('durations are seconds', () => {
  assert.equal(timeOf(histogramOf('grpc.server.call.duration', CALL, SDK)), 'lb.requests count x 1 exact');
  const [, , stage] = translate(histogramOf('grpc.client.attempt.duration', CALL, SDK)).series;
  assert.deepEqual([stage?.toSeconds, stage?.fidelity], [1, 'whole_response']);
});
