import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ALERT } from '../../src/model/conventions.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { TrendFinding } from '../../src/model/measure.ts';
import { planOf, workOf } from '../../src/sim/drill/drill-run.ts';
import { PushSchedule } from '../../src/sim/drill/push-schedule.ts';
import { DRILL_EPOCH, type Rehearsal, rehearse } from '../../src/sim/drill/rehearse.ts';
import { judge } from '../../src/sim/drill/verdict.ts';
import { ACTIVE_CHECKS } from '../../src/sim/health/active-checks.ts';
import { SCENARIOS } from '../../src/sim/scenarios/catalog.ts';
import { named, quiet } from '../../src/sim/scenarios/expectations.ts';
import { MINUTE_MS, sizedFleet } from '../../src/sim/scenarios/fleets.ts';
import type { Plan, Scenario } from '../../src/sim/scenarios/scenario.ts';
import { outage } from '../support/outage-plan.ts';
import { shippedRules } from '../support/shipped-rules.ts';

const rules = shippedRules();

let known: Rehearsal | null = null;
/** Run once for all tests that ask. */
function standard(): Rehearsal {
  known ??= rehearse({ plan: outage(3), rules, flavor: 'canonical' });
  return known;
}

describe('a drill in virtual time', () => {
  for (const flavor of ['canonical', 'envoy'] as const) {
    test(`${flavor}: an outage is found, pages once, and its truth is measured`, () => {
      const { verdict, impact } = flavor === 'canonical' ? standard() : rehearse({ plan: outage(3), rules, flavor });
      assert.deepEqual(verdict.misses, []);
      assert.equal(verdict.pages, 1);
      assert.ok(impact.peakShare > 0.2 && impact.peakShare < 0.6, `${impact.peakShare}`);
      assert.ok(Math.abs(impact.lastedS - 300) <= 10, `${impact.lastedS}`);
    });
  }

  test('the same seed gives the same run, another one another', () => {
    const run = (seed: number) => rehearse({ plan: outage(seed), rules, flavor: 'canonical' });
    assert.deepEqual(run(3), standard());
    assert.notDeepEqual(run(4).impact, standard().impact);
  });

  test('one that hurries sees the same in time, looks less before and after, and ends once all is over', () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'traffic-stopped') as Scenario;
    const plan = scenario.plan({ hosts: 4, balancers: 2, zones: 1, requestsPerS: 2000 }, 5);
    const run = (hurries: boolean) => {
      const ticks: number[] = [];
      const onOutcome = ({ at }: { readonly at: number }): number => ticks.push(at - DRILL_EPOCH);
      const { verdict } = rehearse({ plan: { ...plan, hurries }, rules, flavor: 'canonical', onOutcome });
      return { verdict, ticks };
    };
    const [calm, hurried] = [run(false), run(true)];
    assert.deepEqual(calm.verdict.misses, []);
    assert.deepEqual(hurried.verdict, calm.verdict);
    assert.equal(calm.ticks.at(-1), plan.untilMs);
    const gaps = (from: number, to: number): readonly number[] => {
      const within = hurried.ticks.filter((at) => at >= from && at <= to);
      return [...new Set(within.slice(1).map((at, i) => at - (within[i] ?? 0)))];
    };
    const [from, to] = [plan.faultAtMs - 2 * MINUTE_MS, plan.overAtMs + 5 * MINUTE_MS];
    assert.deepEqual([gaps(0, from), gaps(from, to), gaps(to, plan.untilMs)], [[30_000], [10_000], [30_000]]);
    const last = hurried.ticks.at(-1) ?? 0;
    assert.ok(last >= plan.overAtMs + 10 * MINUTE_MS && last < plan.untilMs, `ended at ${last / MINUTE_MS} min`);
  });

  test('checks of one signal take out what checks of two leave in: the control is calm because of them', () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'two-signal-calm') as Scenario;
    const plan = scenario.plan({ hosts: 6, balancers: 2, zones: 1, requestsPerS: 100 }, 5);
    const clusters = plan.fleet.clusters.map((one) => ({ ...one, checks: ACTIVE_CHECKS }));
    const misses = (fleet: Plan['fleet']) =>
      rehearse({ plan: { ...plan, fleet }, rules, flavor: 'canonical' }).verdict.misses.join();
    assert.equal(misses(plan.fleet), '');
    assert.match(misses({ ...plan.fleet, clusters }), /HealthCheckCascade/);
  });

  test('a comparison that comes out otherwise, or is never asked for, is a miss', () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'shadow-drops') as Scenario;
    const plan = scenario.plan({ hosts: 10, balancers: 2, zones: 1, requestsPerS: 2500 }, 5);
    const misses = (comparisons: Plan['comparisons'] & object, timeline = plan.timeline) =>
      rehearse({ plan: { ...plan, comparisons, timeline }, rules, flavor: 'canonical' }).verdict.misses;
    const [few, many] = plan.comparisons ?? [];
    assert.ok(few !== undefined && many !== undefined);
    assert.deepEqual(misses([few, many]), []);
    assert.match(misses([{ ...few, verdict: 'worse' }]).join(), /the shadow with few drops is no_worse .*, not worse/);
    assert.match(misses([{ ...few, asked: { ...few.asked, a: 'nobody' } }]).join(), /cannot be compared: .*nobody/);
    assert.match(misses([{ ...few, atMs: plan.untilMs + 1 }]).join(), /never compared/);
    // Without the drops the verdict is not withheld.
    assert.match(misses([many], []).join(), /the shadow with many drops is no_worse/);
  });

  test('a rehearsal that must be quiet misses when it pages; what is named, when and how often is asked', () => {
    const misses = (changes: Partial<Plan>) =>
      rehearse({ plan: outage(3, changes), rules, flavor: 'canonical' }).verdict.misses;
    assert.match(misses({ expected: quiet() }).join('\n'), /1 pages where nobody was to be paged/);
    const { expected } = outage(3);
    assert.ok(expected.kind === 'incident');
    const text = misses({
      expected: {
        ...expected,
        lead: ALERT.handshakeStorm,
        alternatives: [],
        withinMs: 1000,
        pages: 2,
        evidence: [named('a version', /\bv9\b/)],
        tiers: ['30d'],
        ends: 'lasting',
      },
    }).join('\n');
    for (const wanted of [/not HandshakeStorm/, /1 pages, not 2/, /a version is not named/, /tier 6h, not 30d/]) {
      assert.match(text, wanted);
    }
  });

  test('what the weekly review must be told, and must not, is asked', () => {
    const expected = (least: number, zone: string) => ({
      ...quiet(),
      findings: {
        weeks: 4,
        all: [{ measure: 'zone_skew', subject: { cluster: 'app', zone }, slopePerWeek: [least, 1] }],
      } as const,
    });
    const told: TrendFinding = {
      subject: labelsOf(Object.entries({ cluster: 'app', zone: 'a' })),
      measure: 'zone_skew',
      now: 1.1,
      before: 1,
      slopePerWeek: 0.02,
      confidence: 1,
      samples: 600,
      notes: {},
    };
    const span = { faultAtMs: 0, overAtMs: 1 };
    const misses = (least: number, zone: string, findings: readonly TrendFinding[]) =>
      judge([], expected(least, zone), quiet(), span, findings).misses;
    assert.deepEqual(misses(0.01, 'a', [told]), []);
    assert.match(misses(0.03, 'a', [told]).join(), /zone_skew of app a changes by 0\.0200 a week, not by 0\.03 to 1/);
    assert.match(misses(0.01, 'a', []).join(), /the review is not told of zone_skew of app a/);
    assert.match(misses(0.01, 'b', [told]).join(), /not told of zone_skew of app b.*is told of zone_skew of app a/);
  });

  test('an incident before the fault is a miss', () => {
    const plan = outage(3, { faultAtMs: 40 * MINUTE_MS });
    const { verdict } = rehearse({ plan, rules, flavor: 'canonical' });
    assert.match(verdict.misses.join('\n'), /before anything happened/);
  });
});

