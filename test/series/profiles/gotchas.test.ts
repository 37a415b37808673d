import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { at, errorsOf, latency, sloOf } from '../../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from '../describe.ts';
import { createFleet, type Fleet, isIgnored, type Metric, type Sender } from './harness.ts';

/**
 * What real balancers do to whoever takes them at their word, numbered as in the notes on them that this project was
 * begun with. Those of one balancer's vocabulary stand in the tests of its profile.
 */

const ENVOY: Sender = { resource: { 'service.instance.id': 'envoy-1' } };
const TRAEFIK: Sender = { scope: 'github.com/traefik/traefik', resource: { 'host.name': 'edge-1' } };
const nanos = (seconds: number): string => `${at(seconds)}000000`;

const classed = (digit: string) => ({ 'envoy.response_code_class': digit, 'envoy.cluster_name': 'checkout' });
const responses = (digit: string, value: number, point: Readonly<Record<string, unknown>> = {}): Metric => ({
  name: 'cluster.upstream_rq_xx',
  attributes: classed(digit),
  point: { asInt: String(value), ...point },
});
const live: Metric = { name: 'server.live', kind: 'gauge', value: 1 };

const upstream = (): Fleet => createFleet(sloOf('up', { indicator: errorsOf('upstream') }));
const rqTime = (bounds: readonly number[], counts: readonly number[]): Metric => ({
  name: 'cluster.upstream_rq_time',
  kind: 'histogram',
  attributes: { 'envoy.cluster_name': 'checkout' },
  point: {
    count: String(counts.reduce((sum, count) => sum + count, 0)),
    sum: 1,
    explicitBounds: bounds,
    bucketCounts: counts.map(String),
  },
});
const backend = (threshold: number): Fleet =>
  createFleet(sloOf('slow', { indicator: latency(threshold, 'lb.stage.backend.duration') }));

test('gotcha 1: Envoys without identity are told apart by header or address, and refused where neither tells', () => {
  const apart = upstream();
  apart.push(0, { peer: '10.0.0.1' }, [live]);
  apart.push(0, { peer: '10.0.0.2' }, [live]);
  apart.push(0, { peer: '10.0.0.2', identityHeader: 'lb-3' }, [live]);
  assert.deepEqual(
    apart.aggregate.balancers(at(0)).map(({ id }) => id),
    ['10.0.0.1', '10.0.0.2', 'lb-3'],
  );
  const mixed = upstream();
  const from = (start: number, seconds: number, value: number) =>
    mixed.push(seconds, { peer: 'nat' }, [responses('2', value, { startTimeUnixNano: nanos(start) })]);
  from(-500, 0, 1000);
  from(-100, 1, 10);
  const refused = from(-500, 5, 1010);
  assert.equal(refused.rejected, 1);
  assert.match(refused.message, /interleaved_start/);
});

test('gotcha 2: one metric name may come as many metrics of one point each', () => {
  const fleet = upstream();
  fleet.push(0, ENVOY, [live]);
  fleet.push(5, ENVOY, [responses('2', 90), responses('5', 10), { ...responses('2', 7), attributes: classed('3') }]);
  assert.deepEqual(fleet.sums(), ['up[] 10/107']);
});

test('gotcha 3: a start time in microseconds is no start time', () => {
  const fleet = upstream();
  const start = { startTimeUnixNano: '1766999000000000' };
  fleet.push(0, ENVOY, [responses('5', 1000, start)]);
  fleet.push(5, ENVOY, [responses('5', 1017, start)]);
  assert.deepEqual(fleet.sums(), ['up[] 17/17']);
});

test('gotcha 4: a counter born during the incident counts, the history of a new sender does not', () => {
  const fleet = upstream();
  fleet.push(0, ENVOY, [responses('2', 1_000_000)]);
  fleet.push(5, ENVOY, [responses('2', 1_000_050), responses('5', 17)]);
  assert.deepEqual(fleet.sums(), ['up[] 17/67']);
  const unknown = upstream();
  unknown.push(0, ENVOY, [responses('5', 9, { startTimeUnixNano: nanos(0) })]);
  assert.deepEqual(unknown.sums(), ['up[] 0/0'], 'a start equal to the time is an unknown one');
});

