import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseDecimal } from '../../src/base/decimal.ts';
import {
  type BudgetRatio,
  type BudgetWindow,
  budgetRatioOf,
  budgetRemaining,
  burnOf,
  burnsAtLeast,
  errorRatio,
  isExhausted,
  paddedTotal,
} from '../../src/slo/budget.ts';
import type { Fraction } from '../../src/slo/slo.ts';

function budgetOf(text: string): BudgetRatio {
  const target = parseDecimal(text);
  assert.ok(target !== undefined);
  return budgetRatioOf({ text, target });
}

const windowOf = (bad: number, total: number, lengthMs = 3_600_000, observedMs = lengthMs): BudgetWindow => ({
  bad,
  total,
  lengthMs,
  observedMs,
});

describe('budget of a window', () => {
  test('the budget ratio comes from the digits of the target, not from 1 - 0.999', () => {
    const { numerator, denominator, value } = budgetOf('0.999');
    assert.deepEqual([numerator, denominator, value], [1n, 1000n, 0.001]);
    assert.notEqual(value, 1 - 0.999);
    assert.equal(budgetOf('0.9995').value, 0.0005);
  });

  test('a missing lead is error-free at the mean rate that was observed', () => {
    const quarter = windowOf(10, 100, 4000, 1000);
    assert.equal(paddedTotal(quarter), 400);
    assert.equal(errorRatio(quarter), 0.025);
    assert.equal(burnOf(quarter, budgetOf('0.99')), 2.5);
  });

  test('what is left is signed and is not clamped', () => {
    assert.equal(budgetRemaining(windowOf(3, 1000), budgetOf('0.999')), -2);
    assert.equal(budgetRemaining(windowOf(0, 1000), budgetOf('0.999')), 1);
  });

  test('a window without events has no ratio, no burn, nothing left to tell and reaches no factor', () => {
    const empty = windowOf(0, 0);
    const budget = budgetOf('0.999');
    assert.deepEqual([errorRatio(empty), burnOf(empty, budget), budgetRemaining(empty, budget)], [null, null, null]);
    assert.equal(burnsAtLeast(empty, budget, { numerator: 1n, denominator: 1_000_000n }), false);
    assert.equal(isExhausted(empty, budget), false);
  });

  test('a budget is gone at exactly its last event', () => {
    const budget = budgetOf('0.9995');
    assert.deepEqual(
      [4, 5, 6].map((bad) => isExhausted(windowOf(bad, 10_000), budget)),
      [false, true, true],
    );
  });
});

describe('burnsAtLeast', () => {
  const target = fc.constantFrom('0.9', '0.99', '0.995', '0.999', '0.9995', '0.9999', '0.99999', '0.9990');
  const fraction: fc.Arbitrary<Fraction> = fc
    .tuple(fc.bigInt({ min: 1n, max: 2_592_000_000n }), fc.bigInt({ min: 1n, max: 2_592_000_000n }))
    .map(([numerator, denominator]) => ({ numerator, denominator }));
  const scale = fc.constantFrom<Fraction | undefined>(undefined, { numerator: 5n, denominator: 4n });

  /** bad / (total x length / observed) / budget x scale >= factor, cross-multiplied over BigInt. */
  function exactly(window: BudgetWindow, budget: BudgetRatio, factor: Fraction, by: Fraction | undefined): boolean {
    const { numerator, denominator } = by ?? { numerator: 1n, denominator: 1n };
    const left = BigInt(window.bad) * BigInt(window.observedMs) * budget.denominator * factor.denominator * numerator;
    const right = BigInt(window.total) * BigInt(window.lengthMs) * budget.numerator * factor.numerator * denominator;
    return window.total > 0 && left >= right;
  }

  test('agrees with BigInt arithmetic on any window', () => {
    const steps = fc.integer({ min: 1, max: 259_200 });
    const events = fc.integer({ min: 0, max: 2 ** 40 });
    fc.assert(
      fc.property(target, fraction, scale, events, events, steps, steps, (text, factor, by, a, b, s, t) => {
        const [bad, total] = [Math.min(a, b), Math.max(a, b)];
        const window = windowOf(bad, total, Math.max(s, t) * 10_000, Math.min(s, t) * 10_000);
        const budget = budgetOf(text);
        assert.equal(burnsAtLeast(window, budget, factor, by), exactly(window, budget, factor, by));
      }),
      { seed: 31, numRuns: 2000 },
    );
  });

  test('agrees with BigInt arithmetic one event about the very threshold', () => {
    fc.assert(
      fc.property(
        target,
        scale,
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 10 ** 9 }),
        (text, by, k, n) => {
          const budget = budgetOf(text);
          // burn = bad / total / budget; with this factor it is met by `bad` exactly.
          const total = n + k;
          const factor: Fraction = {
            numerator: BigInt(k) * budget.denominator * (by?.numerator ?? 1n),
            denominator: BigInt(total) * budget.numerator * (by?.denominator ?? 1n),
          };
          const seen = [k - 1, k, k + 1].map((bad) => burnsAtLeast(windowOf(bad, total), budget, factor, by));
          assert.deepEqual(seen, [false, true, true]);
        },
      ),
      { seed: 32, numRuns: 2000 },
    );
  });
});
