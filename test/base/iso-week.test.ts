import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { parseInstant } from '../../src/base/instant.ts';
import { isoWeekAt, isoWeekStart } from '../../src/base/iso-week.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';

const at = (text: string): EpochMs => parseInstant(text) as EpochMs;

describe('ISO weeks', () => {
  test('agree with those of luxon, whatever the instant', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (time) => {
        const week = isoWeekAt(epochMs(time));
        const other = DateTime.fromMillis(time, { zone: 'utc' });
        assert.equal(week, other.toFormat("kkkk-'W'WW"));
        assert.equal(isoWeekStart(week), other.startOf('week').toMillis());
      }),
    );
  });

  test('begin on Monday, and a year may begin or end in the other one', () => {
    assert.equal(isoWeekAt(at('2026-11-23T00:00:00Z')), '2026-W48');
    assert.equal(isoWeekAt(at('2026-11-22T23:59:59.999Z')), '2026-W47');
    assert.equal(isoWeekAt(at('2027-01-03T12:00:00Z')), '2026-W53');
    assert.equal(isoWeekAt(at('2024-12-30T00:00:00Z')), '2025-W01');
  });

  test('what is no week of its year is none', () => {
    for (const text of ['2026-W00', '2026-W54', '2025-W53', '2026-48', '2026-W4', '26-W48', '2026-W48 ', '']) {
      assert.equal(isoWeekStart(text), undefined, text);
    }
    assert.equal(isoWeekStart('2026-W53'), at('2026-12-28T00:00:00Z'));
  });
});
