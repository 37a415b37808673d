import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import { badOfSlices, compositeObjective, sharesOf } from '../../src/slo/composite.ts';
import { SLICE_PARTS } from '../../src/slo/slices.ts';
import type { Slicing } from '../../src/slo/slo.ts';
import { memberOf } from '../support/composite.ts';
import { MINUTE } from '../support/raw-cells.ts';
import { ratioTimeslices, timeslices } from '../support/sliced.ts';

describe('the budget of a composite of events', () => {
  test('two members of 99 % have 99.5 %, so that an outage of one burns 100x, of both 200x', () => {
    const members = [memberOf('a', '0.99'), memberOf('b', '0.99')];
    const objective = compositeObjective(members);
    assert.equal(objective.text, '0.995');
    assert.deepEqual(sharesOf(members), [0.5, 0.5]);
    assert.equal(budgetRatioOf(objective).value, 0.005);
  });

  test('for any members: the mean by shares over the budget is the sum of weighted burns', () => {
    const member = fc.tuple(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 1, max: 500 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(member, { minLength: 1, maxLength: 5 }), (all) => {
        const texts = all.map(
          ([units, weight]) => [`0.${String(units).padStart(4, '0')}`, String(weight / 100)] as const,
        );
        const members = texts.map(([target, weight], index) => memberOf(`m${index}`, target, weight));
        const shares = sharesOf(members);
        const mean = all.reduce((sum, [, , ratio], index) => sum + ratio * (shares[index] ?? 0), 0);
        const expected = all.reduce(
          (sum, [units, weight, ratio]) => sum + ((weight / 100) * ratio) / (1 - units / 10_000),
          0,
        );
        const burn = mean / budgetRatioOf(compositeObjective(members)).value;
        assert.ok(Math.abs(burn - expected) <= 1e-9 * (1 + expected), `${burn} is not ${expected}`);
      }),
    );
  });
});

describe('a slice of a composite', () => {
  const members = [
    { ...memberOf('a', '0.99'), sliceTarget: targetOf('0.9') },
    { ...memberOf('b', '0.99', '0.5'), sliceTarget: targetOf('0.5') },
  ];
  const by = (slicing: Slicing, events: Parameters<typeof badOfSlices>[2]) => badOfSlices(slicing, members, events);

  test('is bad if it is for any member, each by its own target', () => {
    const slicing = timeslices(MINUTE, '0.9') as Slicing;
    assert.equal(
      by(slicing, [
        { bad: 1, total: 10 },
        { bad: 5, total: 10 },
      ]),
      0,
    );
    assert.equal(
      by(slicing, [
        { bad: 2, total: 10 },
        { bad: 0, total: 10 },
      ]),
      1,
    );
    assert.equal(
      by(slicing, [
        { bad: 0, total: 10 },
        { bad: 6, total: 10 },
      ]),
      1,
    );
    assert.equal(by(slicing, [null, { bad: 0, total: 0 }]), 0);
  });

  test('misses by ratio what its members miss, times their weights: 95 % and 95 % are 90 %, to the whole at most', () => {
    const slicing = ratioTimeslices(MINUTE) as Slicing;
    const equal = [memberOf('a', '0.99'), memberOf('b', '0.99')];
    assert.equal(
      badOfSlices(slicing, equal, [
        { bad: 5, total: 100 },
        { bad: 50, total: 1000 },
      ]),
      SLICE_PARTS / 10,
    );
    assert.equal(
      by(slicing, [
        { bad: 5, total: 100 },
        { bad: 5, total: 100 },
      ]),
      (SLICE_PARTS * 75) / 1000,
    );
    assert.equal(
      by(slicing, [
        { bad: 9, total: 10 },
        { bad: 9, total: 10 },
      ]),
      SLICE_PARTS,
    );
  });
});

function targetOf(text: string) {
  const slicing = timeslices(MINUTE, text);
  assert.ok(slicing.kind === 'timeslices');
  return slicing.target;
}
