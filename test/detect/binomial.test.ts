import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { logBinomialTail, logFactorial } from '../../src/detect/binomial.ts';

/** C(n, k) a^k (d-a)^(n-k) summed over k >= hits, over d^n: the chance, exactly. */
function exactTail(hits: number, trials: number, a: bigint, d: bigint): { above: bigint; whole: bigint } {
  let above = 0n;
  let choose = 1n;
  for (let k = 0; k <= trials; k += 1) {
    if (k >= hits) above += choose * a ** BigInt(k) * (d - a) ** BigInt(trials - k);
    choose = (choose * BigInt(trials - k)) / BigInt(k + 1);
  }
  return { above, whole: d ** BigInt(trials) };
}

/** ln of a big integer, to a double. */
function logOf(value: bigint): number {
  const digits = value.toString();
  return Math.log(Number(`0.${digits.slice(0, 17)}`)) + digits.length * Math.LN10;
}

describe('the binomial tail', () => {
  test('is that of enumerating every outcome in whole numbers', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }).chain((trials) => fc.tuple(fc.constant(trials), fc.nat(trials))),
        fc.integer({ min: 1, max: 9_999 }),
        ([trials, hits], tenThousandths) => {
          const { above, whole } = exactTail(hits, trials, BigInt(tenThousandths), 10_000n);
          const expected = logOf(above) - logOf(whole);
          const got = logBinomialTail(hits, trials, tenThousandths / 10_000);
          assert.ok(Math.abs(got - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${got} for ${expected}`);
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });

  test('falls with every further hit and grows with the chance', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.double({ min: 0.001, max: 0.9, noNaN: true }), (trials, p) => {
        const hits = Math.ceil(trials / 2);
        assert.ok(logBinomialTail(hits + 1, trials, p) <= logBinomialTail(hits, trials, p) + 1e-9);
        assert.ok(logBinomialTail(hits, trials, p) <= logBinomialTail(hits, trials, Math.min(0.95, p * 1.05)) + 1e-9);
      }),
      { seed: 7 },
    );
  });

  test('knows what is certain and what cannot be', () => {
    assert.equal(logBinomialTail(0, 10, 0.5), 0);
    assert.equal(logBinomialTail(1, 10, 0), Number.NEGATIVE_INFINITY);
    assert.equal(logBinomialTail(11, 10, 0.5), Number.NEGATIVE_INFINITY);
    assert.equal(logBinomialTail(10, 10, 1), 0);
    assert.ok(Math.abs(logBinomialTail(10, 10, 0.5) - 10 * Math.log(0.5)) < 1e-12);
  });

  test('stays finite and cheap for counts of a large fleet', () => {
    const began = performance.now();
    const tail = logBinomialTail(21_000, 2_000_000, 0.01);
    assert.ok(tail < -20 && tail > -60, `${tail}`);
    assert.ok(performance.now() - began < 100);
  });

  test('rests on factorials that are right to fourteen digits', () => {
    let exact = 1n;
    for (let n = 1n; n <= 170n; n += 1n) {
      exact *= n;
      assert.ok(Math.abs(logFactorial(Number(n)) - logOf(exact)) <= 1e-14 * Math.max(1, logOf(exact)) + 1e-13, `${n}!`);
    }
  });
});
