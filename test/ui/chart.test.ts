import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { chartFigure, extentOf, linePath } from '../../src/ui/chart.ts';

const asIs = (value: number): string => String(value);

describe('charts', () => {
  test('a line breaks where nothing is known, and a point alone is seen', () => {
    const points = [
      [0, 1],
      [1, 2],
      [2, null],
      [3, 4],
      [4, null],
    ] as const;
    assert.equal(linePath(points, asIs, asIs), 'M0 1L1 2M3 4h1');
    assert.equal(linePath([[0, null]], asIs, asIs), '');
  });

  test('every value lies within the picture, whatever the values are', () => {
    const value = fc.oneof(fc.constant(null), fc.double({ min: -1e9, max: 1e9, noNaN: true }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 50 }), (values) => {
        const points = values.map((one, index) => [index, one] as const);
        const { low, high } = extentOf({ lines: [{ label: 'l', look: 'a', points }] });
        assert.ok(high > low);
        for (const one of values) assert.ok(one === null || (one >= low && one <= high));
        const { markup } = chartFigure({
          label: 'x',
          from: 0,
          to: Math.max(1, values.length),
          lines: [{ label: 'l', look: 'a', points }],
          words: asIs,
          start: '',
          end: '',
        });
        assert.doesNotMatch(markup, /NaN|Infinity|undefined/);
      }),
    );
  });

  test('what it shows is said in words, and its keys are escaped', () => {
    const { markup } = chartFigure({
      label: 'left <b> 50 %',
      from: 0,
      to: 10,
      lines: [{ label: '<i>left</i>', look: 'a', points: [[0, 1]] }],
      areas: [{ label: 'band', look: 'band', points: [[0, 0, 1]] }],
      shows: [-1],
      words: asIs,
      start: 'from',
      end: 'to',
    });
    assert.match(markup, /role="img" aria-label="left &lt;b&gt; 50 %"/);
    assert.match(markup, /&lt;i&gt;left&lt;\/i&gt;/);
    assert.match(markup, /class="zero"/);
    assert.doesNotMatch(markup, / style=/);
  });
});
