import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Aggregate, createAggregate } from '../../src/aggregate/cells.ts';
import type { SloGroup } from '../../src/aggregate/slo-group.ts';
import { NO_LABELS } from '../../src/model/labels.ts';
import { at, sloOf } from './fixture.ts';

const NO_RESOURCE = new Map<string, { readonly text: string }>();
const DAY_S = 86_400;

/** One SLO fed by these balancers. */
function fed(...balancers: string[]): { aggregate: Aggregate; group: SloGroup } {
  const slo = sloOf('a');
  const aggregate = createAggregate();
  aggregate.replaceSlos([slo]);
  const group = aggregate.group(slo, NO_LABELS);
  for (const id of balancers) aggregate.addFeeder(group, aggregate.balancer(id));
  return { aggregate, group };
}

/** Pushes every `every` seconds from `from` to `to`, received at once. */
function push(aggregate: Aggregate, id: string, from: number, to: number, every: number): void {
  for (let second = from; second <= to; second += every) aggregate.heard(id, NO_RESOURCE, at(second), at(second));
}

const stateOf = (aggregate: Aggregate, id: string, now: number) =>
  aggregate.balancers(at(now)).find((balancer) => balancer.id === id);

test('nobody has fed the SLO: no watermark, no coverage', () => {
  const { aggregate, group } = fed();
  assert.deepEqual(aggregate.feed(group, at(0)), {
    watermark: null,
    coverage: 0,
    reporting: false,
    newestPointAt: null,
  });
});

test('a balancer that is bound but not yet heard counts for nothing', () => {
  const { aggregate, group } = fed('lb-1');
  assert.equal(aggregate.feed(group, at(0)).watermark, null);
  assert.deepEqual(aggregate.balancers(at(0)), []);
});

test('the watermark is the oldest newest point of those that keep up, on a step edge', () => {
  const { aggregate, group } = fed('lb-1', 'lb-2');
  push(aggregate, 'lb-1', 7, 97, 10);
  push(aggregate, 'lb-2', 2, 102, 10);
  assert.deepEqual(aggregate.feed(group, at(104)), {
    watermark: at(90),
    coverage: 1,
    reporting: true,
    newestPointAt: at(102),
  });
});

test('who lies more than two own intervals behind is not waited for', () => {
  const { aggregate, group } = fed('lb-1', 'lb-2');
  push(aggregate, 'lb-1', 0, 80, 10);
  push(aggregate, 'lb-2', 0, 100, 10);
  assert.equal(aggregate.feed(group, at(100)).watermark, at(80), '20 s behind is two intervals');
  assert.equal(aggregate.feed(group, at(101)).watermark, at(100));
});

test('nobody is waited for longer than 90 s, whatever the interval', () => {
  const { aggregate, group } = fed('slow', 'quick');
  push(aggregate, 'slow', 0, 600, 120);
  push(aggregate, 'quick', 0, 700, 10);
  assert.equal(aggregate.feed(group, at(690)).watermark, at(600));
  assert.equal(aggregate.feed(group, at(691)).watermark, at(700));
});

test('where all are left out, the newest point of any ends the windows', () => {
  const { aggregate, group } = fed('lb-1', 'lb-2');
  push(aggregate, 'lb-1', 0, 100, 10);
  push(aggregate, 'lb-2', 0, 115, 5);
  assert.equal(aggregate.feed(group, at(1000)).watermark, at(110));
});

test('a watermark follows a push within the same tick', () => {
  const { aggregate, group } = fed('lb-1');
  push(aggregate, 'lb-1', 0, 20, 10);
  assert.equal(aggregate.feed(group, at(30)).watermark, at(20));
  push(aggregate, 'lb-1', 30, 30, 10);
  assert.equal(aggregate.feed(group, at(30)).watermark, at(30));
});

test('a watermark waits for a balancer that begins to feed within the same tick', () => {
  const { aggregate, group } = fed('lb-1');
  push(aggregate, 'lb-1', 0, 30, 10);
  push(aggregate, 'lb-2', 0, 20, 10);
  assert.equal(aggregate.feed(group, at(30)).watermark, at(30));
  aggregate.addFeeder(group, aggregate.balancer('lb-2'));
  assert.equal(aggregate.feed(group, at(30)).watermark, at(20));
});

test('the interval is 60 s until three pushes are known, then the median of the last five gaps', () => {
  const { aggregate } = fed();
  push(aggregate, 'lb-1', 0, 10, 10);
  assert.equal(stateOf(aggregate, 'lb-1', 10)?.interval, 60_000);
  push(aggregate, 'lb-1', 20, 20, 10);
  assert.equal(stateOf(aggregate, 'lb-1', 20)?.interval, 10_000);
  push(aggregate, 'lb-1', 3620, 3620, 10);
  assert.equal(stateOf(aggregate, 'lb-1', 3620)?.interval, 10_000, 'one long silence is no habit');
  push(aggregate, 'lb-1', 3650, 3740, 30);
  assert.equal(stateOf(aggregate, 'lb-1', 3740)?.interval, 30_000);
});

