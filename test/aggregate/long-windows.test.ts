import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { type GroupState, SloGroup } from '../../src/aggregate/slo-group.ts';
import { SLO_LEVELS, sloLevelsOf } from '../../src/aggregate/step-ring.ts';
import { epochMs, ms } from '../../src/base/units.ts';
import { NO_LABELS } from '../../src/model/labels.ts';
import { DAY, sloOf, T0 } from './fixture.ts';

const QUARTER_HOUR = 900_000;
const yearly = () => sloOf('yearly', { window: { text: '365d', length: ms(365 * DAY), rolling: true } });

test('only windows over 35 days have the level of 15 minutes, long enough for their longest period', () => {
  assert.equal(sloLevelsOf(35 * DAY), SLO_LEVELS);
  const longest: readonly [nominalDays: number, days: number][] = [
    [36, 36],
    [60, 62],
    [90, 92],
    [180, 184],
    [360, 366],
    [365, 366],
  ];
  for (const [nominal, days] of longest) {
    const [last] = sloLevelsOf(nominal * DAY).slice(-1);
    // An hour more where clocks go back, and the step that is being filled.
    assert.ok((last?.steps ?? 0) * QUARTER_HOUR >= days * DAY + 5 * QUARTER_HOUR, `${nominal}`);
  }
});

test('a year of a group is exact over whole quarters of an hour, before and after a restart', () => {
  const eventArb = fc.record({
    after: fc.integer({ min: 1, max: 366 * DAY }),
    total: fc.integer({ min: 1, max: 1000 }),
  });
  const edgeArb = fc.integer({ min: 0, max: 366 * 96 });
  fc.assert(
    fc.property(fc.array(eventArb, { minLength: 1, maxLength: 40 }), edgeArb, (events, edge) => {
      const group = new SloGroup(yearly(), NO_LABELS);
      const ordered = [...events].sort((a, b) => a.after - b.after);
      for (const { after, total } of ordered) {
        const at = epochMs(T0 + after);
        group.total.add(at, at, total);
        group.part.add(at, at, 1);
      }
      const restored = new SloGroup(yearly(), NO_LABELS);
      restored.restore(deserialize(serialize(group.snapshot())) as GroupState);
      const from = T0 + edge * QUARTER_HOUR;
      const inside = events.filter(({ after }) => T0 + after > from);
      const expected = { bad: inside.length, total: inside.reduce((sum, { total }) => sum + total, 0) };
      for (const one of [group, restored]) {
        const { bad, total } = one.range(epochMs(from), epochMs(T0 + 367 * DAY));
        assert.deepEqual({ bad, total }, expected);
      }
    }),
    { seed: 91, numRuns: 100 },
  );
});