describe('balancers push', () => {
  test('once per interval each, at moments of their own that the seed gives', () => {
    const fleet = sizedFleet({ hosts: 5, balancers: 20, zones: 1, requestsPerS: 100 }, { seed: 7 });
    const pushes = [...new PushSchedule(fleet, 60_000).between(0, 600_000)];
    const times = fleet.balancers.map((_, i) => pushes.flatMap((one) => (one.balancers.includes(i) ? one.atMs : [])));
    for (const [first = 0, ...rest] of times) {
      assert.ok(first > 0 && first <= 60_000);
      assert.deepEqual(
        rest,
        Array.from({ length: 9 }, (_, i) => first + (i + 1) * 60_000),
      );
    }
    assert.ok(new Set(times.map(([first]) => first)).size > 5);
    const inPieces = new PushSchedule(fleet, 60_000);
    const ticks = Array.from({ length: 60 }, (_, i) => i * 10_000);
    assert.deepEqual(
      ticks.flatMap((from) => [...inPieces.between(from, from + 10_000)]),
      pushes,
    );
  });
});

describe('checks of all clusters that fail together', () => {
  for (const name of ['health-cascade', 'health-cascade-panic']) {
    test(`${name}: one incident, one page, of the smallest fleet that is drawn`, () => {
      const scenario = SCENARIOS.find((one) => one.name === name);
      assert.ok(scenario !== undefined);
      const { plan } = planOf(scenario, 6);
      // What is left of the budget is told for longer.
      const short = { ...plan, untilMs: plan.faultAtMs + 5 * MINUTE_MS };
      const { verdict } = rehearse({ plan: short, rules, flavor: 'canonical' });
      assert.deepEqual([verdict.pages, verdict.incidents, verdict.seen?.lead], [1, 1, ALERT.healthCheckCascade]);
      assert.ok((verdict.detectedAfterMs ?? Number.POSITIVE_INFINITY) <= 90_000);
    });
  }
});

