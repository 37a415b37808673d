import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BudgetCourse } from '../../src/burn/exhaustion.ts';
import { holdingTiers } from '../../src/burn/tiers.ts';
import { Z_98, zOf } from '../../src/burn/wilson.ts';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import type { Policy } from '../../src/slo/slo.ts';
import { minBurnOf } from '../../src/slo/windows.ts';
import { COUNTDOWN, DAY, FakeGroup, HOUR, MINUTE, STEP, sloOf, WORKBOOK } from '../support/fake-cells.ts';

/** Names of the tiers that hold at the end of a group's data. */
function holding(group: FakeGroup, held: readonly string[] = []): readonly string[] {
  const budget = budgetRatioOf(group.slo.objective);
  const course = new BudgetCourse(group, budget, group.end);
  const input = { group, budget, to: group.end, course };
  return holdingTiers(group.slo.policy, input, held).map(({ name }) => name);
}

/** A month without errors at so many events per 10 s step. */
function month(policy: Policy, perStep: number): FakeGroup {
  const group = new FakeGroup(sloOf(policy));
  group.pushFor(30 * DAY, () => [0, perStep]);
  return group;
}

describe('tiers of the workbook', () => {
  test('each holds from exactly its factor on, and not one event in ten thousand below', () => {
    // 10,000 events a step: a burn of 14.4 is 144 bad ones, 6 is 60, 3 is 30, 1 is 10.
    for (const [bad, names] of [
      [144, ['50h', '5d', '10d', '30d']],
      [143, ['5d', '10d', '30d']],
      [60, ['5d', '10d', '30d']],
      [59, ['10d', '30d']],
      [30, ['10d', '30d']],
      [29, ['30d']],
      [10, ['30d']],
      [9, []],
    ] as const) {
      const group = new FakeGroup(sloOf(WORKBOOK));
      group.pushFor(4 * DAY, () => [bad, 10_000]);
      assert.deepEqual(holding(group), names, `${bad} bad of 10,000`);
    }
  });

  test('both windows must burn: a long window that remembers an outage is not enough', () => {
    const group = month(WORKBOOK, 100);
    group.pushFor(30 * MINUTE, () => [100, 100]);
    assert.ok(holding(group).includes('50h'));
    group.pushFor(6 * MINUTE, () => [0, 100]);
    assert.ok(!holding(group).includes('50h'));
  });

  test('a short window without events does not burn', () => {
    const group = month(WORKBOOK, 100);
    group.pushFor(30 * MINUTE, () => [100, 100]);
    group.pushFor(5 * MINUTE, () => [0, 0]);
    assert.ok(!holding(group).includes('50h'));
  });

  test('a higher burn never gives a lower tier', () => {
    const policy = WORKBOOK;
    const rank = (names: readonly string[]): number => {
      const found = policy.tiers.findIndex(({ name }) => names.includes(name));
      return found === -1 ? policy.tiers.length : found;
    };
    const hours = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 12, maxLength: 80 });
    fc.assert(
      fc.property(hours, fc.integer({ min: 1, max: 60 }), fc.nat(), (bads, more, which) => {
        const made = (extra: (hour: number) => number): FakeGroup => {
          const group = new FakeGroup(sloOf(policy));
          for (const [hour, bad] of bads.entries()) group.pushFor(HOUR, () => [bad + extra(hour), 1000]);
          return group;
        };
        const before = holding(made(() => 0));
        const after = holding(made((hour) => (hour >= which % bads.length ? more : 0)));
        assert.ok(rank(after) <= rank(before), `${before} became ${after}`);
        assert.ok(
          before.every((name) => after.includes(name)),
          `${before} became ${after}`,
        );
      }),
      { seed: 41, numRuns: 60 },
    );
  });

  test("a policy of one's own without a confidence burns against its minBurn", () => {
    const [first] = WORKBOOK.tiers;
    assert.ok(first !== undefined);
    const half: Policy = { name: 'own', confidence: null, tiers: [{ ...first, minBurn: 'half' }] };
    const burning = (policy: Policy): readonly string[] => {
      const group = month(policy, 10_000);
      group.pushFor(2 * HOUR, () => [72, 10_000]);
      return holding(group);
    };
    assert.deepEqual(burning(half), ['50h']);
    assert.deepEqual(burning({ ...half, tiers: [first] }), []);
  });
});

