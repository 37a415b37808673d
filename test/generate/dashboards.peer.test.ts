import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { typeProblems } from '../support/dashboard-checks.ts';
import { committedDashboards, expressionsOf } from '../support/dashboard-files.ts';

describe('dashboards before promtool', () => {
  test('every expression has the right types', async () => {
    const expressions = committedDashboards().flatMap(expressionsOf);
    assert.ok(expressions.length > 150, `${expressions.length}`);
    assert.deepEqual(await typeProblems(expressions), []);
  });

  test('what a grammar alone would let through is found', async () => {
    const planted = ['sum(slowburn_series[5m])', 'rate(slowburn_ticks_total)', '1 + slowburn_series[5m]', 'sum('].map(
      (expr, index) => ({ where: `planted ${index}`, expr }),
    );
    const fine = { where: 'fine', expr: 'sum(slowburn_series)' };
    const found = await typeProblems([fine, ...planted, fine]);
    assert.deepEqual(
      found.map((text) => text.split(':')[0]),
      planted.map(({ where }) => where),
    );
  });
});
