import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { typeProblems } from '../support/dashboard-checks.ts';
import { shippedRunbooks } from '../support/runbooks.ts';

describe('queries of runbooks before promtool', () => {
  const queries = shippedRunbooks().flatMap(({ name, blocks }) =>
    blocks
      .filter(({ language }) => language === 'promql')
      .map(({ text, line }) => ({ where: `${name}.md line ${line}`, expr: text })),
  );

  test('every one has the right types', async () => {
    assert.ok(queries.length > 80, `${queries.length}`);
    assert.deepEqual(await typeProblems(queries), []);
  });

  test('a wrong one is found', async () => {
    const planted = { where: 'planted', expr: 'sum(lb_requests_total[5m])' };
    assert.equal((await typeProblems([...queries.slice(0, 3), planted])).length, 1);
  });
});