describe('tiers of countdown', () => {
  test('minBurn is half of the factor but never below 1, and all of it where the tier says so', () => {
    const burns = COUNTDOWN.tiers.map((tier) => {
      const { numerator, denominator } = minBurnOf(tier);
      return Number(numerator) / Number(denominator);
    });
    assert.deepEqual(burns, [120, 7.2, 3, 1.5, 1]);
  });

  test("a policy of one's own is as sure as its confidence says", () => {
    // 5 failures of 90 requests burn at least 20 at 98 %; at 99.99 % that is not even sure of 14.4.
    const at = (confidence: number): readonly string[] => {
      const group = new FakeGroup(sloOf({ ...COUNTDOWN, name: 'own', confidence }));
      group.pushFor(30 * DAY, (index) => [0, index % 4 === 0 ? 1 : 0]);
      group.pushFor(HOUR, (index) => [index % 4 === 0 && index >= 340 ? 1 : 0, index % 4 === 0 ? 1 : 0]);
      return holding(group);
    };
    assert.ok(at(0.98).includes('50h'));
    assert.ok(!at(0.9999).includes('50h'));
  });

  test('the normal quantiles of usual confidences are those of the tables', () => {
    for (const [confidence, z] of [
      [0.8, 1.2815515655446004],
      [0.95, 1.959963984540054],
      [0.99, 2.5758293035489004],
      [0.999, 3.290526731491926],
    ] as const)
      assert.ok(Math.abs(zOf(confidence) - z) < 1e-9, `${confidence}: ${zOf(confidence)}`);
    assert.equal(zOf(0.98), Z_98);
  });

  test('one bad event is never enough, however quiet it was', () => {
    for (const everySteps of [1, 36, 360, 8640]) {
      const group = new FakeGroup(sloOf(COUNTDOWN));
      group.pushFor(30 * DAY, (index) => [0, index % everySteps === 0 ? 1 : 0]);
      group.pushFor(STEP, () => [1, 1]);
      assert.deepEqual(holding(group), [], `one event every ${everySteps} steps`);
    }
  });

  test('the nearer the end of the budget, the lower the burn that pages', () => {
    // Burn 10 is less than the 14.4 of the 50 h tier; with a fifth of the budget left it is gone in half a day.
    const burning = (badOfTen: number): readonly string[] => {
      const group = new FakeGroup(sloOf(COUNTDOWN));
      group.pushFor(30 * DAY, (index) => [index % 10 < badOfTen ? 1 : 0, 1000]);
      group.pushFor(2 * HOUR, () => [10, 1000]);
      return holding(group);
    };
    assert.ok(!burning(0).includes('50h'));
    assert.ok(burning(8).includes('50h'));
  });

  test('a spent budget counts as no time left, so that minBurn alone decides', () => {
    const spent = (bad: number): readonly string[] => {
      const group = new FakeGroup(sloOf(COUNTDOWN));
      group.pushFor(20 * DAY, () => [2, 1000]);
      group.pushFor(5 * DAY, () => [0, 1000]);
      group.pushFor(2 * HOUR, () => [bad, 1000]);
      return holding(group);
    };
    assert.ok(!spent(7).includes('50h'));
    assert.ok(spent(8).includes('50h'));
  });

  test('the short window reaches back to five events, but only where traffic is thin', () => {
    // 10 an hour: 5 min hold less than one event, so that the last 30 min decide.
    const thin = (cleanMs: number): readonly string[] => {
      const group = new FakeGroup(sloOf(COUNTDOWN));
      group.pushFor(30 * DAY, (index) => [0, index % 36 === 0 ? 1 : 0]);
      group.pushFor(30 * MINUTE, (index) => [index % 36 === 0 ? 1 : 0, index % 36 === 0 ? 1 : 0]);
      group.pushFor(cleanMs, (index) => [0, index % 36 === 0 ? 1 : 0]);
      return holding(group);
    };
    assert.ok(thin(12 * MINUTE).includes('50h'));
    assert.ok(!thin(42 * MINUTE).includes('50h'));
    const dense = month(COUNTDOWN, 20);
    dense.pushFor(30 * MINUTE, () => [20, 20]);
    dense.pushFor(12 * MINUTE, () => [0, 20]);
    assert.ok(!holding(dense).includes('50h'));
  });

  test('a tier that holds lets go only where 1.25 times the burn would not fire it', () => {
    // Two hours at 12 of 1,000: burn 12 with a clean month. It fires at 14.4 and, once firing, holds from 11.52 on.
    const at = (bad: number, held: readonly string[]): boolean => {
      const group = month(COUNTDOWN, 100_000);
      group.pushFor(2 * HOUR, () => [bad, 100_000]);
      return holding(group, held).includes('50h');
    };
    assert.deepEqual([at(1200, []), at(1200, ['50h']), at(1100, ['50h']), at(1500, [])], [false, true, false, true]);
  });
});
