import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { latency, sloOf } from '../../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from '../describe.ts';
import { createFleet, isIgnored, isLeftOut, type Metric, read, timeOf } from './harness.ts';

const BRIDGE = 'go.opentelemetry.io/contrib/bridges/prometheus';
const OTLP = { scope: BRIDGE, resource: { 'service.instance.id': 'edge-1', 'webengine.name': 'Caddy' } };
const DURATION = 'caddy_http_request_duration_seconds';
const SITE = { server: 'srv0', handler: 'subroute', method: 'GET', code: '503' };

test("a site's durations tell its clients' requests, errors and time", () => {
  const place =
    '{http.request.method=GET,http.response.status_code=503,lb.listener=srv0,lb.response.class=5xx,lb.side=downstream}';
  assert.deepEqual(read(histogramOf(DURATION, SITE, OTLP)), [
    `buckets of http.server.request.duration${place}`,
    `count of lb.requests${place}`,
  ]);
  assert.equal(timeOf(histogramOf(DURATION, SITE, OTLP)), 'http.server.request.duration buckets x 1 exact');
  assert.equal(translate(histogramOf(DURATION, SITE, OTLP)).flavor, 'caddy');
});

test('a request that passes several routes of a server is counted once', () => {
  const point = { count: '6', sum: 0.6, explicitBounds: [0.25], bucketCounts: ['5', '1'] };
  const routes = ['encode', 'subroute'];
  const metrics: Metric[] = [
    ...routes.map(
      (handler): Metric => ({ name: DURATION, kind: 'histogram', attributes: { ...SITE, handler }, point }),
    ),
    ...routes.map(
      (handler): Metric => ({ name: 'caddy_http_requests_total', attributes: { server: 'srv0', handler }, value: 6 }),
    ),
  ];
  const fleet = createFleet(sloOf('down'), sloOf('slow', { indicator: latency(0.25, 'http.server.request.duration') }));
  const nothing = { count: '0', sum: 0, explicitBounds: [0.25], bucketCounts: ['0', '0'] };
  const before = metrics.map((metric) =>
    metric.kind === undefined ? { ...metric, value: 0 } : { ...metric, point: nothing },
  );
  fleet.push(10, OTLP, before);
  fleet.push(20, OTLP, metrics);
  assert.deepEqual(fleet.sums().sort(), ['down[] 6/6', 'slow[] 1/6']);
});

test('what would count twice is listed as ignored, what is told elsewhere is left out', () => {
  assert.ok(isIgnored(histogramOf(DURATION, { ...SITE, handler: 'reverse_proxy' }, OTLP)));
  assert.ok(isLeftOut(seriesOf('caddy_http_requests_total', { server: 'srv0', handler: 'subroute' }, OTLP)));
  assert.ok(isLeftOut(histogramOf(DURATION, { ...SITE, server: 'metrics' }, OTLP)));
  assert.ok(isIgnored(histogramOf('caddy_http_response_duration_seconds', SITE, OTLP)));
});

test('hosts are healthy or not', () => {
  assert.deepEqual(read(gaugeOf('caddy_reverse_proxy_upstreams_healthy', { upstream: '10.0.0.5:80' }, OTLP)), [
    'lb.upstream.hosts{lb.host.state=healthy,lb.side=upstream,lb.upstream.host.name=10.0.0.5:80}',
    'complement of lb.upstream.hosts{lb.host.state=unhealthy,lb.side=upstream,lb.upstream.host.name=10.0.0.5:80}',
  ]);
});
