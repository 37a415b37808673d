import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { present } from '../../src/base/assert.ts';
import { parseDuration } from '../../src/base/duration.ts';
import type { Fraction } from '../../src/slo/slo.ts';
import { factorOf, minBurnOf } from '../../src/slo/windows.ts';

const factor = (window: string, exhaustsWithin: string): Fraction =>
  factorOf(present(parseDuration(window), window), present(parseDuration(exhaustsWithin), exhaustsWithin));
const value = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);

describe('factors', () => {
  test('are SLO window / exhaustsWithin, exactly', () => {
    assert.deepEqual(factor('30d', '50h'), { numerator: 72n, denominator: 5n });
    const times = ['6h', '50h', '5d', '10d', '30d'];
    assert.deepEqual(
      times.map((time) => value(factor('30d', time))),
      [120, 14.4, 6, 3, 1],
    );
    assert.equal(value(factor('28d', '50h')), 13.44);
  });

  test('half of a factor is asked for, but never a burn below 1', () => {
    const half = (time: string): number => value(minBurnOf({ factor: factor('30d', time), minBurn: 'half' }));
    assert.deepEqual(['50h', '5d', '10d', '15d', '30d'].map(half), [7.2, 3, 1.5, 1, 1]);
    assert.equal(value(minBurnOf({ factor: factor('30d', '50h'), minBurn: 'full' })), 14.4);
  });
});
