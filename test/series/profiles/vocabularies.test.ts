import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CANONICAL_METRICS } from '../../../src/model/conventions.ts';
import { ENVOY_ROWS } from '../../../src/series/profiles/envoy-rows.ts';
import { translate } from '../../../src/series/profiles/registry.ts';
import { gaugeOf, histogramOf, seriesOf } from '../describe.ts';

const metricsOf = (description: Parameters<typeof translate>[0]) =>
  translate(description).series.map(({ metric, takes }) => `${metric}/${takes}`);

test('canonical series are taken as they stand', () => {
  const resource = { 'cloud.availability_zone': 'z1', 'lb.fleet': 'edge', 'telemetry.sdk.name': 'opentelemetry' };
  const [series] = translate(
    seriesOf('lb.requests', { 'lb.side': 'upstream', 'lb.route': 'pay' }, { resource }),
  ).series;
  assert.deepEqual(
    [...(series?.attributes ?? [])],
    [
      ['cloud.availability_zone', 'z1'],
      ['lb.fleet', 'edge'],
      ['lb.route', 'pay'],
      ['lb.side', 'upstream'],
      ['service.instance.id', 'lb-1'],
    ],
  );
  assert.deepEqual([series?.takes, series?.weight, series?.toSeconds], ['value', 1, 1]);
});

test('values of any type match as text, and those of a point beat those of its resource', () => {
  const resource = { 'service.name': 'a', 'lb.flavor': 'x' };
  const point = { 'http.response.status_code': 503, 'tls.resumed': true, 'service.name': 'b' };
  const [series] = translate(seriesOf('lb.requests', point, { resource })).series;
  assert.equal(series?.attributes.get('http.response.status_code'), '503');
  assert.equal(series?.attributes.get('tls.resumed'), 'true');
  assert.equal(series?.attributes.get('service.name'), 'b');
  assert.equal(series?.attributes.get('lb.response.class'), '5xx');
});

test("Envoy's class under the canonical name, as a renaming in its configuration gives it, is written out", () => {
  const [digit] = translate(seriesOf('lb.requests', { 'lb.response.class': '5' })).series;
  assert.equal(digit?.attributes.get('lb.response.class'), '5xx');
  const [written] = translate(
    seriesOf('lb.requests', { 'lb.response.class': '5xx', 'http.response.status_code': 200 }),
  ).series;
  assert.equal(written?.attributes.get('lb.response.class'), '5xx');
});

test('a canonical name with another type is not understood', () => {
  assert.equal(translate(gaugeOf('lb.requests')).understood, false);
  assert.equal(translate(seriesOf('lb.requests', {}, { monotonic: false })).understood, false);
  assert.equal(translate(seriesOf('lb.stage.tls.duration')).understood, false);
  assert.equal(translate(seriesOf('lb.upstream.hosts')).understood, false);
  assert.equal(translate(seriesOf('lb.upstream.hosts', {}, { monotonic: false })).understood, true);
  assert.equal(translate(seriesOf('lb.something.new')).understood, false);
});

test('canonical stages keep their unit', () => {
  const [ms] = translate(histogramOf('lb.stage.tls.duration', {}, { unit: 'ms' })).series;
  assert.deepEqual([ms?.takes, ms?.toSeconds], ['buckets', 0.001]);
  const [exponential] = translate(
    histogramOf('lb.stage.tls.duration', {}, { kind: 'exponential_histogram', unit: 's' }),
  ).series;
  assert.deepEqual([exponential?.takes, exponential?.toSeconds], ['buckets', 1]);
});

test('server durations are requests of clients, by class', () => {
  const attributes = { 'http.request.method': 'GET', 'http.response.status_code': 503, 'error.type': '503' };
  const description = histogramOf('http.server.request.duration', attributes, { scope: 'any', unit: 's' });
  assert.deepEqual(metricsOf(description), ['http.server.request.duration/buckets', 'lb.requests/count']);
  const { attributes: own } = translate(description).series[1] ?? {};
  assert.equal(own?.get('lb.side'), 'downstream');
  assert.equal(own?.get('lb.response.class'), '5xx');
  assert.equal(own?.get('error.type'), '503');
});

test('a request without any response has the class none', () => {
  const description = histogramOf('http.server.request.duration', { 'error.type': 'timeout' }, { scope: 'any' });
  assert.equal(translate(description).series[1]?.attributes.get('lb.response.class'), 'none');
});

test("an application's client requests are no stage of a balancer", () => {
  const attributes = { 'server.address': 'pay', 'server.port': 80, 'service.peer.name': 'payments' };
  const description = histogramOf('http.client.request.duration', attributes, { scope: 'my.app' });
  assert.deepEqual(metricsOf(description), ['http.client.request.duration/buckets', 'lb.requests/count']);
  const { attributes: own } = translate(description).series[1] ?? {};
  assert.equal(own?.get('lb.upstream.cluster'), 'payments');
  assert.equal(own?.get('lb.upstream.host.name'), 'pay:80');
});

test('who speaks lb.* counts its requests itself', () => {
  const byPoint = histogramOf('http.server.request.duration', { 'lb.listener': 'edge' }, { scope: 'my.lb' });
  const byResource = histogramOf(
    'http.server.request.duration',
    {},
    { scope: 'my.lb', resource: { 'lb.flavor': 'mine' } },
  );
  for (const description of [byPoint, byResource]) {
    assert.deepEqual(metricsOf(description), ['http.server.request.duration/buckets']);
  }
});

test('health checks are left out', () => {
  const { understood, series } = translate(
    histogramOf('http.server.request.duration', { 'http.route': '/healthz' }, { scope: 'a' }),
  );
  assert.deepEqual([understood, series.length], [true, 0]);
});

test('a sum under the name of a duration is no duration', () => {
  assert.equal(translate(seriesOf('http.server.request.duration', {}, { scope: 'a' })).understood, false);
  assert.equal(translate(histogramOf('http.server.request.duration', {}, { kind: 'summary' })).understood, false);
});

test('every metric that a profile translates to is in the vocabulary', () => {
  const known = new Set(CANONICAL_METRICS.map(({ name }) => name));
  for (const [stat, rows] of ENVOY_ROWS)
    for (const { metric } of rows) assert.ok(known.has(metric), `${stat} -> ${metric}`);
});
