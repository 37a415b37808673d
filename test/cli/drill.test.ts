import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runDemo } from '../../src/cli/demo.ts';
import { formatDrill } from '../../src/cli/drill-report.ts';
import { planOf } from '../../src/sim/drill/drill-run.ts';
import { SCENARIOS } from '../../src/sim/scenarios/catalog.ts';
import { runCommand } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';

describe('slowburn drill', () => {
  let cwd = '';
  before(() => {
    cwd = mkdtempSync(join(tmpdir(), 'slowburn-drill-'));
  });
  after(() => rmSync(cwd, { recursive: true, force: true }));

  test('without a name it lists what there is', async () => {
    const { code, stdout } = await runCommand(cwd, ['drill']);
    assert.equal(code, 0);
    for (const { name, title } of SCENARIOS) assert.ok(stdout.includes(name) && stdout.includes(title), name);
  });

  test('bad arguments are named, with exit 2', async () => {
    for (const [args, says] of [
      [['ticket-rotaton'], /unknown scenario ticket-rotaton.*ticket-rotation/],
      [['quiet-night', '--seed', '0'], /whole numbers from 1/],
      [['quiet-night', '--seeds', 'many'], /whole numbers from 1/],
      [['quiet-night', '--target', 'localhost'], /localhost is not an http address/],
      [['quiet-night', '--warm-up', 'soon'], /--warm-up soon is not a duration/],
      [['quiet-night', '--flavour', 'nginx'], /Allowed choices are canonical, envoy/],
    ] as const) {
      const { code, stderr } = await runCommand(cwd, ['drill', ...args]);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, says);
    }
  });

  test('a target where nobody listens is exit 3 at once, and what takes days is for virtual time', async () => {
    const target = `http://127.0.0.1:${await freePort()}`;
    const refused = await runCommand(cwd, [
      'drill',
      'accept-queue',
      '--target',
      target,
      '--api',
      target,
      '--warm-up',
      '1m',
    ]);
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /ECONNREFUSED/);
    const long = await runCommand(cwd, ['drill', 'certificate-stalled', '--target', target]);
    assert.equal(long.code, 3);
    assert.match(long.stderr, /would take \d+ h; leave --target out/);
  });

  test('a quiet night as JSON: nothing is opened, exit 0', async () => {
    const { code, stdout, stderr } = await runCommand(cwd, ['drill', 'quiet-night', '--flavour', 'envoy', '--json']);
    assert.equal(code, 0, stderr);
    const { runs } = JSON.parse(stdout) as { readonly runs: readonly Record<string, unknown>[] };
    assert.equal(runs.length, 1);
    const { scenario, seed, flavor, ok, misses, pages, incidents, seen } = runs[0] ?? {};
    assert.deepEqual(
      { scenario, seed, flavor, ok, misses, pages, incidents, seen },
      { scenario: 'quiet-night', seed: 1, flavor: 'envoy', ok: true, misses: [], pages: 0, incidents: 0, seen: null },
    );
  });

  test('the table has a line per run, the reasons of each miss, and the sum', () => {
    const [scenario] = SCENARIOS;
    assert.ok(scenario !== undefined);
    const run = {
      scenario,
      ...planOf(scenario, 1),
      seed: 1,
      flavor: 'canonical',
      impact: { peakShare: 0.35, lastedS: 480 },
      points: 1000,
      wallS: 1.25,
      verdict: {
        misses: ['2 pages, not 1'],
        seen: { lead: 'FastFailSinkhole', severity: 'page', tier: '6h' },
        detectedAfterMs: 100_000,
        pages: 2,
        incidents: 1,
      },
    } as const;
    const text = formatDrill([run, { ...run, seed: 2, verdict: { ...run.verdict, misses: [], pages: 1 } }]);
    const lines = text.split('\n');
    assert.match(
      lines[1] ?? '',
      /^MISS +sinkhole-least-connections +1 .*page FastFailSinkhole 6h +100 s +2 +1 +35 % +8 min/,
    );
    assert.match(lines[2] ?? '', /^ok /);
    assert.match(text, /\n {2}sinkhole-least-connections, seed 1: 2 pages, not 1\n/);
    assert.match(text, /\n1 of 2 as expected\n/);
  });
});

describe('slowburn demo', () => {
  test('starts the service, says where to look, and leaves nothing behind', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'slowburn-demo-test-'));
    try {
      const config = join(cwd, 'slowburn.yaml');
      writeFileSync(config, 'listen: { http: 127.0.0.1:0, otlpHttp: 127.0.0.1:0, otlpGrpc: 127.0.0.1:0 }\n');
      let stderr = '';
      const io = {
        stdout: () => undefined,
        stderr: (text: string) => {
          stderr += text;
        },
        stdin: process.stdin,
        cwd,
        env: {},
        packageDir: join(import.meta.dirname, '..', '..'),
        version: 'test',
        interactive: false,
      };
      const before = demoFolders();
      assert.equal(await runDemo({ configPath: config }, io, Promise.resolve()), 0, stderr);
      assert.match(stderr, /look at http:\/\/127\.0\.0\.1:\d+\//);
      assert.deepEqual(demoFolders(), before);
      assert.ok(!existsSync(join(cwd, 'data')));
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  });
});

const demoFolders = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('slowburn-demo-') && !name.startsWith('slowburn-demo-test-'));
