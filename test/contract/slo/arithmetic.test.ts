import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { present } from '../../../src/base/assert.ts';
import { parseDuration } from '../../../src/base/duration.ts';
import type { EpochMs } from '../../../src/base/units.ts';
import { createBurnEngine } from '../../../src/burn/engine.ts';
import { BudgetCourse } from '../../../src/burn/exhaustion.ts';
import { readWindow } from '../../../src/burn/window.ts';
import { budgetRatioOf } from '../../../src/slo/budget.ts';
import { at, HOUR, MINUTE, RawCells, RawGroup, type SloOptions, sloOf } from '../../support/raw-cells.ts';
import { tableOf, tableRow } from './table.ts';

interface Expected {
  readonly at: number;
  readonly state?: string;
  readonly bad?: number;
  readonly total?: number;
  readonly sli?: number | null;
  readonly budgetRemaining?: number | null;
  readonly burn?: Readonly<Record<string, number | null>>;
  readonly holding?: readonly string[];
  readonly tier?: string | null;
  readonly severity?: string | null;
  readonly inconsistent?: boolean;
  readonly alertLabels?: Readonly<Record<string, string>>;
  /** SLO window / burn of the hour or of the leading tier. */
  readonly paceHours?: number;
  /** Hours until the budget is gone if the errors of a window go on. */
  readonly hoursLeft?: { readonly over: string; readonly atLeast: number; readonly atMost: number };
}

interface Case extends SloOptions {
  readonly name: string;
  readonly others?: string;
  readonly reporting?: boolean;
  readonly spans: readonly { from: number; to: number; total: number; bad: number; every?: number }[];
  readonly expect: readonly Expected[];
}

function cellsOf({ spans, reporting, name: _, expect: __, others: ___, ...options }: Case): RawCells {
  const group = new RawGroup(sloOf(options));
  for (const { from, to, total, bad, every = 1 } of spans) {
    group.steady(from * MINUTE, to * MINUTE, bad, total, every * MINUTE);
  }
  const cells = new RawCells(group);
  if (reporting === false) cells.feedOf = () => ({ reporting, coverage: 0, watermark: null, newestPointAt: null });
  return cells;
}

function near(actual: number | null | undefined, expected: number | null, what: string): void {
  if (expected === null || actual === null || actual === undefined) {
    assert.equal(actual, expected, what);
    return;
  }
  const within = Math.max(1e-9, Math.abs(expected) * 0.001);
  assert.ok(Math.abs(actual - expected) <= within, `${what}: ${actual} is not ${expected}`);
}

/** Checks what must be read at one time; returns our values beside the right ones, a line per figure. */
function check(cells: RawCells, expected: Expected): string[] {
  const now = at(expected.at * MINUTE);
  cells.reveal(now);
  const tick = createBurnEngine().evaluate(cells, now);
  const status = present(tick.statuses[0], 'status');
  const facts = { ...status, holding: status.tiersHolding };
  const rows: string[] = [];
  const compare = (what: string, ours: unknown, right: unknown, isSame: () => void): void => {
    rows.push(tableRow(expected.at, what, ours, right));
    isSame();
  };
  for (const key of ['state', 'bad', 'total', 'holding', 'tier', 'severity', 'inconsistent'] as const) {
    const right = expected[key];
    if (right === undefined) continue;
    compare(key, facts[key], right, () => assert.deepEqual(facts[key], right, `${key} at minute ${expected.at}`));
  }
  const numbers: [string, number | null | undefined, number | null | undefined][] = [
    ['sli', status.sli, expected.sli],
    ['budgetRemaining', status.budgetRemaining, expected.budgetRemaining],
    ['paceHours', (status.exhaustion.pace ?? Number.NaN) / HOUR, expected.paceHours],
    ...Object.entries(expected.burn ?? {}).map(
      ([window, right]) => [`burn ${window}`, status.burn.get(window), right] as [string, number | null, number | null],
    ),
  ];
  for (const [what, ours, right] of numbers) {
    if (right === undefined) continue;
    compare(what, ours, right, () => near(ours, right, `${what} at minute ${expected.at}`));
  }
  for (const [name, value] of Object.entries(expected.alertLabels ?? {})) {
    const ours = tick.changes[0]?.alert.labels.get(name);
    compare(`label ${name}`, ours, value, () => assert.equal(ours, value));
  }
  if (expected.hoursLeft !== undefined) {
    const { over, atLeast, atMost } = expected.hoursLeft;
    const hours = hoursLeft(present(cells.list[0], 'group'), now, over);
    const isWithin = () => assert.ok(atLeast <= hours && hours <= atMost, `${hours} h`);
    compare(`hours left at the errors of ${over}`, hours, `${atLeast} to ${atMost}`, isWithin);
  }
  return rows;
}

/** Hours until the budget is gone if the error ratio of a window goes on. */
function hoursLeft(group: RawGroup, now: EpochMs, over: string): number {
  const budget = budgetRatioOf(group.slo.objective);
  const { bad, total } = readWindow(group, now, present(parseDuration(over), over));
  return (new BudgetCourse(group, budget, now).timeAt(bad / total) ?? Number.NaN) / HOUR;
}

describe('SLO arithmetic, as data', () => {
  const file = join(import.meta.dirname, 'arithmetic.json');
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };
  for (const one of cases) {
    test(one.name, (t) => {
      assert.ok(one.expect.length > 0);
      const cells = cellsOf(one);
      const rows = one.expect.flatMap((expected) => check(cells, expected));
      for (const line of tableOf(rows, one.others)) t.diagnostic(line);
    });
  }
});
