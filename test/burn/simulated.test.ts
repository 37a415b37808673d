import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import type { Policy } from '../../src/slo/slo.ts';
import { countPages, type SimulatedGroup, simulated } from '../simulate/policy.ts';
import { COUNTDOWN, DAY, MINUTE, ORIGIN, sloOf, WORKBOOK } from '../support/fake-cells.ts';

/** Page notifications as the whole engine gives them, minute by minute. */
function pagesOfEngine(group: SimulatedGroup, policy: Policy): number {
  group.slo = sloOf(policy);
  const engine = createBurnEngine();
  let severity: string | null = null;
  let pages = 0;
  for (let at = 30 * DAY + MINUTE; at <= 60 * DAY; at += MINUTE) {
    group.now = epochMs(ORIGIN + at);
    const feed = { watermark: group.now, coverage: 1, reporting: true, newestPointAt: group.now };
    const { statuses } = engine.evaluate({ groups: () => [group], feed: () => feed }, group.now);
    const next = statuses[0]?.severity ?? null;
    if (next === 'page' && severity !== 'page') pages += 1;
    severity = next;
  }
  return pages;
}

test('the simulation counts what the engine says at every minute, though it skips most', () => {
  const group = simulated(60, 0.9, 5);
  const counted = [COUNTDOWN, WORKBOOK].map((policy) => countPages(group, policy));
  assert.deepEqual(
    counted,
    [COUNTDOWN, WORKBOOK].map((policy) => pagesOfEngine(group, policy)),
  );
  assert.ok((counted[1] ?? 0) > 20);
});

test('no tick that is skipped would have paged', () => {
  for (const [perHour, burn, seed] of [
    [10, 0.9, 3],
    [60, 0.9, 8],
    [600, 0.9, 4],
  ] as const) {
    const group = simulated(perHour, burn, seed);
    for (const policy of [COUNTDOWN, WORKBOOK])
      assert.equal(countPages(group, policy), countPages(group, policy, false), `${policy.name} at ${perHour}/h`);
  }
});

test('the same seed gives the same month, another seed another', () => {
  const sums = (seed: number) => {
    const group = simulated(60, 0.9, seed);
    group.now = epochMs(ORIGIN + 60 * DAY);
    const { bad, total } = group.range(epochMs(ORIGIN), group.now);
    return `${bad} of ${total}`;
  };
  assert.equal(sums(7), sums(7));
  assert.notEqual(sums(7), sums(8));
});