test('gotcha 8: of keys that come twice the last one holds', () => {
  const fleet = upstream();
  const pair = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const payload = (seconds: number, asInt: string) => ({
    resourceMetrics: [
      {
        resource: { attributes: [pair('service.instance.id', 'a'), pair('url.scheme', 'x'), pair('url.scheme', 'y')] },
        scopeMetrics: [
          {
            metrics: [
              {
                name: 'cluster.upstream_rq_xx',
                sum: {
                  aggregationTemporality: 2,
                  isMonotonic: true,
                  dataPoints: [
                    {
                      attributes: [
                        pair('envoy.response_code_class', '2'),
                        pair('envoy.cluster_name', 'checkout'),
                        pair('envoy.response_code_class', '5'),
                      ],
                      timeUnixNano: nanos(seconds),
                      asInt,
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  });
  assert.equal(fleet.pushRaw(0, payload(0, '1')).rejected, 0);
  assert.equal(fleet.pushRaw(5, payload(5, '4')).rejected, 0);
  assert.deepEqual(fleet.sums(), ['up[] 3/3']);
});

test('gotcha 12: a name in _total makes no counter, and a counter declared a gauge is no counter of ours', () => {
  assert.ok(isIgnored(gaugeOf('kong_nginx_connections_total', { state: 'active' })));
  assert.ok(isIgnored(gaugeOf('apisix_http_requests_total')));
  assert.ok(isIgnored(gaugeOf('haproxy_backend_http_responses_total', { proxy: 'web', code: '5xx' })));
});

test('gotcha 15: summaries cannot be merged and are refused by name', () => {
  const fleet = upstream();
  const dataPoints = [
    { timeUnixNano: nanos(0), count: '812', sum: 44.1, quantileValues: [{ quantile: 1, value: 2.3 }] },
  ];
  const name = 'amazonaws.com/AWS/ApplicationELB/TargetResponseTime';
  const outcome = fleet.pushRaw(0, {
    resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name, summary: { dataPoints } }] }] }],
  });
  assert.equal(outcome.rejected, 1);
  assert.match(outcome.message, /summary_not_supported \(amazonaws/);
});

test('gotcha 16: a hash of 64 bits as a gauge is accepted and taken for no number', () => {
  const fleet = upstream();
  const version: Metric = {
    name: 'cluster_manager.cds.version',
    kind: 'gauge',
    point: { asInt: '-8608480567731124088' },
  };
  assert.equal(fleet.push(0, ENVOY, [version]).rejected, 0);
  assert.deepEqual(fleet.aggregate.balancers(at(0))[0]?.metricsIgnored, ['cluster_manager.cds.version']);
});

test('gotcha 17: counters come as integers or as doubles', () => {
  for (const field of ['asInt', 'asDouble']) {
    const fleet = upstream();
    const sent = (value: number): Metric => ({
      ...responses('5', 0),
      point: { [field]: field === 'asInt' ? String(value) : value },
    });
    fleet.push(0, ENVOY, [sent(41)]);
    fleet.push(5, ENVOY, [sent(48)]);
    assert.deepEqual(fleet.sums(), ['up[] 7/7'], field);
  }
});

test('gotcha 20: milliseconds and seconds meet at one threshold', () => {
  const fleet = createFleet(sloOf('slow', { indicator: latency(0.25) }));
  const point = (bounds: readonly number[], counts: readonly number[]) => rqTime(bounds, counts).point ?? {};
  const sent = (name: string, attributes: Record<string, string>, bounds: number[], counts: number[]): Metric => ({
    name,
    kind: 'histogram',
    attributes,
    point: point(bounds, counts),
  });
  const istio = { reporter: 'destination', destination_service: 'a', response_code: '200' };
  const ingress = 'nginx_ingress_controller_request_duration_seconds';
  fleet.push(0, ENVOY, [live]);
  fleet.push(0, TRAEFIK, [live]);
  fleet.push(5, ENVOY, [
    sent('http.downstream_rq_time', { 'envoy.http_conn_manager_prefix': 'i' }, [250, 500], [3, 1, 0]),
  ]);
  fleet.push(5, TRAEFIK, [
    sent('traefik_entrypoint_request_duration_seconds', { entrypoint: 'web' }, [0.25, 0.5], [3, 1, 0]),
    sent('istio_request_duration_milliseconds', istio, [250, 500], [3, 1, 0]),
    sent('grpc.server.call.duration', { 'grpc.status': 'OK' }, [0.25, 0.3], [3, 1, 0]),
    sent(ingress, { status: '200' }, [0.25, 0.5], [3, 1, 0]),
  ]);
  assert.deepEqual(fleet.sums(), ['slow[] 5/20']);
});

test('gotcha 22: a delta series without points is 0 so far, and any point keeps its balancer alive', () => {
  const fleet = upstream();
  for (let seconds = 0; seconds <= 600; seconds += 10) {
    const busy = seconds < 60 || seconds > 540;
    fleet.push(seconds, ENVOY, busy ? [live, { ...responses('5', 2), delta: true }] : [live]);
  }
  assert.deepEqual(fleet.sums(), ['up[] 24/24']);
  assert.equal(fleet.aggregate.balancers(at(600))[0]?.stale, false);
});

test('gotcha 23: a gauge that is no longer sent expires while its balancer goes on', () => {
  const fleet = upstream();
  const healthy: Metric = {
    name: 'cluster.membership_healthy',
    kind: 'gauge',
    attributes: { 'envoy.cluster_name': 'checkout' },
    value: 3,
  };
  const states = (seconds: number) =>
    fleet.gauges('cluster.hosts', seconds).filter((text) => text.includes('healthy: 3'));
  for (let seconds = 0; seconds <= 120; seconds += 10)
    fleet.push(seconds, ENVOY, seconds <= 30 ? [live, healthy] : [live]);
  assert.equal(states(30).length, 1);
  assert.deepEqual(states(120), []);
});

test('gotcha 24: a flush that comes in several requests is one flush', () => {
  const fleet = upstream();
  fleet.push(0, ENVOY, [responses('2', 100)]);
  fleet.push(5, ENVOY, [responses('2', 150)]);
  fleet.push(5, ENVOY, [responses('5', 7), live]);
  assert.deepEqual(
    fleet.sums(),
    ['up[] 7/57'],
    'the counter that is new in the second request counts from the last flush',
  );
});

test('gotcha 25: a lost export of cumulative counters lengthens the interval and loses nothing', () => {
  const fleet = upstream();
  fleet.push(0, ENVOY, [responses('5', 10)]);
  fleet.push(30, ENVOY, [responses('5', 40)]);
  assert.deepEqual(fleet.sums(), ['up[] 30/30']);
  const [group] = fleet.aggregate.groups();
  assert.deepEqual(
    [0, 10, 20].map((from) => group?.range(at(from), at(from + 10)).bad),
    [10, 10, 10],
    'spread over what it covers',
  );
});

test('gotcha 26: a value that drops is a restart and counts whole', () => {
  const fleet = upstream();
  fleet.push(0, ENVOY, [responses('5', 1000)]);
  fleet.push(5, ENVOY, [responses('5', 3)]);
  assert.deepEqual(fleet.sums(), ['up[] 3/3']);
  assert.equal(fleet.ingest.counters().get('reset'), 1);
});

test('gotcha 30: what Envoy was told to rename to our names is taken as it stands', () => {
  const renamed = seriesOf('lb.requests', { 'lb.response.class': '5', 'lb.side': 'downstream', 'lb.listener': 'edge' });
  const [series] = translate(renamed).series;
  assert.deepEqual([series?.metric, series?.attributes.get('lb.response.class')], ['lb.requests', '5xx']);
});

test('gotcha 33: unknown metrics are accepted, counted and listed', () => {
  const fleet = upstream();
  const outcome = fleet.push(0, ENVOY, [live, { name: 'cluster.of.something.new', value: 1 }]);
  assert.deepEqual([outcome.points, outcome.rejected, outcome.message], [2, 0, '']);
  const [state] = fleet.aggregate.balancers(at(0));
  assert.equal(state?.seriesCount, 2);
  assert.deepEqual(state?.metricsIgnored, ['cluster.of.something.new', 'server.live']);
});

test('gotcha 34: what clients and certificates write is on no series', () => {
  const istio = { reporter: 'source', destination_service: 'a', response_code: '200', source_workload: 'w' };
  const sent = [
    histogramOf('http.server.request.duration', { 'server.address': 'evil.example' }, { scope: 'any' }),
    seriesOf('nginx_ingress_controller_requests', { path: '/1', host: 'evil.example', status: '200' }),
    seriesOf('istio_requests_total', istio),
    gaugeOf('traefik_tls_certs_not_after', { cn: 'a', sans: 'a,b,c', serial: '1' }),
  ];
  for (const description of sent) {
    for (const { attributes } of translate(description).series) {
      for (const name of ['server.address', 'path', 'host', 'source_workload', 'sans']) {
        assert.equal(attributes.has(name), false, `${description.name} ${name}`);
      }
      assert.ok(![...attributes.values()].includes('evil.example'), description.name);
    }
  }
});

test('gotcha 36: a threshold between two bounds counts what lies between them as bad', () => {
  const fleet = backend(0.3);
  fleet.push(0, ENVOY, [live]);
  fleet.push(5, ENVOY, [rqTime([100, 250, 500], [50, 30, 15, 5])]);
  assert.deepEqual(fleet.sums(), ['slow[] 20/100']);
});

test('gotcha 37: bounds are inclusive', () => {
  const fleet = backend(0.25);
  fleet.push(0, ENVOY, [live]);
  fleet.push(5, ENVOY, [rqTime([100, 250, 500], [50, 30, 15, 5])]);
  assert.deepEqual(fleet.sums(), ['slow[] 20/100']);
  const above = backend(0.1);
  above.push(0, ENVOY, [live]);
  above.push(5, ENVOY, [rqTime([100, 250, 500], [50, 30, 15, 5])]);
  assert.deepEqual(above.sums(), ['slow[] 50/100']);
});

test('gotcha 38: the one bucket too few of Envoys before 1.29 is refused, the rest of the request is not', () => {
  const fleet = backend(0.25);
  const outcome = fleet.push(0, ENVOY, [live, rqTime([100, 250, 500], [50, 30, 20])]);
  assert.deepEqual([outcome.points, outcome.rejected], [2, 1]);
  assert.match(outcome.message, /buckets_do_not_fit_bounds \(cluster\.upstream_rq_time\)/);
});

test('gotcha 39: bounds that change begin a new stream', () => {
  const fleet = backend(0.25);
  fleet.push(0, ENVOY, [live]);
  fleet.push(5, ENVOY, [rqTime([100, 250], [9, 0, 1])]);
  fleet.push(10, ENVOY, [rqTime([100, 200, 250], [9, 0, 0, 1])]);
  fleet.push(15, ENVOY, [rqTime([100, 200, 250], [18, 0, 0, 2])]);
  assert.deepEqual(fleet.sums(), ['slow[] 2/20'], 'the point that changed them is a baseline');
  assert.equal(fleet.ingest.counters().get('new_bounds'), 1);
});

test('gotcha 40: one Traefik may send explicit and exponential histograms side by side', () => {
  const fleet = createFleet(
    sloOf('slow', { indicator: latency(0.25, 'lb.stage.backend.duration') }),
    sloOf('slow-hosts', { indicator: latency(0.25, 'http.client.request.duration') }),
  );
  const service = { service: 'checkout@docker', code: '200', protocol: 'http' };
  const explicit = { count: '4', sum: 1, explicitBounds: [0.25, 0.5], bucketCounts: ['3', '1', '0'] };
  const exponential = {
    count: '4',
    sum: 1,
    scale: 0,
    zeroCount: '0',
    positive: { offset: -3, bucketCounts: ['3', '0', '1'] },
  };
  fleet.push(0, TRAEFIK, [live]);
  fleet.push(10, TRAEFIK, [
    { name: 'traefik_service_request_duration_seconds', kind: 'histogram', attributes: service, point: explicit },
    {
      name: 'http.client.request.duration',
      kind: 'exponentialHistogram',
      attributes: { 'http.response.status_code': '200', 'server.address': '10.0.0.5:80' },
      point: exponential,
    },
  ]);
  assert.deepEqual(fleet.sums().sort(), ['slow-hosts[] 1/4', 'slow[] 1/4']);
});

test('gotcha 42: no stage is made of the difference of two histograms', () => {
  const names = ['request_duration_seconds', 'response_duration_seconds', 'header_duration_seconds'];
  const metrics = names.flatMap((name) =>
    translate(histogramOf(`nginx_ingress_controller_${name}`, { status: '200' })).series.map(({ metric }) => metric),
  );
  assert.deepEqual(metrics, ['http.server.request.duration', 'lb.stage.backend.duration']);
});

test('gotcha 43: connects are counted beside the time they take', () => {
  const [opened] = translate(seriesOf('cluster.upstream_cx_total', { 'envoy.cluster_name': 'c' })).series;
  assert.deepEqual([opened?.metric, opened?.attributes.get('lb.side')], ['lb.connections.opened', 'upstream']);
  const [dialled] = translate(seriesOf('grpc.subchannel.connection_attempts_succeeded', { 'grpc.target': 'c' })).series;
  assert.equal(dialled?.metric, 'lb.connections.opened');
});

test('gotcha 48: panic is counted in requests, by no balancer as a state', () => {
  const [panic] = translate(seriesOf('cluster.lb_healthy_panic', { 'envoy.cluster_name': 'c' })).series;
  assert.equal(panic?.metric, 'lb.upstream.panic.requests');
  assert.ok(isIgnored(gaugeOf('cluster.lb_healthy_panic', { 'envoy.cluster_name': 'c' })));
});