describe('the scenarios', () => {
  test('names are unique, each has a runbook and a plan in order for both flavours', () => {
    assert.equal(new Set(SCENARIOS.map(({ name }) => name)).size, SCENARIOS.length);
    for (const scenario of SCENARIOS) checkPlan(scenario, 1);
  });

  test('drawn sizes stay in range and give plans in order; a seed gives the same plan again', () => {
    for (const scenario of SCENARIOS) {
      for (let seed = 2; seed <= 21; seed += 1) {
        checkPlan(scenario, seed);
        assert.deepEqual(planOf(scenario, seed).size, planOf(scenario, seed).size);
      }
    }
  });

  test('drawn sizes reach from small to large, and none pushes far more points than stated', () => {
    for (const scenario of SCENARIOS) {
      const { range } = scenario;
      const seeds = Array.from({ length: 50 }, (_, i) => i + 2);
      const drawn = seeds.map((seed) => planOf(scenario, seed));
      const rates = drawn.map(({ size }) => size.requestsPerS);
      if (range.requestsPerS[0] < range.requestsPerS[1]) {
        assert.ok(Math.max(...rates) >= 4 * Math.min(...rates), `${scenario.name}: ${Math.min(...rates)}`);
      }
      const smallest = { hosts: range.hosts[0], balancers: range.balancers[0], zones: 4, requestsPerS: 10 };
      const least = workOf(scenario.plan({ ...smallest, hosts: Math.max(4, smallest.hosts) }, 2));
      for (const { plan } of drawn) assert.ok(workOf(plan) <= Math.max(1.2e6, 2 * least), scenario.name);
    }
    assert.ok(SCENARIOS.some((one) => planOf(one, 1).plan.untilMs >= 30 * 86_400_000));
  });

  test('quiet controls and failures are both there, and what Envoys cannot tell is said', () => {
    const plans = SCENARIOS.map((scenario) => planOf(scenario, 1).plan);
    assert.ok(plans.filter(({ expected }) => expected.kind === 'quiet').length >= 5);
    assert.ok(plans.filter(({ expected }) => expected.kind === 'incident').length >= 10);
    for (const { expected, expectedOfEnvoy } of plans) {
      if (expected.kind === 'incident' && expectedOfEnvoy.kind === 'quiet') assert.ok(expectedOfEnvoy.because !== null);
    }
  });
});

function checkPlan(scenario: Scenario, seed: number): void {
  const where = `${scenario.name}, seed ${seed}`;
  const { plan, size } = planOf(scenario, seed);
  const { hosts, balancers, zones } = size;
  assert.ok(hosts >= 5 && hosts <= 800 && balancers >= 2 - Number(seed === 1) && balancers <= 50, where);
  assert.ok(zones >= 1 && zones <= 4 && plan.fleet.zones.length === zones, where);
  assert.ok(plan.faultAtMs <= plan.overAtMs && plan.overAtMs <= plan.untilMs, where);
  assert.equal(plan.untilMs % 10_000, 0, where);
  assert.equal(plan.pushMs % 10_000, 0, where);
  for (const { at } of plan.timeline) assert.ok(at >= 0 && at < plan.untilMs, where);
  for (const expected of [plan.expected, plan.expectedOfEnvoy]) {
    if (expected.kind === 'incident') assert.ok(Object.values<string>(ALERT).includes(expected.lead), where);
  }
  assert.ok(DRILL_EPOCH % 86_400_000 === 0, 'virtual 0 is a midnight');
}
