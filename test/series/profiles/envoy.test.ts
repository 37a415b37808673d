import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeriesDescription } from '../../../src/series/binding.ts';
import { ignoringClusters, translate } from '../../../src/series/profiles/registry.ts';
import { gaugeOf, histogramOf, seriesOf } from '../describe.ts';

const SDK = {
  'telemetry.sdk.language': 'cpp',
  'telemetry.sdk.name': 'envoy',
  'telemetry.sdk.version': '1a2b3c/1.37.2/Clean/RELEASE/BoringSSL',
};
const CHECKOUT = { 'envoy.cluster_name': 'checkout' };
const LISTENER = { 'envoy.listener_address': '0.0.0.0_8443' };

/** `metric{attributes}` without what every series of an Envoy carries, with the weight where it is not 1. */
function read(description: SeriesDescription): string[] {
  const common = ['service.instance.id', 'lb.flavor'];
  return translate(description).series.map(({ metric, attributes, weight }) => {
    const pairs = [...attributes].filter(([name]) => !common.includes(name)).map(([name, value]) => `${name}=${value}`);
    return `${weight === 1 ? '' : `${weight} x `}${metric}{${pairs.join(',')}}`;
  });
}

const isLeftOut = (description: SeriesDescription): boolean => {
  const { understood, series } = translate(description);
  return understood && series.length === 0;
};

test('the default shape: responses by class of a cluster, under an empty scope', () => {
  const shape = { resource: SDK };
  const series = seriesOf('cluster.upstream_rq_xx', { 'envoy.response_code_class': '5', ...CHECKOUT }, shape);
  assert.deepEqual(read(series), ['lb.requests{lb.response.class=5xx,lb.side=upstream,lb.upstream.cluster=checkout}']);
  assert.equal(translate(series).flavor, 'envoy');
});

test('an Envoy up to 1.35 sends no resource and is known by its names', () => {
  const series = seriesOf('http.downstream_rq_xx', {
    'envoy.response_code_class': '2',
    'envoy.http_conn_manager_prefix': 'ingress',
  });
  assert.deepEqual(read(series), ['lb.requests{lb.listener=ingress,lb.response.class=2xx,lb.side=downstream}']);
  assert.equal(translate(series).flavor, 'envoy');
});

test('durations are histograms in milliseconds', () => {
  const of = (name: string, attributes: Record<string, string>) => translate(histogramOf(name, attributes)).series;
  const [backend] = of('cluster.upstream_rq_time', CHECKOUT);
  assert.deepEqual(
    [backend?.metric, backend?.takes, backend?.toSeconds, backend?.fidelity],
    ['lb.stage.backend.duration', 'buckets', 0.001, 'includes_queue_and_retries'],
  );
  const [connect] = of('cluster.upstream_cx_connect_ms', CHECKOUT);
  assert.deepEqual([connect?.metric, connect?.fidelity], ['lb.stage.connect.duration', 'includes_tls']);
  const [request] = of('http.downstream_rq_time', { 'envoy.http_conn_manager_prefix': 'ingress' });
  assert.deepEqual([request?.metric, request?.toSeconds], ['http.server.request.duration', 0.001]);
});

test('both flags off and a prefix: everything is in the name', () => {
  assert.deepEqual(read(seriesOf('edge.cluster.checkout.upstream_rq_5xx')), [
    'lb.requests{lb.response.class=5xx,lb.side=upstream,lb.upstream.cluster=checkout}',
  ]);
  assert.deepEqual(read(seriesOf('edge.http.ingress.downstream_rq_2xx')), [
    'lb.requests{lb.listener=ingress,lb.response.class=2xx,lb.side=downstream}',
  ]);
  assert.deepEqual(read(seriesOf('edge.listener.0.0.0.0_8443.ssl.handshake')), [
    'lb.tls.handshakes{lb.listener=0.0.0.0_8443,lb.side=downstream,tls.resumed=false}',
  ]);
  assert.ok(isLeftOut(seriesOf('edge.cluster.checkout.upstream_rq_503')), 'codes repeat the classes');
});

