import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { present } from '../../src/base/assert.ts';
import { ms } from '../../src/base/units.ts';
import { onsetOf } from '../../src/burn/onset.ts';
import type { AlertChange } from '../../src/model/alert.ts';
import { run } from '../support/burn-run.ts';
import { at, DAY, HOUR, MINUTE, RawCells, RawGroup, SECOND, sloOf } from '../support/raw-cells.ts';

const clean = () => new RawGroup(sloOf()).steady(-31 * DAY, -7 * HOUR, 0, 6000, MINUTE).steady(-7 * HOUR, 0, 0, 1000);
const burnOf = (change: AlertChange) => present(change.alert.burn ?? undefined, 'burn');

describe('when a burn set in', () => {
  test('2 % after a clean month pages after 43.2 min, and says so: since then, 2.0 % of the budget spent', () => {
    const cells = new RawCells(clean().steady(0, HOUR, 20, 1000));
    const { news } = run(cells, -MINUTE, HOUR);
    const first = present(news[0], 'page');
    assert.equal(first.change.alert.tier, '50h');
    const { burningSince, spent, spentSince, window } = burnOf(first.change);
    assert.ok(Math.abs(burningSince - at(0)) <= MINUTE, `${(burningSince - at(0)) / SECOND} s`);
    assert.ok(Math.abs((spent ?? 0) - 0.02) < 0.0002, String(spent));
    assert.equal(spentSince, 0);
    assert.equal(window, '30d');
  });

  test('stays where it was while the alert lives, and what is spent grows', () => {
    const cells = new RawCells(clean().steady(0, 4 * HOUR, 20, 1000));
    const before = run(cells, -MINUTE, HOUR);
    const after = run(cells, HOUR, 3 * HOUR, { engine: before.engine });
    const figures = [...before.said, ...after.said].map(({ change }) => burnOf(change));
    assert.ok(figures.length > 60);
    assert.equal(new Set(figures.map(({ burningSince }) => burningSince)).size, 1);
    const spent = figures.map((one) => one.spent ?? 0);
    assert.ok(spent.every((value, index) => index === 0 || value >= (spent[index - 1] ?? 0)));
    assert.ok((spent.at(-1) ?? 0) > 0.08);
  });

  test('a failure long past in busy, healthy traffic is not its start; steady errors below the budget are not either', () => {
    const group = new RawGroup(sloOf()).steady(-HOUR, 0, 0.5, 1000).steady(0, 10 * MINUTE, 100, 1000);
    group.add(-50 * MINUTE, 5, 0);
    const onset = onsetOf(group, 0.001, at(10 * MINUTE), ms(HOUR));
    assert.equal(onset, at(0));
  });

  test('few requests: the first of the failures that made it', () => {
    const group = new RawGroup(sloOf())
      .steady(-HOUR, 0, 0, 1, 6 * MINUTE)
      .add(-30 * MINUTE, 1, 0)
      .add(0, 1, 0);
    assert.equal(onsetOf(group, 0.001, at(0), ms(HOUR)), at(-31 * MINUTE));
  });

  test('nothing bad, or contradictions only: when it was noticed', () => {
    assert.equal(onsetOf(clean(), 0.001, at(0), ms(HOUR)), at(0));
    const odd = new RawGroup(sloOf()).steady(-HOUR, 0, 5, 1);
    assert.equal(onsetOf(odd, 0.001, at(0), ms(HOUR)), at(0));
  });
});
