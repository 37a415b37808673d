import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { createReplay } from '../../src/app/replay.ts';
import { type ReplayLine, readReplay } from '../../src/app/replay-input.ts';
import { createLineSink } from '../../src/app/replay-output.ts';
import { loadRules } from '../../src/config/load.ts';
import type { SloView } from '../../src/model/views.ts';
import { availabilitySlo, replayLines } from '../support/replay-file.ts';

const PACKAGE = join(import.meta.dirname, '..', '..');
const directory = mkdtempSync(join(tmpdir(), 'slowburn-calendar-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function rulesOf(timeWindow: string) {
  const rulesDir = mkdtempSync(join(directory, 'rules-'));
  mkdirSync(join(rulesDir, 'slos'));
  const text = availabilitySlo('workbook').replace('{ duration: 30d, isRolling: true }', timeWindow);
  writeFileSync(join(rulesDir, 'slos', 'checkout.yaml'), text);
  const options = { rulesDir, shippedDir: join(PACKAGE, 'rules'), runbooksDir: join(PACKAGE, 'runbooks') };
  const { rules, problems } = loadRules({ ...options, offline: true });
  assert.ok(rules !== null, JSON.stringify(problems));
  return rules;
}

const monthly = (zone: string): string =>
  `{ duration: 1M, isRolling: false, calendar: { startTime: 2026-01-01 00:00:00, timeZone: ${zone} } }`;

interface Line {
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Replays lines as far as they go; the last line is the SLO's. */
function replay(
  timeWindow: string,
  lines: readonly ReplayLine[],
): { readonly lines: readonly Line[]; readonly slo: SloView } {
  const written: Line[] = [];
  const run = createReplay(
    rulesOf(timeWindow),
    createLineSink((line) => written.push(JSON.parse(line) as Line)),
  );
  for (const line of lines) assert.equal(run.line(line), null);
  run.finish(null);
  const last = written.at(-1);
  assert.equal(last?.type, 'slo');
  return { lines: written, slo: last?.['slo'] as SloView };
}

describe('replay of a monthly SLO of Berlin, over summer time and the end of March', () => {
  // 100 requests a minute, six of a thousand bad, from the hour before clocks change on.
  const start = Date.UTC(2026, 2, 29, 0);
  const end = Date.UTC(2026, 3, 1, 1);
  /** 1 April 00:00 in Berlin: two hours before UTC's, not one. */
  const reset = Date.UTC(2026, 2, 31, 22);
  const all: ReplayLine[] = [];
  const written = replayLines({
    startMs: start,
    minutes: (end - start) / MINUTE,
    pushEveryMs: MINUTE,
    series: [
      { cluster: 'checkout', responseClass: '2xx', perMinute: (minute) => (minute % 10 === 0 ? 94 : 100) },
      { cluster: 'checkout', responseClass: '5xx', perMinute: (minute) => (minute % 10 === 0 ? 6 : 0) },
    ],
  });
  before(async () => {
    for await (const line of readReplay(['-'], Readable.from(`${written.join('\n')}\n`))) all.push(line);
  });
  /** Lines up to a time, that of the last push included. */
  const until = (time: number): readonly ReplayLine[] => all.slice(0, (time - start) / MINUTE);
  const figures = (time: number, zone = 'Europe/Berlin') => {
    const { groups } = replay(monthly(zone), until(time)).slo;
    assert.equal(groups.length, 1);
    return groups[0] as (typeof groups)[number];
  };

  test('at the edge the whole of March is told; a minute later April has a minute', () => {
    const march = figures(reset);
    const minutes = (reset - start) / MINUTE;
    assert.deepEqual([march.total, march.bad], [minutes * 100, (minutes / 10) * 6]);
    assert.equal(march.resetsAt, '2026-03-31T22:00:00.000Z');
    assert.equal(march.budgetRemaining, march.budgetRemainingSoFar);
    assert.equal(march.exhaustion.exhausted, false);
    const april = figures(reset + MINUTE);
    assert.deepEqual([april.total, april.bad, april.resetsAt], [100, 6, '2026-04-30T22:00:00.000Z']);
    assert.equal(april.budgetRemainingSoFar, -59);
    // Of the 30 days of April at 100 a minute.
    const allowed = 0.001 * 100 * 30 * 24 * 60;
    assert.ok(Math.abs((april.budgetRemaining ?? 0) - (1 - 6 / allowed)) < 1e-3, `${april.budgetRemaining}`);
  });

  test('another zone resets at another time', () => {
    const { total, resetsAt } = figures(reset + HOUR, 'America/New_York');
    assert.deepEqual([total, resetsAt], [((reset + HOUR - start) / MINUTE) * 100, '2026-04-01T04:00:00.000Z']);
    assert.equal(figures(reset + HOUR).total, 6000);
  });

  test('the alert of a steady burn goes on over the reset, and burns are those of a rolling window', () => {
    const calendar = replay(monthly('Europe/Berlin'), all);
    const rolling = replay('{ duration: 30d, isRolling: true }', all);
    const news = ({ lines }: typeof calendar) =>
      lines.filter(({ type }) => type === 'alert').map(({ at, state, tier }) => ({ at, state, tier }));
    assert.ok(news(rolling).length > 0);
    assert.deepEqual(news(calendar), news(rolling));
    assert.deepEqual(calendar.slo.groups[0]?.burn, rolling.slo.groups[0]?.burn);
    assert.deepEqual([calendar.slo.rolling, calendar.slo.window], [false, '1M']);
    assert.deepEqual([rolling.slo.groups[0]?.resetsAt, rolling.slo.groups[0]?.budgetRemainingSoFar], [null, null]);
  });

  test('a rolling SLO that becomes a monthly one keeps its history: the query is the same', () => {
    const [rolling] = rulesOf('{ duration: 30d, isRolling: true }').slos;
    const [month] = rulesOf(monthly('UTC')).slos;
    const [other] = rulesOf(monthly('Europe/Berlin')).slos;
    assert.deepEqual([month?.generation, other?.generation], [rolling?.generation, rolling?.generation]);
    const [day] = rulesOf(monthly('UTC').replace('1M', '1d')).slos;
    assert.notEqual(day?.generation, rolling?.generation);
  });
});
