import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAggregate } from '../../src/aggregate/cells.ts';
import { createPrng } from '../../src/base/prng.ts';
import { epochMs } from '../../src/base/units.ts';
import { type Comparison, type ComparisonRequest, compareSides } from '../../src/detect/cohorts.ts';
import { limitsOf } from '../../src/detect/config-push-regression.ts';
import { isSuspicious, rarestFault, requestsToSee, sampleSize } from '../../src/detect/sample-size.ts';
import { ALERT } from '../../src/model/conventions.ts';
import { createBinder } from '../../src/series/bind.ts';
import { seriesOf } from '../series/describe.ts';
import { EdgeFleet, fleetOf, type Load, MINUTE_MS, START, STEP_MS } from '../support/edge-fleet.ts';
import { shippedDetectors } from '../support/shipped-detectors.ts';

const settings = shippedDetectors(ALERT.configPushRegression).get(ALERT.configPushRegression);
assert.ok(settings !== undefined);
const LIMITS = limitsOf(settings);

const asked = (over: Partial<ComparisonRequest>): ComparisonRequest => ({
  attribute: 'configVersion',
  a: 'v2',
  b: null,
  configKind: null,
  cluster: null,
  shadow: null,
  windowMs: null,
  fault: 0.001,
  confidence: 0.95,
  ...over,
});

function ask(fleet: Pick<EdgeFleet, 'aggregate' | 'now'>, over: Partial<ComparisonRequest> = {}): Comparison {
  const found = compareSides(fleet.aggregate, asked(over), fleet.now, LIMITS);
  assert.ok(!('missing' in found), JSON.stringify(found));
  return found;
}

describe('how large a sample must be', () => {
  test('a fault of 1 in 1,000 needs 2,995 requests at 95 %, by the rule of three 3,000', () => {
    assert.equal(requestsToSee(0.001, 0.95), 2995);
    assert.ok(Math.abs(rarestFault(3000, 0.95) - 3 / 3000) < 3e-6);
    assert.equal(requestsToSee(0.01, 0.99), 459);
    for (const [rate, confidence, hits] of [
      [0.001, 0.95, 1],
      [0.001, 0.95, 3],
      [0.02, 0.99, 7],
    ] as const) {
      const needed = requestsToSee(rate, confidence, hits);
      assert.ok(rarestFault(needed, confidence, hits) <= rate, String(needed));
      assert.ok(rarestFault(needed - 1, confidence, hits) > rate, String(needed));
    }
  });

  test('beside others that fail too, it needs more of them, and says so', () => {
    const clean = sampleSize(3000, { hits: 0, events: 57_000 }, 0.001, 0.95);
    assert.deepEqual([clean.failuresToHold, clean.requestsNeeded], [1, 2995]);
    const failing = sampleSize(3000, { hits: 57, events: 57_000 }, 0.001, 0.95);
    assert.equal(failing.failuresToHold, 6);
    assert.ok(failing.requestsNeeded > 10_000 && failing.rarestFault > 0.002, JSON.stringify(failing));
  });

  test('of 20,000 canaries of 5 % with such a fault, 95 % are held after so many requests, and 86 % after 2,000', () => {
    const prng = createPrng(7);
    const heldOf = (requests: number): number => {
      let held = 0;
      for (let run = 0; run < 20_000; run += 1) {
        const hits = prng.poisson(requests * -Math.log1p(-0.001));
        if (isSuspicious({ hits, events: requests }, { hits: 0, events: requests * 19 })) held += 1;
      }
      return held / 20_000;
    };
    const [enough, few] = [heldOf(2995), heldOf(2000)];
    assert.ok(Math.abs(enough - 0.95) < 0.006, String(enough));
    assert.ok(Math.abs(few - (1 - 0.999 ** 2000)) < 0.01, String(few));
  });
});

/** 20 balancers of 10 requests a second each. */
const WELL: Load = { requests: 10, errors: 0, config: 'v1' };
const canaryOf =
  (load: Load) =>
  ({ id }: { readonly id: string }): Load =>
    id === 'edge-0' ? load : WELL;

