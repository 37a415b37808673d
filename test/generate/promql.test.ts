import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { literal, quoted, selector, shortOf } from '../../src/generate/promql.ts';
import { prometheusName } from '../../src/model/prometheus-names.ts';

describe('PromQL of the generated rules', () => {
  test('names are those of OpenTelemetry in Prometheus', () => {
    assert.equal(prometheusName('lb.requests', 'total'), 'lb_requests_total');
    assert.equal(prometheusName('lb.stage.backend.duration', 'count'), 'lb_stage_backend_duration_seconds_count');
    const bucket = prometheusName('http.server.request.duration', { atOrBelow: 0.3 });
    assert.equal(bucket, 'http_server_request_duration_seconds_bucket');
  });

  test('each kind of condition is a matcher; what a list holds is meant literally, a pattern as it stands', () => {
    const where = [
      { kind: 'equals', attribute: 'lb.side', value: 'up"stream\\' },
      { kind: 'in', attribute: 'lb.zone', values: ['a.b', 'c|d'] },
      { kind: 'not', attribute: 'lb.route', value: '' },
      { kind: 'matches', attribute: 'error.type', pattern: '.+' },
    ] as const;
    assert.equal(
      selector({ metric: 'lb.requests', where }, 'total'),
      String.raw`lb_requests_total{lb_side="up\"stream\\", lb_zone=~"a\\.b|c\\|d", lb_route!="", error_type=~".+"}`,
    );
  });

  test('a bound is matched as a number', () => {
    const query = { metric: 'lb.stage.backend.duration', where: [] };
    assert.match(selector(query, { atOrBelow: 10 }), /\{le=~"10\(\\\\\.0\)\?"\}$/);
    assert.match(selector(query, { atOrBelow: 0.25 }), /\{le="0\.25"\}$/);
  });

  test('thresholds are literals with exactly the digits that they have', () => {
    const of = (numerator: bigint, denominator: bigint): string => literal({ numerator, denominator });
    assert.equal(of(72n, 5000n), '0.0144');
    assert.equal(of(1n, 1000n), '0.001');
    assert.equal(of(3n, 1n), '3');
    assert.equal(of(1n, 3n), '0.3333333333333333');
  });

  test('ranges are one second short of their window', () => {
    const spans = [120, 300, 3600, 6 * 3600, 86_400, 3 * 86_400].map((seconds) => shortOf(seconds * 1000));
    assert.deepEqual(spans, ['1m59s', '4m59s', '59m59s', '5h59m59s', '23h59m59s', '2d23h59m59s']);
  });

  test('a string stays one', () => {
    assert.equal(quoted('a"b\\c\nd'), String.raw`"a\"b\\c\nd"`);
  });
});
