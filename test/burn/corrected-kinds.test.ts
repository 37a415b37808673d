import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CorrectionBook } from '../../src/aggregate/correction-book.ts';
import { present } from '../../src/base/assert.ts';
import { epochMs } from '../../src/base/units.ts';
import { correctionEffect } from '../../src/burn/correction-effect.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import { compositeSlo, Journey, memberOf } from '../support/composite.ts';
import { bookOf, correctionOf, undone } from '../support/corrections.ts';
import type { Fed } from '../support/fed.ts';
import { DAY, HOUR, MINUTE, sloOf, T0 } from '../support/raw-cells.ts';
import { ratioTimeslices, Sliced, slicedSlo, timeslices } from '../support/sliced.ts';

const near = (actual: number | null | undefined, expected: number, what: string): void =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) <= 1e-9, `${what}: ${actual}, ${expected}`);

function statusOf({ aggregate }: Fed, book: CorrectionBook, now: number): GroupStatus {
  const { statuses } = createBurnEngine().evaluate(book.over(aggregate, epochMs(now)), epochMs(now));
  return present(statuses[0], 'status');
}

describe('what a correction leaves out', () => {
  test('of a composite is left out of each member: burns and spend add up as without it', () => {
    const targets = ['0.99', '0.999'];
    const whole = new Journey(compositeSlo(targets.map((target, index) => memberOf(`m${index}`, target))));
    const alone = targets.map((target) => new Journey(sloOf({ target })));
    const now = T0 + HOUR;
    const count = (from: number, to: number, failing: readonly number[]): void => {
      for (const [index, one] of alone.entries()) {
        const total = ((to - from) / MINUTE) * 100 * (index + 1);
        const bad = Math.round(total * (failing[index] ?? 0));
        whole.count(index, from, to, bad, total);
        one.count(null, from, to, bad, total);
      }
    };
    for (let at = T0 - 20 * DAY; at < T0; at += HOUR) count(at, at + HOUR, [0.001, 0]);
    for (let at = T0; at < now; at += MINUTE) count(at, at + MINUTE, at < T0 + 20 * MINUTE ? [0.5, 0.25] : [0.02, 0]);
    for (const one of [whole, ...alone]) one.hear(now);

    const work = correctionOf(1, T0, T0 + 20 * MINUTE);
    const [plain, corrected] = [bookOf(), bookOf(work)];
    const members = alone.map((one) => statusOf(one, corrected, now));
    const status = statusOf(whole, corrected, now);
    for (const [name, burn] of status.burn) {
      const sum = members.reduce((total, one) => total + (one.burn.get(name) ?? 0), 0);
      near(burn, sum, name);
    }
    const spent = members.reduce((sum, { budgetRemaining }) => sum + 1 - (budgetRemaining ?? 1), 0);
    near(status.budgetRemaining, 1 - spent, 'budget');
    assert.deepEqual(status.leftOut, { good: 4000, bad: 2000, corrections: [1] });
    // 50 failed of 100 each minute, and 50 of 200.
    const before = statusOf(whole, plain, now);
    assert.deepEqual([status.bad, status.total, status.sli], [before.bad, before.total, before.sli]);
    assert.ok((before.budgetRemaining ?? 1) < (status.budgetRemaining ?? 0));
    const counts = ({ members: own }: GroupStatus) => own?.map(({ bad, total, sli }) => [bad, total, sli]);
    assert.deepEqual(counts(status), counts(before), 'what members counted stays, too');
    const ofMembers = status.members?.reduce((sum, one) => sum + (one.spent ?? 0), 0);
    near(ofMembers, spent, 'spent by members');
    assert.deepEqual(statusOf(whole, bookOf(undone(work)), now), before);
  });

  test('of slices are those that end within', () => {
    const sliced = new Sliced(slicedSlo(timeslices(MINUTE), { target: '0.99' }));
    const now = T0 + HOUR;
    for (let at = T0 - DAY; at < now; at += MINUTE) {
      const isOut = at >= T0 && at < T0 + 20 * MINUTE;
      sliced.add(at, at + MINUTE, isOut ? 75 : 0, 100);
    }
    sliced.hear(now);
    const work = correctionOf(1, T0, T0 + 15 * MINUTE);
    const before = statusOf(sliced, bookOf(), now);
    const after = statusOf(sliced, bookOf(work), now);
    assert.deepEqual(after.leftOut, { good: 0, bad: 15, corrections: [1] });
    assert.deepEqual([after.bad, after.total], [20, 1500]);
    const book = bookOf(work);
    const [group] = sliced.aggregate.groups();
    assert.ok(group !== undefined);
    const feed = sliced.aggregate.feed(group, epochMs(now));
    const effect = correctionEffect(1, book.view(group, epochMs(now)), group, feed, epochMs(now));
    assert.deepEqual([effect?.good, effect?.bad, effect?.before], [0, 15, before.budgetRemaining]);
    assert.equal(effect?.after, after.budgetRemaining);
    // 5 of the 45 slices of the hour that count.
    near(after.burn.get('1h'), 5 / 45 / 0.01, '1h');
    near(before.burn.get('1h'), 20 / 60 / 0.01, '1h before');
    assert.deepEqual(statusOf(sliced, bookOf(undone(work)), now), before);
  });

  test('of slices by their ratios is told in slices, not in the parts in which they are kept', () => {
    const sliced = new Sliced(slicedSlo(ratioTimeslices(MINUTE), { target: '0.99' }));
    const now = T0 + HOUR;
    for (let at = T0 - DAY; at < now; at += MINUTE) sliced.add(at, at + MINUTE, at < T0 ? 0 : 75, 100);
    sliced.hear(now);
    const book = bookOf(correctionOf(1, T0, T0 + 15 * MINUTE));
    const [group] = sliced.aggregate.groups();
    assert.ok(group !== undefined);
    const feed = sliced.aggregate.feed(group, epochMs(now));
    const effect = correctionEffect(1, book.view(group, epochMs(now)), group, feed, epochMs(now));
    assert.deepEqual([effect?.good, effect?.bad], [3.75, 11.25]);
    assert.deepEqual(statusOf(sliced, book, now).leftOut, { good: 3.75, bad: 11.25, corrections: [1] });
  });

  test('is that of the moment at which a tick began: one made during its steps waits for the next', () => {
    const sliced = new Sliced(slicedSlo(timeslices(MINUTE), { target: '0.99' }));
    sliced.add(T0, T0 + MINUTE, 1, 1);
    sliced.hear(T0 + MINUTE);
    const book = bookOf(correctionOf(1, T0 - DAY, T0 - HOUR));
    const cells = book.over(sliced.aggregate, epochMs(T0 + MINUTE));
    book.replace([]);
    assert.deepEqual(
      [...cells.groups()].map(({ corrected }) => corrected?.exclusion.sources.map(({ id }) => id)),
      [[1]],
    );
  });
});
