import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { present } from '../../src/base/assert.ts';
import { epochMs } from '../../src/base/units.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import { ALERT } from '../../src/model/conventions.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { compositeSlo, Journey, memberOf } from '../support/composite.ts';
import { DAY, HOUR, MINUTE, sloOf, T0 } from '../support/raw-cells.ts';
import { ratioTimeslices, timeslices } from '../support/sliced.ts';

const near = (actual: number | null | undefined, expected: number, what: string): void =>
  assert.ok(
    Math.abs((actual ?? Number.NaN) - expected) <= 1e-9 * (1 + Math.abs(expected)),
    `${what}: ${actual}, ${expected}`,
  );

/** The SLO that a member would be by itself. */
const aloneOf = (target: string, policy: 'workbook' | 'countdown' = 'workbook'): Slo => sloOf({ target, policy });

/** Per member and minute. */
type Traffic = (member: number, minute: number) => readonly [bad: number, total: number];

/** A composite and its members by themselves, over the same traffic of 40 days in steps of an hour, then of minutes. */
function journeys(
  targets: readonly (readonly [string, string])[],
  traffic: Traffic,
  minutes: number,
  policy: 'workbook' | 'countdown' = 'workbook',
) {
  const members = targets.map(([target, weight], index) => memberOf(`m${index}`, target, weight));
  const whole = new Journey(compositeSlo(members, { policy }));
  const alone = targets.map(([target]) => new Journey(aloneOf(target, policy)));
  const add = (from: number, to: number, minute: number): void => {
    for (const [index, one] of alone.entries()) {
      const [bad, total] = traffic(index, minute).map((count) => (count * (to - from)) / MINUTE) as [number, number];
      if (total === 0) continue;
      whole.count(index, from, to, bad, total);
      one.count(null, from, to, bad, total);
    }
  };
  for (let at = T0 - 40 * DAY; at < T0; at += HOUR) add(at, at + HOUR, (at - T0) / MINUTE);
  for (let minute = 0; minute < minutes; minute += 1) add(T0 + minute * MINUTE, T0 + (minute + 1) * MINUTE, minute);
  const now = T0 + minutes * MINUTE;
  return { whole, now, status: whole.status(now), alone: alone.map((one) => one.status(now)) };
}

function checkSums(status: GroupStatus, alone: readonly GroupStatus[], weights: readonly number[]): void {
  for (const [name, burn] of status.burn) {
    const burns = alone.map((one) => one.burn.get(name) ?? null);
    if (burns.every((one) => one === null)) assert.equal(burn, null, name);
    else
      near(
        burn,
        burns.reduce<number>((sum, one, index) => sum + (one ?? 0) * (weights[index] ?? 0), 0),
        name,
      );
  }
  if (alone.every(({ budgetRemaining }) => budgetRemaining === null)) {
    assert.equal(status.budgetRemaining, null);
    return;
  }
  const spent = alone.map(({ budgetRemaining }) => 1 - (budgetRemaining ?? 1));
  near(
    status.budgetRemaining,
    1 - spent.reduce((sum, one, index) => sum + one * (weights[index] ?? 0), 0),
    'remaining',
  );
}

