import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { present } from '../../src/base/assert.ts';
import { parseDecimal } from '../../src/base/decimal.ts';
import { epochMs, MINUTE, type Ms } from '../../src/base/units.ts';
import { badOfSlice, holdsSlices, SLICE_PARTS, sliceEdgeAt } from '../../src/slo/slices.ts';
import type { Slicing } from '../../src/slo/slo.ts';

const width = MINUTE as Ms;
const timeslices = (text: string): Slicing => ({
  kind: 'timeslices',
  width,
  target: { text, target: present(parseDecimal(text), text) },
});
const BY_RATIO: Slicing = { kind: 'ratio_timeslices', width };

describe('how bad a slice is', () => {
  test('a slice exactly at its target is good, one event below is bad', () => {
    assert.equal(badOfSlice(timeslices('0.95'), 5, 100), 0);
    assert.equal(badOfSlice(timeslices('0.95'), 6, 100), 1);
    // 1 - 0.9 is not 0.1 in doubles, and 0.7 x 10 is not 7.
    assert.equal(badOfSlice(timeslices('0.9'), 1, 10), 0);
    assert.equal(badOfSlice(timeslices('0.7'), 3, 10), 0);
    assert.equal(badOfSlice(timeslices('1'), 1, 1e15), 1);
  });

  test('one without events is good', () => {
    assert.equal(badOfSlice(timeslices('1'), 0, 0), 0);
    assert.equal(badOfSlice(BY_RATIO, 0, 0), 0);
  });

  test('a ratio is kept in billionths, rounded up and never beyond the whole', () => {
    assert.equal(badOfSlice(BY_RATIO, 1, 4), SLICE_PARTS / 4);
    assert.equal(badOfSlice(BY_RATIO, 1, 3), 333_333_334);
    assert.equal(badOfSlice(BY_RATIO, 7, 7), SLICE_PARTS);
    const whole = fc.bigInt({ min: 1n, max: BigInt(Number.MAX_SAFE_INTEGER) });
    fc.assert(
      fc.property(whole, whole, (a, b) => {
        const [bad, total] = a < b ? [a, b] : [b, a];
        const parts = BigInt(badOfSlice(BY_RATIO, Number(bad), Number(total)));
        const exact = bad * BigInt(SLICE_PARTS);
        assert.ok(parts * total >= exact && (parts - 1n) * total < exact);
        assert.ok(parts <= BigInt(SLICE_PARTS));
      }),
      { numRuns: 500 },
    );
  });
});

test('slices end at whole multiples of their width since 1970', () => {
  assert.equal(sliceEdgeAt(BY_RATIO, epochMs(3 * MINUTE + 59_999)), 3 * MINUTE);
  assert.equal(sliceEdgeAt(BY_RATIO, epochMs(4 * MINUTE)), 4 * MINUTE);
  assert.equal(sliceEdgeAt({ kind: 'occurrences' }, epochMs(7)), 7);
});

test('a window holds slices if it holds at least two whole ones', () => {
  assert.deepEqual(
    [1, 1.5, 2, 5].map((minutes) => holdsSlices(BY_RATIO, minutes * MINUTE)),
    [false, false, true, true],
  );
  assert.equal(holdsSlices({ kind: 'occurrences' }, 1), true);
});
