import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sideOf } from '../../src/slo/side.ts';
import type { Condition, MetricQuery, PlainIndicator } from '../../src/slo/slo.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const side = (value: string): Condition => ({ kind: 'equals', attribute: 'lb.side', value });
const query = (metric: string, ...where: readonly Condition[]): MetricQuery => ({ metric, where });
const latency = (metric: string, ...where: readonly Condition[]): PlainIndicator => ({
  kind: 'latency',
  query: query(metric, ...where),
  threshold: 0.25,
});
const events = (part: MetricQuery, total: MetricQuery): PlainIndicator => ({
  kind: 'events',
  counts: 'bad',
  part,
  total,
});

describe('on which side an SLO is measured', () => {
  test('as its condition says', () => {
    const of = (...where: readonly Condition[]): MetricQuery => query('lb.requests', ...where);
    assert.equal(sideOf(events(of(side('upstream')), of(side('upstream')))), 'upstream');
    assert.equal(sideOf(events(of(side('downstream')), of(side('downstream')))), 'downstream');
    assert.equal(sideOf(events(of(side('upstream')), of(side('downstream')))), null);
    assert.equal(sideOf(events(of(), of())), null);
  });

  test('a condition that leaves it open is not known, whatever the metric', () => {
    const open: Condition = { kind: 'in', attribute: 'lb.side', values: ['upstream', 'downstream'] };
    assert.equal(sideOf(latency('lb.stage.backend.duration', open)), null);
    assert.equal(sideOf(latency('lb.stage.backend.duration', side('elsewhere'))), null);
  });

  test('as its metric can only be', () => {
    assert.equal(sideOf(latency('lb.stage.backend.duration')), 'upstream');
    assert.equal(sideOf(latency('http.client.request.duration')), 'upstream');
    assert.equal(sideOf(latency('http.server.request.duration')), 'downstream');
    assert.equal(sideOf(latency('lb.stage.accept_queue.duration')), 'downstream');
    assert.equal(sideOf(latency('some.other.duration')), null);
  });

  test('the shipped SLOs know theirs', () => {
    const sides = shippedRules().slos.map(({ id, indicator }) => [id, sideOf(indicator)]);
    assert.deepEqual(Object.fromEntries(sides), {
      'edge-handshakes': 'downstream',
      'upstream-availability': 'upstream',
      'upstream-latency': 'upstream',
    });
  });
});
