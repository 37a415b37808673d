import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { simulateTraffic } from '../simulate/ingest.ts';

/** `npm run simulate -- ingest` does the same with 1,000,000 points. */
describe('50,000 points of 50 balancers with restarts, gaps, reorderings and retries', () => {
  const figures = simulateTraffic({ seed: 20_261, points: 50_000, restartEvery: 500 });

  test('add up to exactly what the raw events say, in every group, feature and bucket', () => {
    assert.deepEqual(figures.differences, []);
    assert.ok(figures.points >= 50_000 && figures.compared >= 70, JSON.stringify(figures));
  });

  test('met everything that makes it hard', () => {
    for (const name of ['reset', 'gap', 'baseline', 'new_bounds', 'future', 'duplicate', 'out_of_order']) {
      assert.ok((figures.counters[name] ?? 0) > 0, name);
    }
    assert.ok(figures.balancerRestarts >= 20 && figures.receiverRestarts >= 3, JSON.stringify(figures));
  });
});
