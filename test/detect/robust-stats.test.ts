import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs } from '../../src/base/units.ts';
import {
  baselineBefore,
  baselineEnd,
  deviationsAbove,
  isEvidenced,
  robustSpread,
  toBaseline,
  windowsBefore,
} from '../../src/detect/robust-stats.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = epochMs(1_800_000_000_000);

describe('what is usual', () => {
  test('is moved neither in its middle nor in its spread by samples that are wrong', () => {
    const usual = [9, 10, 10, 11, 10, 9, 11];
    assert.deepEqual(toBaseline(usual), { middle: 10, spread: 1.4826, samples: 7 });
    assert.deepEqual(toBaseline([...usual, 1e6, 1e6, 1e6]), { middle: 10.5, spread: 1.4826, samples: 10 });
    assert.equal(robustSpread([4, 4, 4, 9]), 0);
  });

  test('needs three samples', () => {
    assert.equal(toBaseline([1, 2]), null);
    assert.equal(toBaseline([], 0), null);
  });

  test('comes from slices of the last hours, and from the same hour of days where there are three', () => {
    const spans: number[] = [];
    const sample = (from: number, to: number): number => {
      spans.push(to - from);
      return 1;
    };
    baselineBefore(epochMs(NOW - 7 * HOUR), NOW, sample);
    assert.deepEqual([...new Set(spans)], [5 * MINUTE]);
    assert.equal(spans.length, 72);
    spans.length = 0;
    baselineBefore(epochMs(NOW - 4 * 24 * HOUR), NOW, sample);
    assert.deepEqual(spans, [HOUR, HOUR, HOUR]);
    assert.equal(baselineBefore(null, NOW, sample), null);
    assert.equal(
      baselineBefore(epochMs(NOW - 7 * HOUR), NOW, () => null),
      null,
    );
  });

  test('ends where the window begins, and stands still one window before an alert that fires', () => {
    const from = epochMs(NOW - 5 * MINUTE);
    assert.equal(baselineEnd(from, 5 * MINUTE, undefined), from);
    assert.equal(baselineEnd(from, 5 * MINUTE, NOW), from);
    assert.equal(baselineEnd(from, 5 * MINUTE, epochMs(NOW - HOUR)), NOW - HOUR - 5 * MINUTE);
  });

  test('a flat history takes the least spread given', () => {
    assert.equal(deviationsAbove(14, { middle: 10, spread: 0, samples: 9 }, 2), 2);
    assert.equal(deviationsAbove(14, { middle: 10, spread: 4, samples: 9 }, 2), 1);
  });
});

test('a comparison rests on enough events that came and enough that were due', () => {
  const rule = { minEvents: 100, minExpected: 30 };
  assert.equal(isEvidenced(100, 30, rule), true);
  assert.equal(isEvidenced(99, 300, rule), false);
  assert.equal(isEvidenced(1000, 29.9, rule), false);
});

test('windows run back from the end without a gap', () => {
  assert.deepEqual(windowsBefore(epochMs(1000), 100, 3), [
    [900, 1000],
    [800, 900],
    [700, 800],
  ]);
});