describe('a canary of 5 %', () => {
  test('is held until a fault of 1 in 1,000 would have been seen, and the verdict says how many requests that takes', () => {
    const fleet = new EdgeFleet({ balancers: fleetOf(20), detectors: [] });
    fleet.run(10 * MINUTE_MS, () => WELL, false);
    fleet.run(2 * MINUTE_MS, canaryOf({ ...WELL, config: 'v2' }), false);
    const early = ask(fleet);
    assert.equal(early.verdict, 'hold');
    assert.match(
      early.reason,
      /a fault of 1 in 1,000 needs 2,995 to be seen with 95 %; a fault of less than 1 in \d{3}/,
    );
    assert.equal(early.size.requestsNeeded, 2995);
    assert.ok(early.requests > 1000 && early.requests < 1400, String(early.requests));
    assert.ok(early.needsMs !== null && Math.abs(early.needsMs - 180_000) < 40_000, String(early.needsMs));
    assert.deepEqual([early.exposure?.balancers, early.exposure?.of, early.exposure?.share], [1, 20, 0.05]);
    assert.ok(Math.abs((early.exposure?.requestShare ?? 0) - 0.05) < 0.01);
    fleet.run(4 * MINUTE_MS, canaryOf({ ...WELL, config: 'v2' }), false);
    const late = ask(fleet);
    assert.equal(late.verdict, 'no_worse', late.reason);
    assert.ok(late.size.rarestFault <= 0.001 && late.requests >= 2995);
    assert.match(late.reason, /no worse in 3,\d{3} requests, beside/);
  });

  test('with failures that are too few to call it worse it is held, and with many it is worse', () => {
    const fleet = new EdgeFleet({ balancers: fleetOf(20), detectors: [] });
    fleet.run(10 * MINUTE_MS, () => WELL, false);
    fleet.run(10 * MINUTE_MS, canaryOf({ requests: 10, errors: 0.01, config: 'v2' }), false);
    const few = ask(fleet);
    assert.equal(few.verdict, 'hold');
    assert.match(few.reason, /^\d+ of [56],\d{3} failed, 0 of \d+,\d{3} beside: too few/);
    fleet.run(5 * MINUTE_MS, canaryOf({ requests: 10, errors: 0.5, config: 'v2' }), false);
    const many = ask(fleet);
    assert.deepEqual([many.verdict, many.worse], ['worse', ['errors']]);
  });

  test('what nobody runs, or replaced nothing, is not compared', () => {
    const fleet = new EdgeFleet({ balancers: fleetOf(4), detectors: [] });
    fleet.run(5 * MINUTE_MS, () => WELL, false);
    for (const over of [
      {},
      { a: 'v1' },
      { attribute: 'zone' as const, a: 'z' },
      { attribute: 'zone' as const, a: 'a', b: 'z' },
    ]) {
      assert.ok('missing' in compareSides(fleet.aggregate, asked(over), fleet.now, LIMITS), JSON.stringify(over));
    }
  });
});

test('a rolling update that is caught at the fourth of ten batches has exposed 40 %', () => {
  const fleet = new EdgeFleet({ balancers: fleetOf(20), detectors: [] });
  // Twenty balancers, two a batch, two minutes apart; of the new version's requests one in twenty-six fails.
  const load: Load = { requests: 0.3, errors: 0, config: 'v1' };
  fleet.run(30 * MINUTE_MS, () => load, false);
  const verdicts: string[] = [];
  for (let batch = 1; batch <= 10 && verdicts.at(-1) !== 'worse'; batch += 1) {
    fleet.run(
      2 * MINUTE_MS,
      ({ id }) => (Number(id.slice(5)) < 2 * batch ? { requests: 0.3, errors: 0.012, config: 'v2' } : load),
      false,
    );
    const { verdict, exposure } = ask(fleet);
    assert.deepEqual([exposure?.batches, exposure?.balancers, exposure?.of], [batch, 2 * batch, 20]);
    verdicts.push(verdict);
  }
  assert.deepEqual(verdicts, ['hold', 'hold', 'hold', 'worse']);
  assert.equal(ask(fleet).exposure?.share, 0.4);
  // Rolled back on half of them: they have been exposed all the same.
  fleet.run(MINUTE_MS, ({ id }) => (Number(id.slice(5)) < 4 ? { ...load, config: 'v2' } : load), false);
  const { exposure } = ask(fleet);
  assert.deepEqual([exposure?.share, exposure?.of], [0.4, 20]);
  assert.ok((exposure?.requestShare ?? 1) < 0.3);
});

