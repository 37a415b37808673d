import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CorrectionBook } from '../../src/aggregate/correction-book.ts';
import { sloHistory } from '../../src/app/slo-history.ts';
import { epochMs } from '../../src/base/units.ts';
import type { Alert } from '../../src/model/alert.ts';
import type { SloHistoryAsked } from '../../src/model/history-views.ts';
import type { Incident } from '../../src/model/incident.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { DAY, HOUR, MINUTE, ORIGIN, sloOf, WORKBOOK } from '../support/fake-cells.ts';
import { Fed } from '../support/fed.ts';

const PER_MINUTE = 600;

/** Thirty days at an even rate; all answers fail for ten minutes, ten days before the end, and for two in the last hour. */
function scene() {
  const fed = new Fed(sloOf(WORKBOOK));
  const end = ORIGIN + 30 * DAY;
  const outages = [
    [end - 10 * DAY, end - 10 * DAY + 10 * MINUTE],
    [end - 30 * MINUTE, end - 28 * MINUTE],
  ] as const;
  for (let at = ORIGIN; at < end; at += HOUR) fed.count(null, at, at + HOUR, 0, PER_MINUTE * 60);
  for (const [from, to] of outages) fed.count(null, from, to, ((to - from) / MINUTE) * PER_MINUTE, 0);
  fed.hear(end);
  const now = epochMs(end);
  fed.engine.evaluate(fed.aggregate, now);
  const statuses = fed.engine.statuses();
  const ask = (asked: Partial<SloHistoryAsked> = {}, incidents: readonly Incident[] = []) =>
    sloHistory(
      {
        cells: fed.aggregate,
        corrections: new CorrectionBook(() => null),
        features: fed.aggregate,
        statuses,
        incidents: () => incidents,
        configBudget: undefined,
      },
      { slo: fed.slo.id, group: null, from: null, to: null, stepSeconds: null, ...asked },
      now,
    );
  return { fed, end, ask, statuses };
}

describe('the history of a budget', () => {
  const { fed, end, ask, statuses } = scene();
  const history = ask();
  assert.ok(history !== null);

  test('ends at what the status says is left, and its steps hold every event', () => {
    assert.equal(history.points.at(-1)?.left, statuses[0]?.budgetRemaining);
    assert.equal(
      history.points.reduce((sum, { bad }) => sum + bad, 0),
      12 * PER_MINUTE,
    );
    assert.equal(
      history.points.reduce((sum, { total }) => sum + total, 0),
      30 * 24 * 60 * PER_MINUTE,
    );
    assert.ok(history.points.length <= 120);
  });

  test('the budget is a thousandth of 30 days: ten minutes of outage take 10 of 43.2 minutes', () => {
    assert.equal(Math.round(history.budget), 43.2 * PER_MINUTE);
    const lefts = history.points.map(({ left }) => left ?? Number.NaN);
    assert.equal(lefts[0], 1);
    const after = history.points.find(({ at }) => Date.parse(at) >= end - 9 * DAY)?.left ?? 0;
    assert.ok(Math.abs(after - (1 - 10 / 43.2)) < 1e-9);
    assert.deepEqual(
      lefts,
      [...lefts].sort((a, b) => b - a),
    );
  });

  test('each tier has its threshold and the burn of both of its windows', () => {
    const [first] = history.tiers;
    assert.deepEqual([first?.name, first?.long, first?.short, first?.minBurn], ['50h', '1h', '5m', 14.4]);
    assert.ok(Math.abs((first?.longBurn ?? 0) - (2 / 60) * 1000) < 1e-6, String(first?.longBurn));
    assert.equal(first?.shortBurn, 0);
    assert.equal(first?.holds, false);
  });

  test('a shorter time has finer steps, and the same budget left at its end', () => {
    const hour = ask({ from: new Date(end - HOUR).toISOString() });
    assert.equal(hour?.stepSeconds, 300);
    assert.equal(hour?.points.length, 12);
    assert.equal(hour?.points.at(-1)?.left, statuses[0]?.budgetRemaining);
    // A thousand points at most, of whole five minutes.
    assert.equal(ask({ stepSeconds: 1 })?.points.length, 960);
  });

  test('an unknown group or SLO has none', () => {
    assert.equal(ask({ group: 'search' }), null);
    assert.notEqual(ask({ group: 'checkout' }), null);
    assert.equal(ask({ slo: 'other' }), null);
  });

  test('an incident is charged what was bad from the onset of its burn until it was over', () => {
    const labels = labelsOf([
      ['slo', fed.slo.id],
      ['lb.upstream.cluster', 'checkout'],
    ]);
    const burn = { burningSince: epochMs(end - 10 * DAY) } as Alert['burn'];
    const incident = {
      id: 7,
      title: 'outage',
      members: [{ alert: { labels, burn }, state: 'resolved', resolvedAt: epochMs(end - 10 * DAY + HOUR) }],
    } as unknown as Incident;
    const other = { ...incident, id: 8, members: [{ ...incident.members[0], state: 'moved' }] } as Incident;
    const spent = ask({}, [incident, other])?.spent.filter(({ by }) => by === 'incident') ?? [];
    assert.deepEqual(
      spent.map(({ incident: id, bad }) => [id, bad]),
      [[7, 10 * PER_MINUTE]],
    );
    assert.ok(Math.abs((spent[0]?.share ?? 0) - 10 / 43.2) < 1e-9);
  });
});

test("failed requests are told by zone and host, those of the group's cluster only", () => {
  const { fed, end, ask } = scene();
  const count = (name: 'cluster.errors' | 'host.errors', labels: readonly (readonly [string, string])[], bad: number) =>
    fed.aggregate.feature(name, labelsOf(labels)).add(epochMs(end - HOUR), epochMs(end), bad);
  count(
    'cluster.errors',
    [
      ['cluster', 'checkout'],
      ['zone', 'a'],
    ],
    5,
  );
  count(
    'cluster.errors',
    [
      ['cluster', 'checkout'],
      ['zone', 'b'],
    ],
    50,
  );
  count(
    'cluster.errors',
    [
      ['cluster', 'search'],
      ['zone', 'a'],
    ],
    500,
  );
  count(
    'host.errors',
    [
      ['cluster', 'checkout'],
      ['host', 'h1'],
      ['zone', 'b'],
    ],
    50,
  );
  const spent = ask()?.spent ?? [];
  assert.deepEqual(
    spent.filter(({ by }) => by === 'zone').map(({ name, bad }) => [name, bad]),
    [
      ['b', 50],
      ['a', 5],
    ],
  );
  assert.deepEqual(
    spent.filter(({ by }) => by === 'host').map(({ name, bad }) => [name, bad]),
    [['h1', 50]],
  );
});
