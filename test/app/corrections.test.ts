import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCorrections } from '../../src/app/corrections.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import type { CorrectionOutcome, CorrectionRequest, RecurrenceView } from '../../src/model/views.ts';
import { createMemoryCorrections } from '../../src/store/memory-corrections.ts';
import { bookOf } from '../support/corrections.ts';
import { at, DAY, HOUR, MINUTE, RawCells, RawGroup, sloOf, T0 } from '../support/raw-cells.ts';

const iso = (after: number): string => new Date(T0 + after).toISOString();
const WEEKLY: RecurrenceView = {
  weekdays: ['mon'],
  start: '02:00',
  durationSeconds: 7200,
  zone: 'Europe/Berlin',
  firstDate: '2026-03-02',
  lastDate: null,
};

function setUp() {
  // 0.5 of the budget goes in an hour of errors five days ago.
  const group = new RawGroup(sloOf()).steady(-31 * DAY, 0, 0, 100, MINUTE);
  group.steady(-5 * DAY, -5 * DAY + HOUR, 36, 0, MINUTE);
  const cells = new RawCells(group);
  const book = bookOf();
  const store = createMemoryCorrections();
  const corrections = createCorrections({ store, book, cells, slos: () => new Set([group.slo.id]) });
  const request = (over: Partial<CorrectionRequest> = {}): CorrectionRequest => ({
    kind: 'not_our_fault',
    reason: 'the cloud was down',
    by: 'ana',
    slos: [group.slo.id],
    matchers: [],
    from: iso(-5 * DAY),
    to: iso(-5 * DAY + HOUR),
    recurring: null,
    ...over,
  });
  const left = (): number | null => {
    cells.reveal(at(0));
    return createBurnEngine().evaluate(book.over(cells, at(0)), at(0)).statuses[0]?.budgetRemaining ?? null;
  };
  return { cells, book, store, corrections, request, left };
}

const done = (outcome: CorrectionOutcome) => {
  assert.equal(outcome.kind, 'done', JSON.stringify(outcome));
  return (outcome as Extract<CorrectionOutcome, { kind: 'done' }>).correction;
};

