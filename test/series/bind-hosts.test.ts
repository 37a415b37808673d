import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import type { FeatureName } from '../../src/aggregate/features.ts';
import { createBinder } from '../../src/series/bind.ts';
import type { SeriesDescription } from '../../src/series/binding.ts';
import { at } from '../aggregate/fixture.ts';
import { gaugeOf, histogramOf, seriesOf } from './describe.ts';

interface World {
  readonly aggregate: Aggregate;
  /** Values of a level, ten seconds apart. */
  set(description: SeriesDescription, ...values: readonly number[]): void;
  /** An increment of a counter within the first ten seconds. */
  count(description: SeriesDescription, amount: number): void;
  read(name: FeatureName): readonly string[];
}

function world(aggregate = createAggregate()): World {
  const binder = createBinder({ slos: [], aggregate });
  aggregate.heard('lb-1', new Map(), at(60), at(60));
  return {
    aggregate,
    set(description, ...values) {
      const { gauges } = binder.bind(description);
      for (const [index, value] of values.entries()) {
        for (const { cell, weight } of gauges) cell.set(at(10 + 10 * index), description.balancer, weight * value);
      }
    },
    count(description, amount) {
      for (const { cell, weight } of binder.bind(description).counters) cell.add(at(0), at(10), weight * amount);
    },
    read: (name) =>
      [...aggregate.features(name)].map((one) => `${[...one.labels.values()].join(' ')}: ${one.range(at(0), at(60))}`),
  };
}

const CLUSTER = { 'envoy.cluster_name': 'c' };
const membership = (stat: string) => gaugeOf(`cluster.membership_${stat}`, CLUSTER);

describe('pools, as readings added up', () => {
  test("Envoy's: excluded hosts are not missed, degraded ones are used", () => {
    const { set, read } = world();
    for (const [stat, value] of [
      ['total', 10],
      ['healthy', 6],
      ['degraded', 1],
      ['excluded', 2],
    ] as const) {
      set(membership(stat), value, value);
    }
    assert.deepEqual(read('cluster.hosts.healthy'), ['c: 14']);
    assert.deepEqual(read('cluster.hosts.due'), ['c: 16']);
    assert.deepEqual(read('cluster.hosts.readings'), ['c: 2']);
  });

  test("Traefik's: one host at a time, up or down; each tells its changes", () => {
    const { set, read } = world();
    const up = (url: string) =>
      gaugeOf('traefik_service_server_up', { service: 'c', url }, { scope: 'github.com/traefik/traefik' });
    set(up('http://a'), 1, 1, 0, 1);
    set(up('http://b'), 0, 0, 0, 0);
    assert.deepEqual(read('cluster.hosts.healthy'), ['c: 3']);
    assert.deepEqual(read('cluster.hosts.due'), ['c: 8']);
    assert.deepEqual(read('host.health.changes'), ['lb-1 c http://a: 2', 'lb-1 c http://b: 0']);
  });

  test("HAProxy's: hosts under maintenance or draining are not missed", () => {
    const { set, read } = world();
    const status = (state: string) => gaugeOf('haproxy_backend_agg_server_status', { proxy: 'c', state });
    for (const [state, hosts] of [
      ['UP', 5],
      ['DOWN', 1],
      ['DRAIN', 2],
      ['MAINT', 3],
    ] as const)
      set(status(state), hosts);
    assert.deepEqual(read('cluster.hosts.healthy'), ['c: 5']);
    assert.deepEqual(read('cluster.hosts.due'), ['c: 6']);
  });
});

describe('changes of health', () => {
  const healthy = gaugeOf('cluster.endpoint.healthy', { ...CLUSTER, 'envoy.endpoint_address': '10.0.0.1:80' });

  test("Envoy's endpoints tell theirs, and are no hosts of the pool", () => {
    const { set, read, aggregate } = world();
    set(healthy, 1, 0, 0, 1);
    assert.deepEqual(read('host.health.changes'), ['lb-1 c 10.0.0.1:80: 2']);
    assert.deepEqual([...aggregate.gauges('cluster.hosts', at(60))], []);
  });

  test('are known over a restart: what changed meanwhile is one change', () => {
    const before = world();
    before.set(healthy, 1);
    const aggregate = createAggregate();
    aggregate.restore(structuredClone(before.aggregate.snapshot()));
    const after = world(aggregate);
    after.set(healthy, 0, 0);
    assert.deepEqual(after.read('host.health.changes'), ['lb-1 c 10.0.0.1:80: 1']);
  });

  test("HAProxy's servers that went down came back too: two changes, and no outlier's ejection", () => {
    const { count, read } = world();
    count(seriesOf('haproxy_server_check_up_down_total', { proxy: 'c', server: 's1' }), 2);
    assert.deepEqual(read('host.health.changes'), ['lb-1 c s1: 4']);
    assert.deepEqual(read('cluster.ejections'), []);
  });
});

describe('times of hosts', () => {
  const request = { 'http.response.status_code': 200, 'server.address': 'h1', 'lb.upstream.cluster': 'c' };

  test('are counts and microseconds, whatever the unit', () => {
    const { aggregate } = world();
    const binder = createBinder({ slos: [], aggregate });
    const weightOf = (unit: string) =>
      binder
        .bind(histogramOf('http.client.request.duration', request, { unit, scope: 'app' }))
        .sums?.map(({ weight }) => weight);
    assert.deepEqual(weightOf('s'), [1e6]);
    assert.deepEqual(weightOf('ms'), [1e3]);
    assert.deepEqual(
      [...aggregate.features('host.duration')].map(({ labels }) => [...labels.values()]),
      [['c', 'h1']],
    );
  });

  test('are unknown from exponential histograms, and from series that name no host', () => {
    const { aggregate } = world();
    const binder = createBinder({ slos: [], aggregate });
    binder.bind(histogramOf('http.client.request.duration', request, { kind: 'exponential_histogram', scope: 'app' }));
    binder.bind(histogramOf('cluster.upstream_rq_time', CLUSTER));
    assert.deepEqual([...aggregate.features('host.timed')], []);
  });
});

test('panic and requests without a healthy host are counted by cluster', () => {
  const { count, read } = world();
  count(seriesOf('cluster.lb_healthy_panic', CLUSTER), 7);
  count(seriesOf('cluster.upstream_cx_none_healthy', CLUSTER), 9);
  assert.deepEqual(read('cluster.panic.requests'), ['c: 7']);
  assert.deepEqual(read('cluster.no_healthy.requests'), ['c: 9']);
});

test('utilization is read by zone in thousandths, capacity by host', () => {
  const { set, read, aggregate } = world();
  const host = { 'lb.upstream.cluster': 'c', 'lb.upstream.host.name': 'h1', 'lb.upstream.zone': 'a' };
  set(gaugeOf('lb.upstream.host.utilization', host), 0.5, 0.75, Number.NaN);
  set(gaugeOf('lb.upstream.host.capacity', host), 4);
  assert.deepEqual(read('zone.utilization'), ['c a: 1250']);
  assert.deepEqual(read('zone.utilization.readings'), ['c a: 2']);
  const [capacity] = aggregate.gauges('host.capacity', at(10));
  assert.deepEqual(
    [[...(capacity?.labels ?? [])], capacity?.value],
    [
      [
        ['balancer', 'lb-1'],
        ['cluster', 'c'],
        ['host', 'h1'],
        ['zone', 'a'],
      ],
      4,
    ],
  );
});
