import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERRORS_PER_MILLE, reachOf } from '../../src/config/reach.ts';
import type { Budgeting, Slo, Tier } from '../../src/slo/slo.ts';
import { DAY, MINUTE, T0 } from '../support/raw-cells.ts';
import { ratioTimeslices, Sliced, slicedSlo, timeslices } from '../support/sliced.ts';

/** Minutes after which the engine itself fires on errors that begin with a slice; null within `limit`. */
function minutesInEngine(slo: Slo, perMille: number, widthMs: number, limit: number): number | null {
  const sliced = new Sliced(slo);
  for (let end = T0 - 31 * DAY + widthMs; end <= T0; end += widthMs) sliced.add(end - widthMs, end, 0, 1000);
  for (let after = widthMs; after <= limit * MINUTE; after += widthMs) {
    sliced.add(T0 + after - widthMs, T0 + after, perMille, 1000);
    sliced.hear(T0 + after);
    const { severity } = sliced.status(T0 + after);
    if (severity !== null) return after / MINUTE;
  }
  return null;
}

const only = (slo: Slo, tier: Tier): Slo => ({ ...slo, policy: { ...slo.policy, tiers: [tier] } });

describe('what check says of slices is what the engine does', () => {
  const kinds: readonly (readonly [string, Budgeting, string, number])[] = [
    ['good from 95 %, 1 min', timeslices(MINUTE), '0.99', MINUTE],
    ['good from 99.9 %, 30 s', timeslices(MINUTE / 2, '0.999'), '0.999', MINUTE / 2],
    ['by ratio, 1 min', ratioTimeslices(MINUTE), '0.999', MINUTE],
  ];
  for (const [name, budgeting, target, widthMs] of kinds) {
    for (const policy of ['workbook', 'countdown'] as const) {
      test(`${name}, ${policy}`, () => {
        const slo = slicedSlo(budgeting, { policy, target });
        const tiers = slo.policy.tiers.filter(({ short }) => short >= 2 * widthMs);
        let compared = 0;
        for (const { tier, minutes } of reachOf({ ...slo, policy: { ...slo.policy, tiers } }).tiers) {
          for (const [index, perMille] of ERRORS_PER_MILLE.entries()) {
            const said = minutes[index] ?? null;
            if (said !== null && said > 1000) continue;
            const found = minutesInEngine(only(slo, tier), perMille, widthMs, said === null ? 120 : said * 1.1 + 5);
            if (said === null) assert.equal(found, null, `${tier.name} at ${perMille}`);
            // The two say when less than one slice apart: what is left of the budget decides some of them.
            else
              assert.ok(
                found !== null && Math.abs(found - said) <= widthMs / MINUTE,
                `${tier.name}: ${found}, ${said}`,
              );
            compared += 1;
          }
        }
        assert.ok(compared >= 8, `${compared}`);
      });
    }
  }

  test('a share that makes no slice bad goes unpaged for ever, and no more than that', () => {
    const { unpagedShare, slices, lowTraffic } = reachOf(slicedSlo(timeslices(MINUTE), { target: '0.99' }));
    assert.ok(Math.abs(unpagedShare - 0.05) < 1e-12);
    assert.equal(lowTraffic, null);
    assert.ok(Math.abs((slices?.oneSlice ?? 0) - 1 / 432) < 1e-12);
    const byRatio = reachOf(slicedSlo(ratioTimeslices(MINUTE), { target: '0.999' }));
    assert.ok(Math.abs(byRatio.unpagedShare - 0.006) < 1e-6, `${byRatio.unpagedShare}`);
  });
});