test('one zone is compared with all others', () => {
  const fleet = new EdgeFleet({ balancers: fleetOf(6), detectors: [] });
  const load: Load = { requests: 50, errors: 0.05 };
  fleet.run(10 * MINUTE_MS, ({ zone }) => (zone === 'b' ? { requests: 50, errors: 2 } : load), false);
  const bad = ask(fleet, { attribute: 'zone', a: 'b' });
  assert.deepEqual([bad.kind, bad.verdict, bad.worse], ['zone', 'worse', ['errors']]);
  assert.deepEqual([bad.members.length, bad.others.length, bad.exposure], [2, 4, null]);
  const good = ask(fleet, { attribute: 'zone', a: 'a', b: 'c' });
  assert.notEqual(good.verdict, 'worse');
  assert.deepEqual([good.members.length, good.others.length], [2, 2]);
});

/** Production answers 100 requests a second in two zones, its shadow gets two per cent of them. */
function shadowed(dropped: number | null, shadowErrors = 0, zoneErrors = 0): Pick<EdgeFleet, 'aggregate' | 'now'> {
  const aggregate = createAggregate();
  const binder = createBinder({ slos: [], aggregate });
  const resource = { 'lb.flavor': 'custom' };
  let now = epochMs(START);
  const counters = (
    [
      ['lb.requests', { 'lb.upstream.cluster': 'shop', 'lb.response.class': '2xx', 'lb.upstream.zone': 'a' }, 1000],
      [
        'lb.requests',
        { 'lb.upstream.cluster': 'shop', 'lb.response.class': '2xx', 'lb.upstream.zone': 'b' },
        1000 - zoneErrors,
      ],
      [
        'lb.requests',
        { 'lb.upstream.cluster': 'shop', 'lb.response.class': '5xx', 'lb.upstream.zone': 'b' },
        zoneErrors,
      ],
      ['lb.requests', { 'lb.upstream.cluster': 'shop-shadow', 'lb.response.class': '2xx' }, 100],
      ['lb.requests', { 'lb.upstream.cluster': 'shop-shadow', 'lb.response.class': '5xx' }, shadowErrors],
      [
        'lb.mirror.requests',
        { 'lb.upstream.cluster': 'shop-shadow', 'lb.mirror.outcome': 'sent' },
        dropped === null ? null : 1000,
      ],
      ['lb.mirror.requests', { 'lb.upstream.cluster': 'shop-shadow', 'lb.mirror.outcome': 'dropped' }, dropped],
    ] as const
  ).flatMap(([name, attributes, perStep]) => {
    if (perStep === null) return [];
    const own = { 'lb.side': 'upstream', ...attributes };
    return [{ binding: binder.bind(seriesOf(name, own, { balancer: 'edge-0', resource })), perStep }];
  });
  for (let step = 0; step < 60; step += 1) {
    now = epochMs(now + STEP_MS);
    aggregate.heard('edge-0', new Map(), now, now);
    for (const { binding, perStep } of counters) {
      for (const { cell, weight } of binding.counters) cell.add(epochMs(now - STEP_MS), now, weight * perStep);
    }
  }
  return { aggregate, now };
}

describe('a shadow', () => {
  const cluster = { attribute: 'cluster', a: 'shop-shadow', b: 'shop' } as const;

  test('is judged while at most 1 % of its copies are dropped', () => {
    const fair = ask(shadowed(10), cluster);
    assert.equal(fair.kind, 'shadow');
    assert.deepEqual(fair.drops, { copies: 60_600, dropped: 600, share: 10 / 1010 });
    assert.equal(fair.verdict, 'no_worse', fair.reason);
    assert.deepEqual(ask(shadowed(10, 50), cluster).worse, ['errors']);
  });

  test('gets no verdict above that, however bad it looks', () => {
    const { verdict, reason, drops } = ask(shadowed(11, 50), cluster);
    assert.equal(verdict, 'withheld');
    assert.ok((drops?.share ?? 0) > 0.01);
    assert.match(reason, /1\.1 % of 60,660 copies were dropped, more than 1 %/);
  });

  test('gets none where nobody tells of drops; two clusters that are no shadow are compared', () => {
    const untold = shadowed(null);
    assert.equal(ask(untold, { ...cluster, shadow: true }).verdict, 'withheld');
    const plain = ask(untold, cluster);
    assert.deepEqual([plain.kind, plain.drops, plain.verdict], ['cohorts', null, 'no_worse']);
  });

  test('the zones of one cluster are compared by what their hosts answered', () => {
    const zones = ask(shadowed(null, 0, 100), { attribute: 'zone', a: 'b', cluster: 'shop' });
    assert.deepEqual([zones.verdict, zones.members, zones.others], ['worse', ['b'], ['a']]);
  });
});
