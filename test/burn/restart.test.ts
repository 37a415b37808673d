import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { type BurnRecord, type BurnTick, createBurnEngine } from '../../src/burn/engine.ts';
import { type GroupAlertState, INACTIVE, nextState, parseState } from '../../src/burn/group-state.ts';
import { cellsOf, DAY, FakeGroup, HOUR, MINUTE, STEP, sloOf, WORKBOOK } from '../support/fake-cells.ts';

/** A clean month, then `forMs` at 15 % errors with a tick each step; what it stored. */
function burned(forMs: number): { group: FakeGroup; stored: readonly BurnRecord[]; last: BurnTick } {
  const group = new FakeGroup(sloOf(WORKBOOK));
  group.pushFor(30 * DAY, () => [0, 100]);
  const engine = createBurnEngine();
  const stored = new Map<string, string>();
  let last = engine.evaluate(cellsOf(group), group.end);
  for (let passed = 0; passed < forMs; passed += STEP) {
    group.push(15, 100);
    last = engine.evaluate(cellsOf(group), group.end);
    for (const { key, value } of last.stored) stored.set(key, value);
    for (const key of last.removed) stored.delete(key);
  }
  return { group, stored: [...stored].map(([key, value]) => ({ key, value })), last };
}

function restored(records: readonly BurnRecord[]): ReturnType<typeof createBurnEngine> {
  const engine = createBurnEngine();
  engine.restore(records);
  return engine;
}

describe('what is stored of a group', () => {
  test('one record while it fires, and none once it has ended', () => {
    const { group, stored } = burned(10 * MINUTE);
    assert.deepEqual(
      stored.map(({ key }) => key.startsWith('burn/')),
      [true],
    );
    const engine = restored(stored);
    group.pushFor(10 * MINUTE, () => [0, 100]);
    const { removed } = engine.evaluate(cellsOf(group), group.end);
    assert.deepEqual(removed, [stored[0]?.key]);
  });

  test('when the burn set in is remembered, and what it has spent since goes on', () => {
    const { group, stored, last } = burned(10 * MINUTE);
    const { alert } = JSON.parse(stored[0]?.value ?? '') as {
      alert: { burn: { burningSince: number; spent: number } };
    };
    assert.ok(alert.burn.burningSince < (last.statuses[0]?.since ?? 0));
    const engine = restored(stored);
    group.pushFor(2 * MINUTE, () => [15, 100]);
    const figures = engine.evaluate(cellsOf(group), group.end).changes.map(({ alert: { burn } }) => burn);
    assert.equal(figures[0]?.burningSince, alert.burn.burningSince);
    assert.ok((figures[0]?.spent ?? 0) > alert.burn.spent);
  });

  test('an alert that fired before a restart does not fire again and keeps its beginning', () => {
    const { group, stored, last } = burned(10 * MINUTE);
    const since = last.statuses[0]?.since;
    group.push(15, 100);
    const { changes, statuses } = restored(stored).evaluate(cellsOf(group), group.end);
    assert.deepEqual(
      changes.filter(({ kind }) => kind === 'fired'),
      [],
    );
    assert.equal(statuses[0]?.since, since);
    assert.ok(typeof since === 'number' && since < group.end);
  });

  test('an alert that recovered while nobody looked is resolved at the first tick after the restart', () => {
    const { group, stored } = burned(10 * MINUTE);
    group.pushFor(HOUR, () => [0, 100]);
    const { changes } = restored(stored).evaluate(cellsOf(group), group.end);
    assert.deepEqual(
      changes.map((change) => [change.kind, change.kind === 'resolved' && change.reason, change.alert.tier]),
      [['resolved', 'recovered', '50h']],
    );
  });

  test('an alert whose group fell silent for a day meanwhile is closed as retired', () => {
    const { group, stored } = burned(10 * MINUTE);
    const cells = cellsOf(group, { reporting: false, coverage: 0 });
    const { changes } = restored(stored).evaluate(cells, epochMs(group.end + DAY));
    assert.deepEqual(
      changes.map((change) => change.kind === 'resolved' && change.reason),
      ['retired'],
    );
  });

  test('a record that cannot be read, or is of somebody else, is passed over', () => {
    for (const value of ['', '{', 'null', '7', '"firing"', '{"kind":"other"}'])
      assert.equal(parseState(value), INACTIVE, value);
    const { group, stored } = burned(10 * MINUTE);
    const foreign = stored.map(({ key, value }) => ({ key: key.replace('burn/', 'detector/'), value }));
    group.push(15, 100);
    const { changes } = restored(foreign).evaluate(cellsOf(group), group.end);
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['fired'],
    );
  });
});

describe('the next state of a group', () => {
  const [page, second, ticket] = WORKBOOK.tiers;
  assert.ok(page !== undefined && second !== undefined && ticket !== undefined);
  const at = (minutes: number): EpochMs => epochMs(1_000 * DAY + minutes * MINUTE);
  const fired = nextState(INACTIVE, WORKBOOK, [second, ticket], 1, at(0));
  const severityOf = (state: GroupAlertState): string | null => (state.kind === 'firing' ? state.severity : null);

  test('a page becomes a ticket 5 min after its last page tier, to the millisecond', () => {
    assert.equal(severityOf(fired), 'page');
    assert.equal(severityOf(nextState(fired, WORKBOOK, [ticket], 1, epochMs(at(5) - 1))), 'page');
    assert.equal(severityOf(nextState(fired, WORKBOOK, [ticket], 1, at(5))), 'ticket');
  });

  test('a page tier that comes back within them starts the 5 min anew', () => {
    const gone = nextState(fired, WORKBOOK, [ticket], 1, at(4));
    const back = nextState(gone, WORKBOOK, [second, ticket], 1, at(4.5));
    assert.equal(severityOf(nextState(back, WORKBOOK, [ticket], 1, at(9))), 'page');
    assert.equal(severityOf(nextState(back, WORKBOOK, [ticket], 1, at(9.5))), 'ticket');
  });

  test('with no tier holding it ends at once, page or not', () => {
    assert.equal(nextState(fired, WORKBOOK, [], 1, at(0.2)), INACTIVE);
  });

  test('the tier is the highest of the episode and rises, never falls', () => {
    const tierOf = (state: GroupAlertState): string | null => (state.kind === 'firing' ? state.tier : null);
    const risen = nextState(fired, WORKBOOK, [page, ticket], 1, at(1));
    const fallen = nextState(risen, WORKBOOK, [ticket], 1, at(2));
    assert.deepEqual([fired, risen, fallen].map(tierOf), ['5d', '50h', '50h']);
    assert.equal(fallen.kind === 'firing' && fallen.since, at(0));
  });

  test('below the coverage it fired on, tiers that held go on holding', () => {
    const half = nextState(fired, WORKBOOK, [], 0.5, at(1));
    assert.deepEqual(half.kind === 'firing' && half.holding, ['5d', '10d']);
    assert.equal(nextState(half, WORKBOOK, [], 1, at(2)), INACTIVE);
  });
});
