import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createReplay } from '../../../src/app/replay.ts';
import type { ReplayLine } from '../../../src/app/replay-input.ts';
import { createLineSink } from '../../../src/app/replay-output.ts';
import { decodeJsonMetrics } from '../../../src/otlp/decode-json.ts';
import {
  Balancers,
  checkLines,
  type Fields,
  instantAt,
  isReplayable,
  type Line,
  readScenarios,
  rulesOf,
  type Scenario,
} from './scenario.ts';

/** Each must have a file here; those with a letter or word behind the number are variants. */
const IDS: readonly string[] = [
  ...['C01', 'C02', 'C03', 'C04', 'C06', 'C07', 'C08', 'C10', 'C12', 'C13', 'C16', 'C17', 'C19', 'C20', 'C22', 'C23'],
  ...['C25', 'C26', 'C28', 'C29', 'C31', 'C32', 'C33', 'C35'],
];
/** Their bounds differ by our hold times, or their causes are their own: the file says so. */
const NOTED: readonly string[] = ['C04', 'C19', 'C20', 'C25', 'C33'];

const SCENARIOS = readScenarios();

function replay(scenario: Scenario): Line[] {
  const written: Line[] = [];
  const run = createReplay(
    rulesOf(scenario),
    createLineSink((line) => written.push(JSON.parse(line) as Line)),
  );
  const balancers = new Balancers();
  const lineOf = (second: number, fields: Fields): ReplayLine => {
    const base = { where: scenario.id, at: instantAt(second) };
    if (typeof fields['metrics'] === 'string') {
      const body = decodeJsonMetrics(new TextEncoder().encode(balancers.body(fields, base.at)));
      return { where: scenario.id, kind: 'metrics', body };
    }
    if (fields['action'] !== undefined) return { ...base, kind: 'action', action: fields };
    if (fields['alerts'] === undefined) return { ...base, kind: 'time' };
    return { ...base, kind: 'alerts', alerts: fields['alerts'] as unknown[] };
  };
  for (const [second, fields] of scenario.events) assert.equal(run.line(lineOf(second, fields)), null);
  run.finish(instantAt(scenario.until));
  return written;
}

describe('what others got wrong', () => {
  test('every scenario that must be there has its file, and those that differ say how', () => {
    const byId = new Map(SCENARIOS.map((scenario) => [scenario.id, scenario]));
    assert.deepEqual(
      IDS.filter((id) => !byId.has(id)),
      [],
    );
    assert.deepEqual(
      NOTED.filter((id) => (byId.get(id)?.note ?? '') === ''),
      [],
    );
  });

  for (const scenario of SCENARIOS.filter(isReplayable)) {
    test(`${scenario.id}: ${scenario.title} (${scenario.source})`, () => {
      checkLines(replay(scenario), scenario.expect);
    });
  }
});
