import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { type ReplayLine, readReplay } from '../../src/app/replay-input.ts';
import { runCommand } from '../support/command.ts';
import { availabilitySlo, replayLines } from '../support/replay-file.ts';
import { replayRules } from '../support/replay-rules.ts';

const directory = mkdtempSync(join(tmpdir(), 'slowburn-slices-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const MINUTE = 60_000;
const TIMESLICES = 'timeSliceTarget: 0.95, timeSliceWindow: 1m, target: 0.99';

const sloFile = (method: string, objective: string): string =>
  availabilitySlo('workbook')
    .replace('budgetingMethod: Occurrences', `budgetingMethod: ${method}`)
    .replace('target: 0.999', objective);

function rulesDirOf(method: string, objective: string): string {
  const rulesDir = mkdtempSync(join(directory, 'rules-'));
  mkdirSync(join(rulesDir, 'slos'));
  writeFileSync(join(rulesDir, 'slos', 'checkout.yaml'), sloFile(method, objective));
  return rulesDir;
}

const replay = (method: string, objective: string, lines: readonly ReplayLine[]) =>
  replayRules(rulesDirOf(method, objective), lines);

describe('replay of an SLO in slices of a minute', () => {
  // Two hours at 120 a minute; from minute 60 on a burst of ten times the traffic, two thirds of it bad, for 20 min.
  const start = Date.UTC(2026, 2, 3, 10);
  const isBurst = (minute: number): boolean => minute >= 60 && minute < 80;
  const series = [
    { cluster: 'checkout', responseClass: '2xx', perMinute: (minute: number) => (isBurst(minute) ? 400 : 118) },
    // 2 of 120 is 1.7 %: within what a slice may have.
    { cluster: 'checkout', responseClass: '5xx', perMinute: (minute: number) => (isBurst(minute) ? 800 : 2) },
  ];
  let lines: readonly ReplayLine[] = [];
  let shuffled: readonly ReplayLine[] = [];
  const read = async (texts: readonly string[]): Promise<readonly ReplayLine[]> => {
    const found: ReplayLine[] = [];
    for await (const line of readReplay(['-'], Readable.from(`${texts.join('\n')}\n`))) found.push(line);
    return found;
  };
  before(async () => {
    const options = { startMs: start, minutes: 120, pushEveryMs: 10_000, series };
    lines = await read(replayLines(options));
    shuffled = await read(replayLines({ ...options, order: (indices) => [...indices].reverse() }));
  });

  test('bad minutes are counted, whatever the traffic in them', () => {
    const { slo, group } = replay('Timeslices', TIMESLICES, lines);
    const { budgetingMethod, timeSliceSeconds, timeSliceTarget } = slo;
    assert.deepEqual([budgetingMethod, timeSliceSeconds, timeSliceTarget], ['Timeslices', 60, '0.95']);
    assert.deepEqual([group.good, group.bad, group.total], [100, 20, 120]);
    assert.equal(group.slices?.observed, 120);
    assert.ok(Math.abs((group.budgetRemaining ?? 0) - (1 - 20 / 432)) < 1e-9, `${group.budgetRemaining}`);
  });

  test('by ratio, minutes count by their own ratios', () => {
    const { group } = replay('RatioTimeslices', 'timeSliceWindow: 60s, target: 0.99', lines);
    assert.ok(Math.abs(group.bad - (20 * (2 / 3) + 100 / 60)) < 1e-6, `${group.bad}`);
    assert.equal(group.total, 120);
  });

  test('the page comes with the bad minute that completes it, and says what is bad', () => {
    const alerts = replay('Timeslices', TIMESLICES, lines)
      .text.split('\n')
      .map((line) => JSON.parse(line) as { type: string; at: string; state: string; tier: string })
      .filter(({ type }) => type === 'alert');
    const [first, ...rest] = alerts;
    // 14.4 x 1 % of the 60 slices of an hour: the ninth bad one.
    assert.deepEqual([first?.state, first?.tier], ['firing', '50h']);
    assert.equal(first?.at, new Date(start + 69 * MINUTE).toISOString());
    assert.ok(rest.some(({ state }) => state === 'resolved'));
  });

  test('byte for byte the same in whatever order the series of a request stand', () => {
    for (const [method, objective] of [
      ['Timeslices', TIMESLICES],
      ['RatioTimeslices', 'timeSliceWindow: 1m, target: 0.99'],
    ] as const) {
      assert.equal(replay(method, objective, shuffled).text, replay(method, objective, lines).text);
    }
  });

  test('generate writes no rules for it and says so; check says what a slice costs', async () => {
    const rulesDir = rulesDirOf('Timeslices', TIMESLICES);
    for (const engine of ['prometheus', 'victoriametrics', 'mimir']) {
      const out = join(rulesDir, engine);
      const { code, stderr } = await runCommand(rulesDir, [
        'generate',
        '--rules',
        '.',
        '--out',
        out,
        '--engine',
        engine,
      ]);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /^slos\/checkout\.yaml:1:1 GENERATE_SLICES warning: SLO checkout-availability /m);
      assert.match(stderr, /^0 files/m);
    }
    const { code, stdout } = await runCommand(rulesDir, ['check', join(rulesDir, 'slos', 'checkout.yaml')]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /a slice of 1m is bad where fewer than 0\.95 .* 0\.231 % of the budget of 30d/);
    assert.match(stdout, /50h +page +1h\/5m +14\.4x +14\.4x +\S+ % +9 +9 +never +never/);
    assert.match(stdout, /up to 5 % of the fleet can die without a page/);
  });
});