test('a prefix before extracted names changes nothing', () => {
  assert.deepEqual(
    read(seriesOf('edge.prod.cluster.upstream_rq_xx', { 'envoy.response_code_class': '5', ...CHECKOUT })),
    ['lb.requests{lb.response.class=5xx,lb.side=upstream,lb.upstream.cluster=checkout}'],
  );
});

test('a cluster name with dots is put together again from the tag and what extraction left in the name', () => {
  const attributes = { 'envoy.response_code_class': '5', 'envoy.cluster_name': 'a' };
  const [half] = translate(seriesOf('cluster.b.c.upstream_rq_xx', attributes)).series;
  assert.equal(half?.attributes.get('lb.upstream.cluster'), 'a.b.c');
  const [whole] = translate(seriesOf('cluster.a.b.c.upstream_rq_5xx')).series;
  assert.equal(whole?.attributes.get('lb.upstream.cluster'), 'a.b.c');
  const ejections = gaugeOf('cluster.b.outlier_detection.ejections_active', { 'envoy.cluster_name': 'a' });
  assert.equal(translate(ejections).series[0]?.attributes.get('lb.upstream.cluster'), 'a.b');
});

test('one response is counted once: its code, its totals, its locality and its zone are not counted again', () => {
  const classed = { 'envoy.response_code_class': '5', ...CHECKOUT };
  for (const name of [
    'cluster.external.upstream_rq_xx',
    'cluster.internal.upstream_rq_xx',
    'cluster.canary.upstream_rq_xx',
    'cluster.retry.upstream_rq_xx',
    'cluster.zone.z1.z2.upstream_rq_xx',
    'cluster.zone.upstream_rq_xx',
    'cluster.b.external.upstream_rq_xx',
    'cluster.upstream_rq_completed',
    'cluster.upstream_rq_total',
    'cluster.zone.z1.z2.upstream_rq_completed',
    'http.downstream_rq_total',
    'http.downstream_rq_completed',
    'listener.http.downstream_rq_xx',
    'listener.http.downstream_rq_completed',
    'cluster.endpoint.rq_total',
  ]) {
    assert.ok(isLeftOut(seriesOf(name, classed)), name);
  }
  assert.ok(isLeftOut(seriesOf('cluster.upstream_rq', { 'envoy.response_code': '503', ...CHECKOUT })));
  assert.ok(isLeftOut(seriesOf('cluster.external.upstream_rq', { 'envoy.response_code': '503', ...CHECKOUT })));
  for (const name of ['cluster.checkout.external.upstream_rq_5xx', 'cluster.checkout.zone.a.b.upstream_rq_5xx']) {
    assert.ok(isLeftOut(seriesOf(name)), name);
  }
  assert.ok(!translate(seriesOf('vhost.vcluster.upstream_rq_xx', classed)).understood);
});

test('retries are counted by attempt, and the responses that were retried are not requests', () => {
  assert.deepEqual(read(seriesOf('cluster.upstream_rq_retry', CHECKOUT)), [
    'lb.retries{lb.retry.outcome=attempt,lb.side=upstream,lb.upstream.cluster=checkout}',
  ]);
  assert.deepEqual(read(seriesOf('cluster.upstream_rq_retry_overflow', CHECKOUT)), [
    'lb.retries{lb.retry.outcome=overflow,lb.side=upstream,lb.upstream.cluster=checkout}',
  ]);
  assert.ok(isLeftOut(seriesOf('cluster.retry.upstream_rq_xx', { 'envoy.response_code_class': '5', ...CHECKOUT })));
});