describe('a composite of events burns what its members burn, times their weights', () => {
  test('over every window and of the budget, for any traffic', () => {
    const member = fc.record({
      target: fc.constantFrom('0.9', '0.99', '0.999', '0.995'),
      weight: fc.constantFrom('1', '0.5', '3', '2.25'),
      rate: fc.constantFrom(0, 1, 60, 6000),
      failing: fc.integer({ min: 0, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(member, { minLength: 1, maxLength: 4 }), (all) => {
        const { status, alone } = journeys(
          all.map(({ target, weight }) => [target, weight]),
          (index, minute) => {
            const { rate = 0, failing = 0 } = all[index] ?? {};
            return [minute >= 60 - failing ? rate : 0, rate];
          },
          60,
        );
        checkSums(
          status,
          alone,
          all.map(({ weight }) => Number(weight)),
        );
      }),
      { numRuns: 25 },
    );
  });

  test('of a single member it is that member: the same tiers, budget and time to exhaustion', () => {
    for (const policy of ['workbook', 'countdown'] as const) {
      for (const bad of [0, 1, 3, 20]) {
        const { status, alone } = journeys([['0.999', '1']], (_, minute) => [minute < 0 ? 0 : bad, 1000], 90, policy);
        const [own] = alone;
        assert.deepEqual(status.tiersHolding, own?.tiersHolding, `${policy} ${bad}`);
        near(status.budgetRemaining, own?.budgetRemaining ?? Number.NaN, 'remaining');
        near(status.sli, own?.sli ?? Number.NaN, 'sli');
        assert.deepEqual([status.bad, status.total], [own?.bad, own?.total]);
        for (const key of ['until', 'low', 'high', 'pace'] as const) {
          const [found, wanted] = [status.exhaustion[key], own?.exhaustion[key] ?? null];
          if (wanted === null) assert.equal(found, null, key);
          else assert.ok(Math.abs((found ?? Number.NaN) - wanted) <= 2, `${key}: ${found}, ${wanted}`);
        }
      }
    }
  });

  test('an outage of one of two members of 99 % burns 100x, of both 200x', () => {
    const outage = (down: readonly number[]) =>
      journeys(
        [
          ['0.99', '1'],
          ['0.99', '1'],
        ],
        (index, minute) => [minute >= 0 && down.includes(index) ? 10 : 0, 10],
        10,
      ).status;
    near(outage([0]).burn.get('5m'), 100, 'one');
    near(outage([0, 1]).burn.get('5m'), 200, 'both');
  });

  test('a member without traffic burns nothing, changes nothing for the others, and is told as such', () => {
    const { status, alone } = journeys(
      [
        ['0.99', '1'],
        ['0.9', '2'],
      ],
      (index) => (index === 0 ? [1, 100] : [0, 0]),
      30,
    );
    near(status.burn.get('1h'), alone[0]?.burn.get('1h') ?? Number.NaN, 'burn');
    near(status.budgetRemaining, alone[0]?.budgetRemaining ?? Number.NaN, 'remaining');
    const [busy, idle] = present(status.members ?? undefined, 'members');
    assert.deepEqual([idle?.total, idle?.sli, idle?.spent], [0, null, null]);
    near(busy?.sli, alone[0]?.sli ?? Number.NaN, 'sli');
    near(busy?.spent, 1 - (alone[0]?.budgetRemaining ?? Number.NaN), 'spent');
  });

  test('one failure of a quiet member is no certainty because another member is busy', () => {
    const { status, alone } = journeys(
      [
        ['0.999', '1'],
        ['0.999', '1'],
      ],
      (index, minute) => (index === 0 ? [0, 60_000] : [minute === 50 ? 1 : 0, minute % 6 === 2 ? 1 : 0]),
      60,
      'countdown',
    );
    assert.deepEqual(alone[1]?.tiersHolding, []);
    assert.deepEqual(status.tiersHolding, []);
    assert.ok((status.burn.get('1h') ?? 0) > 50);
  });
});

describe('an alert of a composite', () => {
  test('is one, says which member eats the budget, and goes on over a restart', () => {
    const members = [memberOf('availability', '0.999'), memberOf('latency', '0.99')];
    const journey = new Journey(compositeSlo(members));
    for (let at = T0 - 2 * DAY; at < T0; at += HOUR)
      for (const one of [0, 1]) journey.count(one, at, at + HOUR, 0, 36_000);
    for (let minute = 0; minute < 20; minute += 1) {
      const [from, to] = [T0 + minute * MINUTE, T0 + (minute + 1) * MINUTE];
      journey.count(0, from, to, 60, 600);
      journey.count(1, from, to, 60, 600);
    }
    const { changes } = journey.tick(T0 + 20 * MINUTE);
    assert.equal(changes.length, 1);
    const alert = present(changes[0]?.alert, 'an alert');
    assert.equal(alert.name, ALERT.errorBudgetBurn);
    const eats = alert.evidence.find(({ name }) => name === 'members')?.text ?? '';
    assert.match(eats, /^of the burn: availability 91 % \(3\.3 % bad\), latency 9\.1 % \(3\.3 % bad\)$/);
    assert.match(alert.summary, /^3\.3 % of requests to its 2 members are bad, as weighted; /);
    assert.equal(alert.burn?.burningSince, T0);
    const before = journey.status(T0 + 20 * MINUTE);
    journey.restart();
    const after = journey.status(T0 + 20 * MINUTE);
    assert.deepEqual(
      [after.burn, after.members, after.budgetRemaining],
      [before.burn, before.members, before.budgetRemaining],
    );
  });

  test('edited targets and weights apply to what was counted before', () => {
    const members = [memberOf('a', '0.99'), memberOf('b', '0.99')];
    const journey = new Journey(compositeSlo(members));
    for (const one of [0, 1]) journey.count(one, T0 - HOUR, T0, 6, 600);
    near(journey.status(T0).burn.get('1h'), 2, 'before');
    const heavier = compositeSlo([memberOf('a', '0.99', '3'), memberOf('b', '0.9')]);
    journey.aggregate.replaceSlos([heavier]);
    near(journey.status(T0).burn.get('1h'), 3 + 0.1, 'after');
  });
});

describe('a composite in slices', () => {
  const sliced = (budgeting: ReturnType<typeof timeslices>): Journey => {
    const target = budgeting.kind === 'timeslices' ? budgeting.target : null;
    const members = [memberOf('a', '0.95'), memberOf('b', '0.95')].map((one) => ({ ...one, sliceTarget: target }));
    return new Journey({ ...sloOf({ target: '0.95' }), indicator: { kind: 'composite', members }, budgeting });
  };

  test('counts a minute that was bad for any member once, and one of which only one member has data', () => {
    const journey = sliced(timeslices(MINUTE, '0.9'));
    for (let minute = 0; minute < 60; minute += 1) {
      const [from, to] = [T0 + minute * MINUTE, T0 + (minute + 1) * MINUTE];
      journey.count(0, from, to, minute < 10 ? 5 : 0, 10);
      if (minute < 40) journey.count(1, from, to, minute >= 5 && minute < 15 ? 5 : 0, 10);
    }
    const { bad, total, members } = journey.status(T0 + HOUR);
    assert.deepEqual([bad, total], [15, 60]);
    assert.deepEqual(
      members?.map((one) => [one.name, one.bad, one.total, one.spent]),
      [
        ['a', 50, 600, null],
        ['b', 50, 400, null],
      ],
    );
  });

  test('by ratio, 95 % and 95 % are 90 %; late data of a member judge the slice again, and restarts keep it', () => {
    const journey = sliced(ratioTimeslices(MINUTE));
    for (let minute = 0; minute < 60; minute += 1) {
      const [from, to] = [T0 + minute * MINUTE, T0 + (minute + 1) * MINUTE];
      for (const member of [0, 1]) journey.count(member, from, to, 1, 20);
    }
    near(journey.status(T0 + HOUR).sli, 0.9, 'sli');
    journey.restart();
    journey.count(1, T0, T0 + MINUTE, 20, 20);
    const first = journey.group.range(epochMs(T0), epochMs(T0 + MINUTE));
    near(first.bad / first.total, 1 / 20 + 21 / 40, 'first minute');
    near(journey.status(T0 + HOUR).bad, 59 * 0.1 + 1 / 20 + 21 / 40, 'all');
  });
});

test('a threshold that the weighted burns reach exactly is reached', () => {
  // Thirds and sevenths of a percent that add up to 14.4 times the budget: 3 x 4.8.
  for (const count of [1, 2, 3, 6, 7]) {
    const members = Array.from({ length: count }, (_, index) => memberOf(`m${index}`, '0.99'));
    const journey = new Journey(compositeSlo(members));
    for (let minute = -60; minute < 0; minute += 1) {
      const [from, to] = [T0 + minute * MINUTE, T0 + (minute + 1) * MINUTE];
      for (let index = 0; index < count; index += 1) journey.count(index, from, to, 144, 1000 * count);
    }
    journey.count(0, T0 - 40 * DAY, T0 - 40 * DAY + MINUTE, 0, 1);
    const { tiersHolding, burn } = journey.status(T0);
    near(burn.get('1h'), 14.4, `${count}`);
    assert.ok(tiersHolding.includes('50h'), `${count} members: ${burn.get('1h')}`);
  }
});
