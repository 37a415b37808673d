import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/series/profiles/registry.ts';
import { at, sloOf } from '../../aggregate/fixture.ts';
import { gaugeOf, seriesOf } from '../describe.ts';
import { createFleet, isIgnored, isLeftOut, type Metric, read } from './harness.ts';

const NODE = {
  scope: 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver',
  resource: { 'service.name': 'node', 'service.instance.id': 'lb1:9100' },
};
const HOST = {
  scope:
    'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/hostmetricsreceiver/internal/scraper/networkscraper',
  resource: { 'host.name': 'lb1' },
};

const eventsOf = (metric: string) =>
  sloOf(metric, {
    indicator: { kind: 'events', counts: 'bad', part: { metric, where: [] }, total: { metric, where: [] } },
  });

test('totals that come without a type are counted, whichever type they get (gotcha 10)', () => {
  for (const kind of ['gauge', 'sum'] as const) {
    const fleet = createFleet(eventsOf('lb.accept_queue.overflows'), eventsOf('lb.host.tcp.retransmits'));
    const push = (seconds: number, overflows: number, retransmits: number): void => {
      const metrics: Metric[] = [
        { name: 'node_netstat_TcpExt_ListenOverflows', kind, value: overflows },
        { name: 'node_netstat_Tcp_RetransSegs', kind, value: retransmits },
      ];
      fleet.push(seconds, NODE, metrics);
    };
    push(0, 12, 1_000_000);
    push(60, 15, 1_000_040);
    push(120, 15, 1_000_100);
    assert.deepEqual(
      fleet.sums().sort(),
      ['lb.accept_queue.overflows[] 3/3', 'lb.host.tcp.retransmits[] 100/100'],
      kind,
    );
    push(180, 2, 5);
    assert.deepEqual(
      fleet.sums().sort(),
      ['lb.accept_queue.overflows[] 5/5', 'lb.host.tcp.retransmits[] 105/105'],
      'after a reboot the value is the growth',
    );
  }
});

test('how a value is read is kept while nothing wants it, and when SLOs change', () => {
  const fleet = createFleet();
  const push = (seconds: number, value: number): void => {
    fleet.push(seconds, NODE, [{ name: 'node_netstat_TcpExt_ListenDrops', kind: 'gauge', value }]);
  };
  push(0, 100);
  push(60, 107);
  assert.equal(fleet.ingest.counters().get('baseline'), 1, 'read as a total from the first point on');
  push(120, 3);
  assert.equal(fleet.ingest.counters().get('reset'), 1);
});

test('overflows of the accept queue are an indirect sign of that stage', () => {
  const fleet = createFleet();
  fleet.push(0, NODE, [{ name: 'node_netstat_TcpExt_ListenOverflows', kind: 'gauge', value: 0 }]);
  assert.deepEqual(fleet.aggregate.balancers(at(0))[0]?.stages, {
    accept_queue: 'proxy_signal',
    tls: 'absent',
    connect: 'absent',
    backend: 'absent',
    write: 'absent',
  });
});

test('connections are levels, by state', () => {
  assert.deepEqual(read(gaugeOf('node_netstat_Tcp_CurrEstab', {}, NODE)), [
    'system.network.connection.count{network.connection.state=established}',
  ]);
  assert.equal(translate(gaugeOf('node_netstat_Tcp_CurrEstab', {}, NODE)).reads, undefined);
  assert.deepEqual(read(gaugeOf('node_sockstat_TCP_tw', {}, NODE)), [
    'system.network.connection.count{network.connection.state=time_wait}',
  ]);
  const host = { ...HOST, monotonic: false };
  assert.deepEqual(read(seriesOf('system.network.connections', { protocol: 'tcp', state: 'TIME_WAIT' }, host)), [
    'system.network.connection.count{network.connection.state=time_wait}',
  ]);
  assert.ok(isLeftOut(seriesOf('system.network.connections', { protocol: 'udp', state: 'NONE' }, host)));
});

test('CPU time is busy or idle', () => {
  const state = (description: Parameters<typeof translate>[0]) =>
    translate(description).series[0]?.attributes.get('lb.cpu.state');
  assert.equal(state(seriesOf('node_cpu_seconds_total', { cpu: '0', mode: 'softirq' }, NODE)), 'busy');
  assert.equal(state(seriesOf('node_cpu_seconds_total', { cpu: '0', mode: 'iowait' }, NODE)), 'idle');
  assert.equal(state(seriesOf('system.cpu.time', { cpu: 'cpu0', state: 'idle' }, HOST)), 'idle');
  assert.equal(state(seriesOf('system.cpu.time', { cpu: 'cpu0', state: 'user' }, HOST)), 'busy');
  assert.ok(isIgnored(seriesOf('system.cpu.time', { cpu: 'cpu0' }, HOST)));
});

test('a machine is no kind of balancer, and what is not mapped is ignored', () => {
  assert.equal(translate(gaugeOf('node_netstat_TcpExt_ListenOverflows', {}, NODE)).flavor, null);
  assert.ok(isIgnored(gaugeOf('node_netstat_Tcp_ActiveOpens', {}, NODE)));
  assert.ok(isIgnored(gaugeOf('node_memory_MemFree_bytes', {}, NODE)));
});
