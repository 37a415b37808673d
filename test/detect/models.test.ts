import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeRanges } from '../../src/detect/distribution.ts';
import { expectedWait, utilizationOf } from '../../src/detect/queue-model.ts';
import { logChanceNotHigher, logPoissonTail, rarestSeen } from '../../src/detect/two-samples.ts';

const near = (actual: number | null, expected: number, tolerance = 1e-9): void =>
  assert.ok(actual !== null && Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

test('the queue model gives 4 ms at 80 % and 199 ms at 99.5 % of 1,000 per second, and back', () => {
  near(expectedWait(0.8, 1000), 0.004);
  near(expectedWait(0.995, 1000), 0.199);
  assert.equal(expectedWait(1, 1000), Number.POSITIVE_INFINITY);
  for (const rho of [0.01, 0.5, 0.8, 0.995, 0.999999])
    near(utilizationOf(rho * 1000, expectedWait(rho, 1000)), rho, 1e-12);
  assert.equal(utilizationOf(1000, 0), 0);
});

test('durations of different bounds are read as one', () => {
  const one = { bounds: [0.1, 0.2, 0.4], counts: [50, 30, 20, 0], sum: 12 };
  const two = { bounds: [0.2, 1], counts: [80, 20, 0], sum: null };
  const merged = mergeRanges([one, two]);
  assert.equal(merged.count, 200);
  assert.equal(merged.sum, null);
  assert.equal(mergeRanges([one]).sum, 12);
  near(merged.above(0.2), 40);
  near(merged.above(0.3), 10 + 20 * (0.7 / 0.8));
  near(mergeRanges([one]).quantile(0.5), 0.1);
  near(mergeRanges([one]).quantile(0.9), 0.3);
  // What lies above all bounds is at least the last.
  near(mergeRanges([{ bounds: [1], counts: [0, 5], sum: null }]).quantile(0.5), 1);
  assert.equal(mergeRanges([]).quantile(0.5), null);
});

test('two samples of one source differ by chance only', () => {
  near(Math.exp(logChanceNotHigher({ hits: 1, events: 10 }, { hits: 0, events: 10 })), 0.5);
  near(Math.exp(logChanceNotHigher({ hits: 3, events: 100 }, { hits: 0, events: 100 })), 0.125);
  assert.equal(logChanceNotHigher({ hits: 0, events: 10 }, { hits: 9, events: 10 }), 0);
  assert.equal(logChanceNotHigher({ hits: 5, events: 0 }, { hits: 0, events: 10 }), 0);
  // P(at least 3 | mean 1) = 1 - 2.5 / e.
  near(Math.exp(logPoissonTail(3, 1)), 1 - 2.5 / Math.E, 1e-6);
  // A fault of one in a thousand needs some 3,000 requests.
  near(rarestSeen(3000), 0.001);
});
