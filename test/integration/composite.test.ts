import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { type ReplayLine, readReplay } from '../../src/app/replay-input.ts';
import { runCommand } from '../support/command.ts';
import { replayLines } from '../support/replay-file.ts';
import { replayRules } from '../support/replay-rules.ts';

const directory = mkdtempSync(join(tmpdir(), 'slowburn-composite-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const source = (where: string): string =>
  `{ metricSource: { type: slowburn, spec: { metric: lb.requests, where: { lb.side: downstream${where} } } } }`;
const member = (name: string, responseClass: string, more: string): string => `    - displayName: ${name}
      ${more}
      indicator:
        spec:
          ratioMetric:
            counter: true
            bad: ${source(`, lb.response.class: ${responseClass}`)}
            total: ${source('')}
`;

function rulesDirOf(method: string, servers: string, clients: string): string {
  const rulesDir = mkdtempSync(join(directory, 'rules-'));
  mkdirSync(join(rulesDir, 'slos'));
  const text = `apiVersion: openslo/v1
kind: SLO
metadata:
  name: checkout-journey
  annotations: { slowburn/group-by: lb.upstream.cluster, slowburn/policy: workbook }
spec:
  service: checkout
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: ${method}
  objectives:
${member('servers', '5xx', servers)}${member('clients', '4xx', clients)}`;
  writeFileSync(join(rulesDir, 'slos', 'journey.yaml'), text);
  return rulesDir;
}

describe('replay of a composite', () => {
  const series = [
    { cluster: 'checkout', responseClass: '2xx', perMinute: () => 540 },
    { cluster: 'checkout', responseClass: '5xx', perMinute: () => 12 },
    { cluster: 'checkout', responseClass: '4xx', perMinute: () => 48 },
  ];
  let lines: readonly ReplayLine[] = [];
  let shuffled: readonly ReplayLine[] = [];
  const read = async (texts: readonly string[]): Promise<readonly ReplayLine[]> => {
    const found: ReplayLine[] = [];
    for await (const line of readReplay(['-'], Readable.from(`${texts.join('\n')}\n`))) found.push(line);
    return found;
  };
  before(async () => {
    const options = { startMs: Date.UTC(2026, 2, 3, 10), minutes: 90, pushEveryMs: 10_000, series };
    lines = await read(replayLines(options));
    shuffled = await read(replayLines({ ...options, order: (indices) => [...indices].reverse() }));
  });

  test('burns add up times their weights; one SLO, one group, one alert', () => {
    const rulesDir = rulesDirOf('Occurrences', 'target: 0.999', 'target: 0.9\n      compositeWeight: 0.5');
    const { alerts, slo, group, text } = replayRules(rulesDir, lines);
    assert.equal(slo.id, 'checkout-journey');
    assert.equal(slo.groups.length, 1);
    // 2 % of 0.1 % and half of 8 % of 10 %.
    assert.ok(Math.abs((group.burn['1h'] ?? 0) - 20.4) < 1e-6, `${group.burn['1h']}`);
    assert.deepEqual(
      group.members?.map(({ name, weight, bad, total }) => [name, weight, bad, total]),
      [
        ['servers', 1, 12 * 90, 600 * 90],
        ['clients', 0.5, 48 * 90, 600 * 90],
      ],
    );
    assert.deepEqual(alerts.map(({ state }) => state).filter((state) => state === 'firing').length, alerts.length);
    assert.ok(alerts.length > 0);
    assert.equal(replayRules(rulesDir, shuffled).text, text);
  });

  test('a slice is bad if it is for any member; by ratio the missing parts add up', () => {
    const slices = 'target: 0.99, timeSliceWindow: 1m'.split(', ').join('\n      ');
    const strict = `${slices}\n      timeSliceTarget: 0.99`;
    const loose = `${slices}\n      timeSliceTarget: 0.9`;
    const one = replayRules(rulesDirOf('Timeslices', strict, loose), lines).group;
    assert.deepEqual([one.bad, one.total], [90, 90]);
    const none = replayRules(rulesDirOf('Timeslices', loose, loose), lines).group;
    assert.deepEqual([none.bad, none.total], [0, 90]);
    const byRatio = replayRules(rulesDirOf('RatioTimeslices', slices, slices), lines).group;
    assert.ok(Math.abs(byRatio.bad - 9) < 1e-6, `${byRatio.bad}`);
  });

  test('check tells what each member burns alone; generate leaves it out and says so', async () => {
    const rulesDir = rulesDirOf('Occurrences', 'target: 0.999', 'target: 0.9\n      compositeWeight: 0.5');
    const { code, stdout } = await runCommand(rulesDir, ['check', join(rulesDir, 'slos', 'journey.yaml')]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /a composite of servers \(99\.9 %\), clients \(90 %, weight 0\.5\)/);
    assert.match(stdout, /alone burn: servers 1000x, clients 5x/);
    const generated = await runCommand(rulesDir, ['generate', '--rules', '.', '--out', join(rulesDir, 'out')]);
    assert.match(generated.stderr, /^slos\/journey\.yaml:1:1 GENERATE_COMPOSITE warning: SLO checkout-journey /m);
  });
});