test('the own telemetry and control-plane clusters are left out, by a list that can be given', () => {
  for (const cluster of [
    'slo_ingest',
    'slowburn',
    'slowburn-otlp',
    'xds-grpc',
    'xds_cluster',
    'sds-grpc',
    'otlp_metrics',
    'opentelemetry_collector',
    'prometheus_stats',
    'admin',
  ]) {
    const series = seriesOf('cluster.upstream_rq_xx', {
      'envoy.response_code_class': '2',
      'envoy.cluster_name': cluster,
    });
    assert.ok(isLeftOut(series), cluster);
    assert.ok(isLeftOut(gaugeOf('cluster.membership_healthy', { 'envoy.cluster_name': cluster })), cluster);
  }
  for (const cluster of ['administration', 'checkout-xds', 'my_admin']) {
    const series = seriesOf('cluster.upstream_rq_xx', {
      'envoy.response_code_class': '2',
      'envoy.cluster_name': cluster,
    });
    assert.equal(translate(series).series.length, 1, cluster);
  }
  const own = seriesOf('cluster.upstream_rq_5xx', { 'envoy.cluster_name': 'mesh-control' });
  assert.equal(translate(own).series.length, 1);
  assert.equal(translate(own, ignoringClusters(['mesh-.*'])).series.length, 0);
});

test('listeners for operators and health checks are left out', () => {
  assert.ok(isLeftOut(seriesOf('listener.admin.downstream_cx_total')));
  for (const prefix of ['admin', 'health_check', 'healthz', 'stats']) {
    const attributes = { 'envoy.response_code_class': '2', 'envoy.http_conn_manager_prefix': prefix };
    assert.ok(isLeftOut(seriesOf('http.downstream_rq_xx', attributes)), prefix);
  }
  assert.ok(!translate(seriesOf('cluster.health_check.attempt', CHECKOUT)).understood);
});

test('handshakes include resumed ones, which move from full to resumed', () => {
  assert.deepEqual(read(seriesOf('listener.ssl.handshake', LISTENER)), [
    'lb.tls.handshakes{lb.listener=0.0.0.0_8443,lb.side=downstream,tls.resumed=false}',
  ]);
  assert.deepEqual(read(seriesOf('listener.ssl.session_reused', LISTENER)), [
    '-1 x lb.tls.handshakes{lb.listener=0.0.0.0_8443,lb.side=downstream,tls.resumed=false}',
    'lb.tls.handshakes{lb.listener=0.0.0.0_8443,lb.side=downstream,tls.resumed=true}',
  ]);
});

test('failed handshakes say so', () => {
  for (const stat of [
    'connection_error',
    'fail_verify_error',
    'fail_verify_no_cert',
    'fail_verify_san',
    'fail_verify_cert_hash',
  ]) {
    assert.deepEqual(read(seriesOf(`listener.ssl.${stat}`, LISTENER)), [
      'lb.tls.handshakes{error.type=tls_failure,lb.listener=0.0.0.0_8443,lb.side=downstream}',
    ]);
  }
  assert.deepEqual(read(seriesOf('listener.downstream_cx_transport_socket_connect_timeout', LISTENER)), [
    'lb.tls.handshakes{error.type=timeout,lb.listener=0.0.0.0_8443,lb.side=downstream}',
  ]);
});

test('hosts in exclusive states: unhealthy is what is left of the total', () => {
  const of = (stat: string) => read(gaugeOf(`cluster.membership_${stat}`, CHECKOUT));
  const hosts = (state: string) =>
    `lb.upstream.hosts{lb.host.state=${state},lb.side=upstream,lb.upstream.cluster=checkout}`;
  assert.deepEqual(of('total'), [hosts('unhealthy')]);
  assert.deepEqual(of('healthy'), [hosts('healthy'), `-1 x ${hosts('unhealthy')}`]);
  assert.deepEqual(of('degraded'), [hosts('degraded'), `-1 x ${hosts('unhealthy')}`]);
  assert.deepEqual(of('excluded'), [hosts('excluded'), `-1 x ${hosts('unhealthy')}`]);
});

