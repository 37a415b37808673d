import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { spread } from '../../src/aggregate/spread.ts';

/** Shares by step number. */
function sharesOf(from: number, to: number, amount: number): Map<number, number> {
  const shares = new Map<number, number>();
  spread(10_000, from, to, amount, {
    addRun(first, last, each) {
      for (let step = first; step <= last; step += 1) shares.set(step, (shares.get(step) ?? 0) + each);
    },
  });
  return shares;
}

/** Largest remainder by the book, in exact arithmetic: floors first, then one each by remainder, later steps first. */
function byTheBook(from: number, to: number, amount: number): Map<number, number> {
  const size = BigInt(Math.abs(amount));
  const length = BigInt(to - from);
  const steps: { step: number; share: bigint; rest: bigint }[] = [];
  for (let step = Math.floor(from / 10_000) + 1; step <= Math.ceil(to / 10_000); step += 1) {
    const overlap = BigInt(Math.min(to, step * 10_000) - Math.max(from, (step - 1) * 10_000));
    steps.push({ step, share: (size * overlap) / length, rest: (size * overlap) % length });
  }
  let left = size - steps.reduce((sum, { share }) => sum + share, 0n);
  for (const one of [...steps].sort((a, b) => (a.rest === b.rest ? b.step - a.step : a.rest > b.rest ? -1 : 1))) {
    if (left === 0n) break;
    one.share += 1n;
    left -= 1n;
  }
  const sign = amount < 0 ? -1 : 1;
  return new Map(steps.filter(({ share }) => share !== 0n).map(({ step, share }) => [step, sign * Number(share)]));
}

test('an amount inside one step goes to that step', () => {
  assert.deepEqual(sharesOf(10_000, 20_000, 7), new Map([[2, 7]]));
  assert.deepEqual(sharesOf(12_000, 13_000, 7), new Map([[2, 7]]));
});

test('a step ends at its edge: a time on the edge belongs to the step before it', () => {
  assert.deepEqual(sharesOf(20_000, 20_000, 3), new Map([[2, 3]]));
  assert.deepEqual(sharesOf(20_001, 20_001, 3), new Map([[3, 3]]));
});

test('without a span before it, all goes to the step that ends at or after the time', () => {
  assert.deepEqual(sharesOf(90_000, 20_000, 3), new Map([[2, 3]]));
});

test('a delta over a minute is spread evenly, and what is left over goes to the latest steps', () => {
  const shares = sharesOf(0, 60_000, 8);
  assert.deepEqual([...shares.values()], [1, 1, 1, 1, 2, 2]);
});

test('partial steps get their share of the time', () => {
  assert.deepEqual(
    sharesOf(5_000, 25_000, 100),
    new Map([
      [1, 25],
      [2, 50],
      [3, 25],
    ]),
  );
});

test('a negative amount is the mirror of the positive one', () => {
  const up = sharesOf(3_000, 47_000, 17);
  const down = sharesOf(3_000, 47_000, -17);
  assert.deepEqual(
    [...down].map(([step, share]) => [step, -share]),
    [...up],
  );
});

test('any spread is the largest remainder of the exact shares', () => {
  const amounts = fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.maxSafeInteger());
  fc.assert(
    fc.property(fc.nat(200_000), fc.integer({ min: 1, max: 400_000 }), amounts, (from, length, amount) => {
      assert.deepEqual(sharesOf(from, from + length, amount), byTheBook(from, from + length, amount));
    }),
    { numRuns: 2000 },
  );
});

test('a gap since 1970 does not lose an event to rounding', () => {
  const amount = 9_007_199_254_740_991;
  let total = 0n;
  spread(10_000, 0, 1_800_000_000_123, amount, {
    addRun(first, last, each) {
      total += BigInt(last - first + 1) * BigInt(each);
    },
  });
  assert.equal(total, BigInt(amount));
});
