import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { parseInstant } from '../../src/base/instant.ts';
import { availabilitySlo, replayLines, type Series } from '../support/replay-file.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'slowburn-replay-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const START = parseInstant('2026-03-02T00:00:00Z') ?? 0;
const MINUTE = 60_000;
const rules = join(directory, 'rules');
mkdirSync(join(rules, 'slos'), { recursive: true });
writeFileSync(join(rules, 'slos', 'checkout.yaml'), availabilitySlo('workbook'));

/** 600 requests a minute: 60 clean minutes, 10 minutes with 15 % errors, 30 clean ones. */
const isOutage = (minute: number): boolean => minute >= 60 && minute < 70;
const SERIES: readonly Series[] = [
  { cluster: 'checkout', responseClass: '2xx', perMinute: (minute) => (isOutage(minute) ? 480 : 570) },
  { cluster: 'checkout', responseClass: '3xx', perMinute: () => 20 },
  { cluster: 'checkout', responseClass: '4xx', perMinute: () => 10 },
  { cluster: 'checkout', responseClass: '5xx', perMinute: (minute) => (isOutage(minute) ? 90 : 0) },
];

interface Line {
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

async function replay(file: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [MAIN, 'replay', '--rules', rules, ...args, file], {
    maxBuffer: 1 << 26,
  });
  return stdout;
}

const parse = (output: string): Line[] =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

function write(name: string, lines: readonly string[]): string {
  const file = join(directory, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

const build = (order?: (indices: readonly number[]) => readonly number[]): readonly string[] =>
  replayLines({
    startMs: START,
    minutes: 100,
    pushEveryMs: 10_000,
    series: SERIES,
    ...(order === undefined ? {} : { order }),
  });

describe('replay of 60 clean minutes and 10 minutes with 15 % errors, 99.9 %, workbook', () => {
  const file = write('outage.jsonl', build());

  test('pages within 6 minutes, resolves within 5 minutes of the end, as one incident with one opening notification', async () => {
    const lines = parse(await replay(file));
    const minutes = ({ at }: Line): number => ((parseInstant(at) ?? 0) - START) / MINUTE;
    const firing = lines.filter((line) => line.type === 'alert' && line['state'] === 'firing');
    const resolved = lines.filter((line) => line.type === 'alert' && line['state'] === 'resolved');
    assert.equal(firing[0]?.['severity'], 'page');
    assert.equal(firing[0]?.['tier'], '50h');
    assert.deepEqual(firing[0]?.['labels'], {
      'lb.upstream.cluster': 'checkout',
      service: 'checkout',
      slo: 'checkout-availability',
      team: 'edge',
    });
    const firedAfter = minutes(firing[0] as Line) - 60;
    assert.ok(firedAfter > 5.5 && firedAfter <= 6, `fired after ${firedAfter} min`);
    assert.equal(resolved.length, 1);
    const clearedAfter = minutes(resolved[0] as Line) - 70;
    assert.ok(clearedAfter > 4 && clearedAfter <= 5, `cleared after ${clearedAfter} min`);
    const ids = new Set(lines.filter(({ type }) => type === 'incident').map((line) => line['id']));
    assert.deepEqual([...ids], [1]);
    const sent = lines.filter(({ type }) => type === 'notification').map((line) => line['reason']);
    assert.deepEqual(sent, ['opened', 'resolved']);
    const slo = lines.at(-1)?.['slo'] as { groups: { good: number; bad: number; total: number; state: string }[] };
    const { good, bad, total, state } = slo.groups[0] as (typeof slo.groups)[number];
    assert.deepEqual({ good, bad, total, state }, { good: 59_100, bad: 900, total: 60_000, state: 'measured' });
  });

  test('gives the same bytes twice', async () => {
    assert.equal(await replay(file), await replay(file));
  });

  test('gives the same bytes for three other orders of the series inside each request', async () => {
    const expected = await replay(file);
    const orders: ((indices: readonly number[]) => readonly number[])[] = [
      (indices) => [...indices].reverse(),
      ([a = 0, b = 0, c = 0, d = 0]) => [d, a, c, b],
      ([a = 0, b = 0, c = 0, d = 0]) => [c, d, b, a],
    ];
    for (const [index, order] of orders.entries()) {
      assert.equal(await replay(write(`order-${index}.jsonl`, build(order))), expected, `order ${index}`);
    }
  });

  test('reads the same compressed', async () => {
    const packed = join(directory, 'outage.jsonl.gz');
    writeFileSync(packed, gzipSync(`${build().join('\n')}\n`));
    assert.equal(await replay(packed), await replay(file));
  });

  test('a bad line is named and skipped, the exit code is 1, the rest counts', async () => {
    const lines = [...build()];
    lines.splice(10, 0, '{"resourceMetrics": [', '{"at": "yesterday"}');
    const bad = write('bad.jsonl', lines);
    const failed = await run(process.execPath, [MAIN, 'replay', '--rules', rules, bad], { maxBuffer: 1 << 26 }).then(
      () => assert.fail('the exit code was 0'),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /bad\.jsonl:11: not JSON/);
    assert.match(failed.stderr, /bad\.jsonl:12: "at" is not an RFC 3339 time/);
    assert.equal(failed.stdout, await replay(file));
  });

  test('a person can acknowledge and resolve, and what they did stands in the output', async () => {
    const lines = [...build()];
    const at = (minute: number): string => new Date(START + minute * MINUTE + 5000).toISOString();
    lines.splice(68 * 6, 0, JSON.stringify({ at: at(68), action: 'acknowledge', by: 'ada', note: 'on it' }));
    const output = parse(await replay(write('acknowledged.jsonl', lines)));
    const acknowledged = output.find((line) => line['change'] === 'acknowledged');
    assert.equal(acknowledged?.['state'], 'acknowledged');
    assert.equal(acknowledged?.['reason'], 'on it');
  });

  test('time passes to --until, and no data is not recovery', async () => {
    const short = write('cut.jsonl', build().slice(0, 69 * 6));
    const until = new Date(START + 90 * MINUTE).toISOString();
    const output = parse(await replay(short, '--until', until));
    assert.equal(
      output.filter(
        (line) => line.type === 'alert' && line['name'] === 'ErrorBudgetBurn' && line['state'] === 'resolved',
      ).length,
      0,
    );
    const slo = output.at(-1)?.['slo'] as { groups: { state: string; tiersHolding: string[] }[] };
    assert.equal(slo.groups[0]?.state, 'no_data');
    assert.deepEqual(slo.groups[0]?.tiersHolding.includes('50h'), true);
  });
});
