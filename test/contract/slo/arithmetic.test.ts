import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { present } from '../../../src/base/assert.ts';
import { createBurnEngine } from '../../../src/burn/engine.ts';
import { at, MINUTE, RawCells, RawGroup, type SloOptions, sloOf } from '../../support/raw-cells.ts';

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
}

interface Case extends SloOptions {
  readonly name: string;
  readonly reporting?: boolean;
  readonly spans: readonly { from: number; to: number; total: number; bad: number; every?: number }[];
  readonly expect: readonly Expected[];
}

function cellsOf({ spans, reporting, name: _, expect: __, ...options }: Case): RawCells {
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

function check(cells: RawCells, expected: Expected): void {
  const now = at(expected.at * MINUTE);
  cells.reveal(now);
  const tick = createBurnEngine().evaluate(cells, now);
  const status = present(tick.statuses[0], 'status');
  const facts = { ...status, holding: status.tiersHolding };
  for (const key of ['state', 'bad', 'total', 'holding', 'tier', 'severity', 'inconsistent'] as const) {
    if (expected[key] !== undefined) assert.deepEqual(facts[key], expected[key], `${key} at minute ${expected.at}`);
  }
  for (const key of ['sli', 'budgetRemaining'] as const) {
    if (expected[key] !== undefined) near(status[key], expected[key], `${key} at minute ${expected.at}`);
  }
  for (const [window, burn] of Object.entries(expected.burn ?? {})) {
    near(status.burn.get(window), burn, `burn over ${window} at minute ${expected.at}`);
  }
  for (const [name, value] of Object.entries(expected.alertLabels ?? {})) {
    assert.equal(tick.changes[0]?.alert.labels.get(name), value);
  }
}

describe('SLO arithmetic, as data', () => {
  const file = join(import.meta.dirname, 'arithmetic.json');
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };
  for (const one of cases) {
    test(one.name, () => {
      assert.ok(one.expect.length > 0);
      const cells = cellsOf(one);
      for (const expected of one.expect) check(cells, expected);
    });
  }
});