describe('corrections as people make them', () => {
  test('answer with what they take out and what that does to the budget; undone, all is as before', () => {
    const { corrections, request, left } = setUp();
    assert.equal(left(), 0.5);
    const preview = corrections.preview(request(), at(0));
    assert.ok(!('kind' in preview));
    assert.deepEqual([preview.effects[0]?.budgetBefore, preview.effects[0]?.budgetAfter], [0.5, 1]);
    assert.equal(left(), 0.5);
    assert.deepEqual(corrections.list({ state: null, cursor: null, limit: 9 }, at(0)).items, []);
    assert.deepEqual(corrections.preview(request({ to: null }), at(0)), {
      kind: 'bad_field',
      field: 'to',
      message: 'is needed, an RFC 3339 time; "end" can bring it forward',
    });
    const made = done(corrections.create(request(), at(0)));
    assert.deepEqual([made.id, made.state, made.groups, made.effects.length], [1, 'over', 1, 1]);
    assert.deepEqual(
      { ...made.effects[0], labels: { ...made.effects[0]?.labels } },
      {
        slo: 'checkout-availability',
        labels: { 'lb.upstream.cluster': 'checkout' },
        good: 60 * 64,
        bad: 60 * 36,
        budgetBefore: 0.5,
        budgetAfter: 1,
      },
    );
    assert.equal(left(), 1);

    const half = corrections.preview(request({ to: iso(-5 * DAY + 30 * MINUTE) }), at(MINUTE));
    assert.ok(!('kind' in half));
    assert.deepEqual([half.groups, half.effects[0]?.bad, half.effects[0]?.budgetAfter], [1, 1080, 1]);
    assert.equal(left(), 1);

    // A second one over half of the same time: each shows its own events; the budget is that of both.
    const other = done(corrections.create(request({ to: iso(-5 * DAY + 30 * MINUTE) }), at(MINUTE)));
    assert.deepEqual(
      [other.effects[0]?.bad, other.effects[0]?.budgetBefore, other.effects[0]?.budgetAfter],
      [1080, 1, 1],
    );
    const gone = done(corrections.change(1, { kind: 'undo', by: 'bob', reason: 'it was us' }, at(2 * MINUTE)));
    assert.deepEqual([gone.state, gone.groups, gone.effects, gone.undone?.by], ['undone', 0, [], 'bob']);
    assert.ok((left() ?? 1) < 0.76 && (left() ?? 0) > 0.74, `${left()}`);
    done(corrections.change(2, { kind: 'undo', by: 'bob', reason: 'it was us' }, at(3 * MINUTE)));
    assert.equal(left(), 0.5);
    assert.deepEqual(
      gone.audit.map(({ at: when, by, action, note }) => [when, by, action, note]),
      [
        [iso(0), 'ana', 'correction.create', 'the cloud was down'],
        [iso(2 * MINUTE), 'bob', 'correction.undo', 'it was us'],
      ],
    );
    const again = corrections.change(1, { kind: 'undo', by: 'eve', reason: 'x' }, at(4 * MINUTE));
    assert.deepEqual(again.kind, 'conflict');
    assert.equal(corrections.change(7, { kind: 'undo', by: 'eve', reason: 'x' }, at(0)).kind, 'not_found');
  });

  test('are taken up from the store', () => {
    const { cells, store, corrections, request } = setUp();
    corrections.create(request(), at(0));
    const book = bookOf();
    const again = createCorrections({ store, book, cells, slos: () => new Set() });
    assert.deepEqual(again.detail(1, at(0)), corrections.detail(1, at(0)));
    assert.equal(again.detail(1, at(0))?.groups, 1);
  });

  test('go from scheduled over active to over; ended, the rest counts again', () => {
    const { corrections, request, book, cells } = setUp();
    const made = done(corrections.create(request({ from: iso(HOUR), to: iso(3 * HOUR) }), at(0)));
    const states = [0, HOUR, 2 * HOUR, 3 * HOUR].map((after) => corrections.detail(made.id, at(after))?.state);
    assert.deepEqual(states, ['scheduled', 'active', 'active', 'over']);
    const ended = done(corrections.change(1, { kind: 'end', by: 'ana', reason: 'done' }, at(2 * HOUR)));
    assert.deepEqual([ended.state, ended.to, ended.ended?.at], ['over', iso(3 * HOUR), iso(2 * HOUR)]);
    const [view] = book.over(cells, at(3 * HOUR)).groups();
    assert.deepEqual(view?.corrected?.exclusion.ranges, [{ start: T0 + HOUR, end: T0 + 2 * HOUR }]);
    assert.equal(corrections.change(1, { kind: 'end', by: 'ana', reason: 'x' }, at(2.5 * HOUR)).kind, 'conflict');
  });

  test('that recur say when they come next, and stop coming once ended', () => {
    const { corrections, request } = setUp();
    const made = done(corrections.create(request({ from: null, to: null, recurring: WEEKLY }), at(0)));
    // T0 is Monday 2 March 00:00 UTC; 02:00 of Berlin is 01:00.
    assert.deepEqual([made.state, made.next], ['scheduled', { from: iso(HOUR), to: iso(3 * HOUR) }]);
    assert.deepEqual(made.recurring, WEEKLY);
    assert.equal(corrections.detail(1, at(2 * HOUR))?.state, 'active');
    assert.deepEqual(corrections.detail(1, at(4 * HOUR))?.next?.from, iso(7 * DAY + HOUR));
    // Behind the change to summer time it comes an hour earlier in UTC.
    assert.deepEqual(corrections.detail(1, at(22 * DAY))?.next?.from, iso(28 * DAY));
    const ended = done(corrections.change(1, { kind: 'end', by: 'ana', reason: 'moved' }, at(2 * DAY)));
    assert.deepEqual([ended.state, ended.next], ['over', null]);
    const last = done(
      corrections.create(request({ from: null, to: null, recurring: { ...WEEKLY, lastDate: '2026-03-09' } }), at(0)),
    );
    assert.deepEqual(
      [6, 8].map((day) => corrections.detail(last.id, at(day * DAY))?.state),
      ['scheduled', 'over'],
    );
  });

  test('are listed newest first, by state, page by page', () => {
    const { corrections, request } = setUp();
    for (let index = 0; index < 5; index += 1) done(corrections.create(request(), at(index)));
    corrections.change(2, { kind: 'undo', by: 'a', reason: 'b' }, at(9));
    const list = (state: 'over' | null, cursor: string | null) => {
      const { items, next } = corrections.list({ state, cursor, limit: 2 }, at(10));
      return [...items.map(({ id }) => id), next];
    };
    assert.deepEqual(list(null, null), [5, 4, '4']);
    assert.deepEqual(list(null, '4'), [3, 2, '2']);
    assert.deepEqual(list(null, '2'), [1, null]);
    assert.deepEqual(list('over', '4'), [3, 1, null]);
  });

  test('that cannot be meant are refused by the field, and nothing is kept', () => {
    const { corrections, request, store } = setUp();
    const recurring = (over: Partial<RecurrenceView>): Partial<CorrectionRequest> => ({
      from: null,
      to: null,
      recurring: { ...WEEKLY, ...over },
    });
    for (const [over, field] of [
      [{ reason: ' ' }, 'reason'],
      [{ slos: [] }, 'slos'],
      [{ slos: ['checkout-availabilty'] }, 'slos'],
      [{ matchers: ['team=edge', 'zone'] }, 'matchers'],
      [{ matchers: ['team=~"("'] }, 'matchers'],
      [{ from: null }, 'from'],
      [{ to: null }, 'to'],
      [{ from: 'yesterday' }, 'from'],
      [{ to: '2026-03-01' }, 'to'],
      [{ to: iso(-5 * DAY) }, 'to'],
      [{ to: iso(401 * DAY), from: iso(400 * DAY) }, 'to'],
      [{ to: iso(362 * DAY) }, 'to'],
      [{ recurring: WEEKLY }, 'from'],
      [{ recurring: WEEKLY, from: null }, 'to'],
      [recurring({ start: '24:00' }), 'recurring.start'],
      [recurring({ start: '2:00' }), 'recurring.start'],
      [recurring({ weekdays: [] }), 'recurring.weekdays'],
      [recurring({ durationSeconds: 0 }), 'recurring.durationSeconds'],
      [recurring({ durationSeconds: 8 * 86_400 }), 'recurring.durationSeconds'],
      [recurring({ zone: 'Europe/Bielefeld' }), 'recurring.zone'],
      [recurring({ firstDate: '2026-02-30' }), 'recurring.firstDate'],
      [recurring({ lastDate: 'never' }), 'recurring.lastDate'],
      [recurring({ lastDate: '2026-03-01' }), 'recurring.lastDate'],
    ] as const) {
      const outcome = corrections.create(request(over), at(0));
      assert.equal(outcome.kind === 'bad_field' && outcome.field, field, JSON.stringify([over, outcome]));
    }
    assert.deepEqual(store.list(), []);
  });

  test('for many groups show the first 200 effects and how many there are', () => {
    const groups = Array.from({ length: 250 }, () => new RawGroup(sloOf()).add(0, 1, 10));
    const cells = new RawCells(...groups);
    const book = bookOf();
    const slos = () => new Set(['checkout-availability']);
    const corrections = createCorrections({ store: createMemoryCorrections(), book, cells, slos });
    const { request } = setUp();
    const made = done(corrections.create(request({ from: iso(-HOUR), to: iso(HOUR) }), at(MINUTE)));
    assert.deepEqual([made.groups, made.effects.length], [250, 200]);
  });
});
