import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { createBurnEngine } from '../../src/burn/engine.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import type { AlertChange } from '../../src/model/alert.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { Policy } from '../../src/slo/slo.ts';
import { COUNTDOWN, cellsOf, DAY, FakeGroup, HOUR, MINUTE, STEP, sloOf, WORKBOOK } from '../support/fake-cells.ts';

type Step = readonly [bad: number, total: number];
const clean = (perStep: number) => (): Step => [0, perStep];

/** Runs ticks while `forMs` of steps arrive; returns changes with minutes since the start of this stretch. */
function live(
  engine: ReturnType<typeof createBurnEngine>,
  group: FakeGroup,
  forMs: number,
  step: (index: number) => Step,
) {
  const start = group.end;
  const changes: {
    minute: number;
    kind: AlertChange['kind'];
    severity: string;
    tier: string | null;
    holding: readonly string[];
  }[] = [];
  for (let index = 0; index < forMs / STEP; index += 1) {
    group.push(...step(index));
    for (const { kind, alert } of engine.evaluate(cellsOf(group), group.end).changes) {
      if (kind === 'updated') continue;
      changes.push({
        minute: (group.end - start) / MINUTE,
        kind,
        severity: alert.severity,
        tier: alert.tier,
        holding: alert.tiersHolding,
      });
    }
  }
  return changes;
}

function statusOf(group: FakeGroup): GroupStatus {
  const [status] = createBurnEngine().evaluate(cellsOf(group), group.end).statuses;
  assert.ok(status !== undefined);
  return status;
}

/** A month of the given steps. */
function month(policy: Policy, step: (index: number) => Step, target = '0.999'): FakeGroup {
  const group = new FakeGroup(sloOf(policy, target));
  group.pushFor(30 * DAY, step);
  return group;
}

const near = (actual: number | null | undefined, expected: number, within: number, what: string): void =>
  assert.ok(
    actual !== null && actual !== undefined && Math.abs(actual - expected) <= within,
    `${what}: ${actual}, not ${expected}`,
  );

describe('figures that must come out (99.9 %, 30 d)', () => {
  test('2 % steady is burn 20, pace 36 h, and a page', () => {
    const group = month(WORKBOOK, clean(100));
    group.pushFor(6 * HOUR, () => [2, 100]);
    const status = statusOf(group);
    near(status.burn.get('1h'), 20, 1e-9, 'burn');
    near(status.exhaustion.pace, 36 * HOUR, 1, 'pace');
    assert.equal(status.severity, 'page');
  });

  test('1.2x is a pace of 25 days and at most a ticket', () => {
    for (const policy of [WORKBOOK, COUNTDOWN]) {
      const group = month(policy, clean(1000));
      group.pushFor(4 * DAY, (index) => [index % 5 === 0 ? 6 : 0, 1000]);
      const status = statusOf(group);
      near(status.exhaustion.pace, 25 * DAY, DAY / 24, 'pace');
      assert.notEqual(status.severity, 'page');
    }
  });

  test('43.2 min of full outage is the whole budget; at 99.99 % 13 min are 3.0x of it', () => {
    const whole = month(WORKBOOK, (index) => (index >= 30 * 8640 - 259.2 ? [100, 100] : [0, 100]));
    near(statusOf(whole).budgetRemaining, 0, 1e-3, 'remaining');
    const four = month(WORKBOOK, (index) => (index >= 30 * 8640 - 78 ? [100, 100] : [0, 100]), '0.9999');
    near(statusOf(four).budgetRemaining, 1 - 13 / 4.32, 1e-2, 'remaining');
    assert.equal(statusOf(four).exhaustion.exhausted, true);
    assert.ok((statusOf(four).exhaustion.recoversAt ?? 0) > four.end);
  });

  test('clean history, then 15 % errors: workbook pages at 5.76 min and clears within 5 min of the end', () => {
    const group = month(WORKBOOK, clean(100));
    const engine = createBurnEngine();
    const fired = live(engine, group, 10 * MINUTE, () => [15, 100]);
    assert.deepEqual([fired[0]?.kind, fired[0]?.severity, fired[0]?.tier], ['fired', 'page', '50h']);
    near(fired[0]?.minute, 5.76, 1 / 6, 'minute');
    const cleared = live(engine, group, 10 * MINUTE, clean(100));
    assert.equal(cleared[0]?.kind, 'resolved');
    near(cleared[0]?.minute, 4.7, 0.3, 'cleared after');
  });

  test('countdown is silent about 1 failure in 10 requests an hour, and pages for 2', () => {
    for (const [failures, severity] of [
      [1, null],
      [2, 'page'],
    ] as const) {
      const group = month(COUNTDOWN, (index) => [0, index % 36 === 0 ? 1 : 0]);
      group.pushFor(HOUR, (index) => [
        index % 36 === 0 && index / 36 >= 10 - failures ? 1 : 0,
        index % 36 === 0 ? 1 : 0,
      ]);
      assert.equal(statusOf(group).severity, severity, `${failures} of 10`);
    }
  });

  test('a 30 min full outage at 120 requests a minute pages once, within a minute, under countdown', () => {
    const group = month(COUNTDOWN, clean(20));
    const engine = createBurnEngine();
    const during = live(engine, group, 30 * MINUTE, () => [20, 20]);
    assert.equal(during[0]?.severity, 'page');
    assert.ok((during[0]?.minute ?? 99) <= 1, `fired after ${during[0]?.minute} min`);
    const after = live(engine, group, 12 * HOUR, clean(20));
    const all = [...during, ...after];
    assert.equal(all.filter(({ kind }) => kind === 'fired').length, 1);
    const rises = all.filter((change, index) => change.severity === 'page' && all[index - 1]?.severity !== 'page');
    assert.equal(rises.length, 1);
  });

  test('an 18 s outage with half the budget spent says nothing', () => {
    const group = month(COUNTDOWN, (index) => [index % 20 === 0 ? 1 : 0, 100]);
    const changes = live(createBurnEngine(), group, HOUR, (index) => [
      index === 10 || index === 11 ? 90 : index % 20 === 0 ? 1 : 0,
      100,
    ]);
    assert.deepEqual(
      changes.filter(({ severity }) => severity === 'page'),
      [],
    );
  });
});

