import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { present } from '../../src/base/assert.ts';
import { headline, pagesIn, run, statusAt } from '../support/burn-run.ts';
import { DAY, HOUR, MINUTE, RawCells, RawGroup, SECOND, sloOf } from '../support/raw-cells.ts';

describe('countdown over days, 99.9 % over 30d', () => {
  const countdown = () => new RawGroup(sloOf({ policy: 'countdown' }));

  test('steady 1.1x at 600 requests a minute is one ticket and never reopens', () => {
    const group = countdown().steady(-31 * DAY, 0, 0, 3000, 5 * MINUTE);
    // 3.3 bad per 5 minutes.
    for (let step = 1; step <= 20 * 288; step += 1) group.add(step * 5 * MINUTE, step % 10 < 3 ? 4 : 3, 3000);
    const { news } = run(new RawCells(group), 0, 20 * DAY, { everyMs: 5 * MINUTE });
    assert.deepEqual(news.map(headline), ['fired ticket 30d']);
  });

  test('0.95x plus hourly blips of 5 min at 1 % make one ticket and no page', () => {
    const group = countdown().steady(-31 * DAY, 0, 0, 6000, MINUTE);
    for (let minute = 1; minute <= 4 * 1440; minute += 1) {
      group.add(minute * MINUTE, minute % 60 < 5 ? 60 : minute % 10 < 7 ? 6 : 5, 6000);
    }
    const { news } = run(new RawCells(group), 0, 4 * DAY, { everyMs: MINUTE });
    assert.equal(pagesIn(news), 0);
    assert.deepEqual(
      news.map(({ change }) => change.kind).filter((kind) => kind !== 'changed'),
      ['fired'],
    );
  });

  test('a full outage of 30 min at 6000 requests a minute pages once, by the fastest tier', () => {
    const group = countdown()
      .steady(-31 * DAY, -8 * HOUR, 0, 6000, MINUTE)
      .steady(-8 * HOUR, 0, 0, 1000)
      .steady(0, 30 * MINUTE, 1000, 1000)
      .steady(30 * MINUTE, 4 * HOUR, 0, 1000);
    const { news } = run(new RawCells(group), -HOUR, 4 * HOUR);
    const first = present(news[0], 'first change');
    assert.equal(headline(first), 'fired page 6h');
    assert.ok(first.after <= MINUTE, `paged after ${first.after / SECOND} s`);
    assert.equal(pagesIn(news), 1);
  });

  test('the budget is exhausted exactly when nothing is left', () => {
    const group = new RawGroup(sloOf()).steady(-31 * DAY, 0, 0, 10).steady(0, 43 * MINUTE + 10 * SECOND, 10, 10);
    const cells = new RawCells(group);
    const before = statusAt(cells, 43 * MINUTE + 10 * SECOND).exhaustion;
    assert.equal(before.exhausted, false);
    assert.ok(before.until !== null && before.until > 0 && before.until <= 3 * SECOND);
    group.add(43 * MINUTE + 20 * SECOND, 10, 10);
    const after = statusAt(cells, 43 * MINUTE + 20 * SECOND);
    assert.ok((after.budgetRemaining ?? 0) < 0);
    assert.deepEqual([after.exhaustion.exhausted, after.exhaustion.until], [true, 0]);
  });
});