test('one push that comes in several requests is one push', () => {
  const { aggregate } = fed();
  for (let second = 0; second <= 60; second += 10) {
    for (const extra of [0, 0, 0.2]) aggregate.heard('lb-1', NO_RESOURCE, at(second + extra), at(second + 1));
  }
  assert.equal(stateOf(aggregate, 'lb-1', 61)?.interval, 10_000);
});

test('a balancer is stale after three own intervals, at least 60 s', () => {
  const { aggregate } = fed();
  push(aggregate, 'quick', 0, 100, 10);
  push(aggregate, 'slow', 0, 120, 40);
  assert.equal(stateOf(aggregate, 'quick', 159)?.stale, false);
  assert.equal(stateOf(aggregate, 'quick', 160)?.stale, true);
  assert.equal(stateOf(aggregate, 'slow', 239)?.stale, false);
  assert.equal(stateOf(aggregate, 'slow', 240)?.stale, true);
});

test('points that run ahead of the receiver are taken at arrival', () => {
  const { aggregate, group } = fed('lb-1');
  aggregate.heard('lb-1', NO_RESOURCE, at(5000), at(12));
  assert.equal(aggregate.feed(group, at(12)).newestPointAt, at(12));
  assert.equal(aggregate.feed(group, at(12)).watermark, at(10));
});

test('late points move nothing back', () => {
  const { aggregate, group } = fed('lb-1');
  push(aggregate, 'lb-1', 0, 50, 10);
  aggregate.heard('lb-1', NO_RESOURCE, at(5), at(51));
  assert.equal(aggregate.feed(group, at(51)).newestPointAt, at(50));
  assert.equal(stateOf(aggregate, 'lb-1', 51)?.interval, 10_000);
});

test('coverage is the share of its balancers that report; a retired one no longer counts', () => {
  const { aggregate, group } = fed('lb-1', 'lb-2');
  push(aggregate, 'lb-1', 0, 100, 10);
  push(aggregate, 'lb-2', 0, 300, 10);
  assert.equal(aggregate.feed(group, at(300)).coverage, 0.5);
  assert.equal(aggregate.feed(group, at(600)).coverage, 0);
  assert.equal(aggregate.feed(group, at(600)).reporting, false);
  push(aggregate, 'lb-2', DAY_S + 100, DAY_S + 200, 10);
  assert.equal(aggregate.feed(group, at(DAY_S + 200)).coverage, 1);
  assert.deepEqual(
    aggregate.balancers(at(DAY_S + 200)).map(({ id }) => id),
    ['lb-2'],
  );
});

test('a balancer that returns after a day feeds what it fed', () => {
  const { aggregate, group } = fed('lb-1');
  push(aggregate, 'lb-1', 0, 100, 10);
  assert.equal(aggregate.feed(group, at(2 * DAY_S)).coverage, 0);
  push(aggregate, 'lb-1', 2 * DAY_S, 2 * DAY_S + 20, 10);
  assert.equal(aggregate.feed(group, at(2 * DAY_S + 20)).coverage, 1);
});

test('the fleet watermark is the newest point of those that are not stale', () => {
  const { aggregate } = fed();
  assert.equal(aggregate.watermark(at(0)), null);
  push(aggregate, 'lb-1', 0, 104, 4);
  push(aggregate, 'lb-2', 0, 97, 1);
  assert.equal(aggregate.watermark(at(104)), at(100));
  assert.equal(aggregate.watermark(at(5000)), at(100), 'of any where all are stale');
});

test('a resource says what its balancer is, and an unknown part changes nothing', () => {
  const { aggregate } = fed();
  const resource = new Map(
    Object.entries({
      'telemetry.sdk.name': 'envoy',
      'telemetry.sdk.version': '1a2b3c/1.37.2/Clean/RELEASE/BoringSSL',
      'cloud.availability_zone': 'z1',
      'cloud.region': 'r1',
    }).map(([name, text]) => [name, { text }] as const),
  );
  aggregate.heard('lb-1', resource, at(0), at(0));
  aggregate.heard('lb-1', NO_RESOURCE, at(10), at(10));
  const state = stateOf(aggregate, 'lb-1', 10);
  assert.deepEqual(
    [state?.flavor, state?.version, state?.zone, state?.region, state?.firstSeenAt],
    ['envoy', '1.37.2', 'z1', 'r1', at(0)],
  );
});

test('names of metrics are kept up to 500 of a kind', () => {
  const { aggregate } = fed();
  const record = aggregate.balancer('lb-1');
  for (let index = 0; index < 700; index += 1) record.bound(`m${index}`, index < 10);
  aggregate.heard('lb-1', NO_RESOURCE, at(0), at(0));
  const state = stateOf(aggregate, 'lb-1', 0);
  assert.equal(state?.seriesCount, 700);
  assert.equal(state?.metricsUnderstood.length, 10);
  assert.equal(state?.metricsIgnored.length, 500);
});