describe('states and holding', () => {
  const burning = (): { group: FakeGroup; engine: ReturnType<typeof createBurnEngine> } => {
    const group = month(WORKBOOK, clean(100));
    const engine = createBurnEngine();
    live(engine, group, 10 * MINUTE, () => [15, 100]);
    return { group, engine };
  };
  const tickAt = (engine: ReturnType<typeof createBurnEngine>, group: FakeGroup, now: EpochMs, feed = {}) =>
    engine.evaluate(cellsOf(group, feed), now);

  test('no balancer reporting is no_data, reporting without events is no_traffic, and neither has an sli there', () => {
    const empty = new FakeGroup(sloOf(WORKBOOK));
    empty.pushFor(HOUR, clean(0));
    const quiet = statusOf(empty);
    assert.deepEqual(
      [quiet.state, quiet.sli, quiet.budgetRemaining, quiet.exhaustion.until],
      ['no_traffic', null, null, null],
    );
    const lost = tickAt(createBurnEngine(), empty, empty.end, { reporting: false, coverage: 0 }).statuses[0];
    assert.equal(lost?.state, 'no_data');
  });

  test('no data is not recovery: the alert is held, and closed as retired after a day', () => {
    const { group, engine } = burning();
    const silent = { reporting: false, coverage: 0 };
    for (const hours of [1, 12, 23]) {
      assert.deepEqual(
        tickAt(engine, group, epochMs(group.end + hours * HOUR), silent).changes.filter(
          ({ kind }) => kind !== 'updated',
        ),
        [],
      );
    }
    const [change] = tickAt(engine, group, epochMs(group.end + DAY), silent).changes;
    assert.deepEqual([change?.kind, change?.kind === 'resolved' && change.reason], ['resolved', 'retired']);
  });

  test('nothing clears while fewer balancers report than when it fired', () => {
    const { group, engine } = burning();
    group.pushFor(10 * MINUTE, clean(100));
    assert.equal(
      tickAt(engine, group, group.end, { coverage: 0.5 }).changes.filter(({ kind }) => kind === 'resolved').length,
      0,
    );
    assert.equal(
      tickAt(engine, group, group.end, { coverage: 1 }).changes.filter(({ kind }) => kind === 'resolved').length,
      1,
    );
  });

  test('a page falls to a ticket 5 min after its last page tier, and its tier stays the highest of the episode', () => {
    const group = month(WORKBOOK, clean(100));
    const engine = createBurnEngine();
    live(engine, group, 2 * HOUR, () => [15, 100]);
    const after = live(engine, group, 3 * HOUR, clean(100));
    const fall = after.find(({ severity }) => severity === 'ticket');
    assert.equal(fall?.kind, 'changed');
    assert.equal(fall?.tier, '50h');
    assert.ok(fall?.holding.every((name) => name === '10d' || name === '30d'));
  });

  test('a restored engine goes on: no second firing, and the same end', () => {
    const { group, engine } = burning();
    const before = createBurnEngine();
    const stored = new Map<string, string>();
    const replay = month(WORKBOOK, clean(100));
    for (let index = 0; index < 60; index += 1) {
      replay.push(15, 100);
      for (const { key, value } of before.evaluate(cellsOf(replay), replay.end).stored) stored.set(key, value);
    }
    const restored = createBurnEngine();
    restored.restore([...stored].map(([key, value]) => ({ key, value })));
    const goOn = (one: ReturnType<typeof createBurnEngine>, own: FakeGroup) => live(one, own, 10 * MINUTE, clean(100));
    assert.deepEqual(goOn(restored, replay), goOn(engine, group));
  });

  test('editing a label or the target keeps the state; an SLO that is gone closes its alert', () => {
    const { group, engine } = burning();
    group.slo = sloOf(WORKBOOK, '0.999', labelsOf([['team', 'edge']]));
    assert.deepEqual(
      tickAt(engine, group, group.end).changes.filter(({ kind }) => kind !== 'updated'),
      [],
    );
    const gone = engine.evaluate({ groups: () => [], feed: cellsOf(group).feed }, group.end).changes;
    assert.deepEqual(
      gone.map((change) => change.kind === 'resolved' && change.reason),
      ['removed'],
    );
  });

  test('more bad than all events is flagged and kept out of the budget', () => {
    const group = month(WORKBOOK, clean(100));
    group.pushFor(HOUR, () => [200, 100]);
    const status = statusOf(group);
    assert.deepEqual([status.burn.get('5m'), status.burn.get('30m'), status.burn.get('1h')], [null, null, null]);
    assert.notEqual(status.severity, 'page');
  });
});