test('ejections add up to the enforced total, whatever their reasons', () => {
  const total = new Map<string, number>();
  const add = (name: string, amount: number): void => {
    for (const { metric, attributes, weight } of translate(seriesOf(`cluster.outlier_detection.${name}`, CHECKOUT))
      .series) {
      const key = `${metric}/${attributes.get('lb.ejection.reason')}/${attributes.get('lb.ejection.enforced')}`;
      total.set(key, (total.get(key) ?? 0) + weight * amount);
    }
  };
  add('ejections_enforced_total', 9);
  add('ejections_enforced_consecutive_5xx', 5);
  add('ejections_enforced_success_rate', 3);
  add('ejections_overflow', 2);
  assert.deepEqual(
    [...total],
    [
      ['lb.upstream.ejections/undefined/true', 1],
      ['lb.upstream.ejections/consecutive_5xx/true', 5],
      ['lb.upstream.ejections/success_rate/true', 3],
      ['lb.upstream.ejections/overflow/false', 2],
    ],
  );
  for (const name of ['ejections_total', 'ejections_consecutive_5xx', 'ejections_detected_consecutive_5xx']) {
    assert.ok(isLeftOut(seriesOf(`cluster.outlier_detection.${name}`, CHECKOUT)), name);
  }
});

test('the health of an endpoint is told beside the pool', () => {
  const endpoint = { ...CHECKOUT, 'envoy.endpoint_address': '10.0.0.1:80' };
  const [healthy] = read(gaugeOf('cluster.endpoint.healthy', endpoint));
  assert.match(healthy ?? '', /^lb\.upstream\.host\.healthy\{.*lb\.upstream\.host\.name=10\.0\.0\.1:80/);
});

test('panic, no healthy host, overflow and circuit breakers', () => {
  const common = 'lb.side=upstream,lb.upstream.cluster=checkout';
  assert.deepEqual(read(seriesOf('cluster.lb_healthy_panic', CHECKOUT)), [`lb.upstream.panic.requests{${common}}`]);
  assert.deepEqual(read(seriesOf('cluster.upstream_cx_none_healthy', CHECKOUT)), [
    `lb.upstream.no_healthy.requests{${common}}`,
  ]);
  assert.deepEqual(read(seriesOf('cluster.upstream_rq_pending_overflow', CHECKOUT)), [
    `lb.rejections{lb.rejection.reason=circuit_open,${common}}`,
  ]);
  assert.deepEqual(read(gaugeOf('cluster.circuit_breakers.high.rq_open', CHECKOUT)), [
    `lb.upstream.circuit.open{lb.circuit.resource=requests,lb.priority=high,${common}}`,
  ]);
});

test('what rate limits and admission control reject', () => {
  const cluster = 'lb.side=upstream,lb.upstream.cluster=checkout';
  const read1 = (name: string, tags: Record<string, string>): readonly string[] =>
    read(seriesOf(name, tags)).map((one) => one.replace(/,?lb\.flavor=envoy/, ''));
  assert.deepEqual(read1('cluster.ratelimit.over_limit', CHECKOUT), [
    `lb.rejections{lb.rejection.reason=rate_limited,${cluster}}`,
  ]);
  assert.deepEqual(read1('edge.http_local_rate_limit.enforced', {}), [
    'lb.rejections{lb.rejection.reason=rate_limited,lb.side=downstream}',
  ]);
  assert.deepEqual(read1('http.admission_control.rq_rejected', { 'envoy.http_conn_manager_prefix': 'edge' }), [
    'lb.rejections{lb.listener=edge,lb.rejection.reason=admission,lb.side=downstream}',
  ]);
});

test('clusters that hash are told by their tables', () => {
  const common = 'lb.side=upstream,lb.upstream.cluster=checkout';
  for (const name of ['cluster.ring_hash_lb.max_hashes_per_host', 'cluster.maglev_lb.max_entries_per_host']) {
    assert.deepEqual(read(gaugeOf(name, CHECKOUT)), [`lb.upstream.hash.entries.max{${common}}`]);
  }
});

test('hosts are counted beside their cluster, never added to it', () => {
  const endpoint = { ...CHECKOUT, 'envoy.endpoint_address': '10.1.2.3:8080' };
  const place = 'lb.side=upstream,lb.upstream.cluster=checkout,lb.upstream.host.name=10.1.2.3:8080';
  assert.deepEqual(read(seriesOf('cluster.endpoint.rq_success', endpoint)), [`lb.upstream.host.requests{${place}}`]);
  assert.deepEqual(read(seriesOf('cluster.endpoint.rq_error', endpoint)), [
    `lb.upstream.host.requests{lb.response.class=5xx,${place}}`,
  ]);
});

test('the type decides, not the name: a level is no counter', () => {
  const attributes = { 'envoy.response_code_class': '5', ...CHECKOUT };
  assert.equal(translate(gaugeOf('cluster.upstream_rq_xx', attributes)).understood, false);
  assert.equal(translate(seriesOf('cluster.membership_healthy', CHECKOUT)).understood, false);
  assert.equal(translate(seriesOf('cluster.upstream_rq_time', CHECKOUT)).understood, false);
});

test('responses without their class are neither good nor bad', () => {
  assert.equal(translate(seriesOf('cluster.upstream_rq_xx', CHECKOUT)).understood, false);
  assert.equal(translate(seriesOf('cluster.upstream_rq_xx')).understood, false);
});

test("Istio's tags have no prefix and its classes are written out", () => {
  const series = seriesOf('cluster.upstream_rq_xx', { cluster_name: 'outbound|80||svc', response_code_class: '5xx' });
  assert.deepEqual(read(series), [
    'lb.requests{lb.response.class=5xx,lb.side=upstream,lb.upstream.cluster=outbound|80||svc}',
  ]);
});

test('what a collector scraped has underscores in names and tags', () => {
  const scope = 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver';
  const tags = { envoy_response_code_class: '5', envoy_cluster_name: 'checkout' };
  const expected = ['lb.requests{lb.response.class=5xx,lb.side=upstream,lb.upstream.cluster=checkout}'];
  assert.deepEqual(read(seriesOf('envoy_cluster_upstream_rq_xx', tags, { scope })), expected);
  assert.deepEqual(read(seriesOf('envoy_cluster_upstream_rq_xx_total', tags, { scope })), expected);
  const time = translate(
    histogramOf('envoy_cluster_upstream_rq_time_milliseconds', { envoy_cluster_name: 'c' }, { scope }),
  );
  assert.equal(time.series[0]?.toSeconds, 0.001);
  assert.equal(translate(seriesOf('envoy_cluster_external_upstream_rq_xx', tags, { scope })).series.length, 0);
});

test("other senders' names are not Envoy's, even where they look alike", () => {
  const scope = 'my.app';
  assert.equal(translate(seriesOf('cluster.upstream_rq_5xx', { cluster_name: 'c' }, { scope })).understood, false);
  assert.equal(translate(seriesOf('cluster.size')).understood, false);
  assert.equal(translate(seriesOf('server.live', {}, { resource: SDK })).understood, false);
});

test('zones of the balancer and of the host are told apart', () => {
  const resource = { ...SDK, 'cloud.availability_zone': 'z1', 'cloud.region': 'r1', 'service.name': 'edge' };
  const attributes = { 'envoy.response_code_class': '2', ...CHECKOUT, to_zone: 'z2' };
  const [series] = translate(seriesOf('cluster.upstream_rq_xx', attributes, { resource })).series;
  assert.equal(series?.attributes.get('cloud.availability_zone'), 'z1');
  assert.equal(series?.attributes.get('lb.upstream.zone'), 'z2');
  assert.equal(series?.attributes.get('cloud.region'), 'r1');
  assert.equal(series?.attributes.get('service.name'), 'edge');
  assert.equal(series?.attributes.get('service.instance.id'), 'lb-1');
});
