import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { GroupStatus } from '../../../src/burn/status.ts';
import { DAY, MINUTE, T0 } from '../../support/raw-cells.ts';
import { ratioTimeslices, Sliced, slicedSlo, timeslices } from '../../support/sliced.ts';
import { tableOf, tableRow } from './table.ts';

interface Run {
  readonly first: number;
  readonly count: number;
  readonly every: number;
  readonly bad: number;
  readonly badEvery: number;
  readonly total: number;
}

interface Case {
  readonly name: string;
  readonly others?: string;
  readonly method: 'timeslices' | 'ratio_timeslices';
  readonly target: string;
  readonly hear: 'each' | 'last';
  readonly to: number;
  readonly runs: readonly Run[];
  readonly expect: Readonly<Record<string, unknown>>;
}

const START = T0 - 30 * DAY;
const minute = (index: number): number => START + index * MINUTE;

function statusOf({ method, target, hear, to, runs }: Case): GroupStatus {
  const budgeting = method === 'timeslices' ? timeslices(MINUTE) : ratioTimeslices(MINUTE);
  const sliced = new Sliced(slicedSlo(budgeting, { target }));
  const events = new Map<number, readonly [bad: number, total: number]>();
  for (const { first, count, every, bad, badEvery, total } of runs) {
    for (let index = 0; index < count; index += 1) {
      events.set(first + index * every, [index % badEvery === 0 ? bad : 0, total]);
    }
  }
  for (let index = 1; index <= to; index += 1) {
    const [bad, total] = events.get(index) ?? [0, 0];
    // Counters that stand still are data without events.
    if (total > 0 || hear === 'each') sliced.add(minute(index - 1), minute(index), bad, total);
    if (hear === 'each') sliced.hear(minute(index));
  }
  sliced.hear(minute(to));
  return sliced.status(minute(to));
}

describe('SLO contract of slices, as data', () => {
  const file = join(import.meta.dirname, 'slices.json');
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };
  for (const one of cases) {
    test(one.name, (t) => {
      const status = statusOf(one);
      const figures: Readonly<Record<string, unknown>> = { ...status, burn1h: status.burn.get('1h') };
      const rows = Object.entries(one.expect).map(([what, right]) => {
        const ours = figures[what];
        if (typeof right !== 'number') assert.deepEqual(ours, right, what);
        else assert.ok(Math.abs(Number(ours) - right) <= 1e-6, `${what}: ${ours} is not ${right}`);
        return tableRow(one.to, what, ours, right);
      });
      assert.ok(rows.length > 2);
      for (const line of tableOf(rows, one.others)) t.diagnostic(line);
    });
  }
});
