import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runDemo } from '../../src/cli/demo.ts';
import { runJobs } from '../../src/cli/drill-jobs.ts';
import { formatDrill } from '../../src/cli/drill-report.ts';
import { pagesPerQuietWeek, summaryOf } from '../../src/cli/drill-summary.ts';
import { type DrillRun, planOf } from '../../src/sim/drill/drill-run.ts';
import { SCENARIOS } from '../../src/sim/scenarios/catalog.ts';
import type { Scenario } from '../../src/sim/scenarios/scenario.ts';
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
      [['quiet-night', '--jobs', '0'], /whole numbers from 1/],
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

  test('several at a time: the same runs in the same order as one after the other', async () => {
    const names = ['quiet-night', 'accept-queue'];
    const run = async (jobs: string) => {
      const args = ['drill', ...names, '--seeds', '2', '--jobs', jobs, '--json'];
      const { stdout, stderr } = await runCommand(cwd, args);
      const { runs, summary } = JSON.parse(stdout, (key, value: unknown) =>
        /^wall|^pointsPer/.test(key) ? undefined : value,
      ) as { runs: { scenario: string; seed: number }[]; summary: Record<string, unknown> };
      // On a machine that is busy: how far it is, once a minute.
      assert.match(stderr, /^(after \d+ min: \d of 4 runs, 0 missed; last [a-z-]+, seed \d\n)*$/);
      return { runs, summary: { ...summary, jobs: null, slowest: null } };
    };
    const together = await run('3');
    assert.deepEqual(
      together.runs.map(({ scenario, seed }) => `${scenario} ${seed}`),
      ['accept-queue 1', 'accept-queue 2', 'quiet-night 1', 'quiet-night 2'],
    );
    assert.deepEqual(together, await run('1'));
  });

  test('a process that ends early is a failure that names its run', async () => {
    const tasks = [{ scenario: 'no-such-scenario', seed: 4 }];
    const source = { rulesDir: null, packageDir: join(import.meta.dirname, '..', '..') };
    await assert.rejects(
      runJobs({ tasks, jobs: 2, source, flavor: 'canonical', onDone: () => assert.fail('nothing was done') }),
      /no-such-scenario, seed 4: its process ended \(exit [1-9]/,
    );
  });

  test('the figures of several runs: found, false pages per quiet week, times of detection', () => {
    const [failure, control] = ['sinkhole-two-choices', 'clean-day'].map((name) =>
      SCENARIOS.find((one) => one.name === name),
    );
    assert.ok(failure !== undefined && control !== undefined);
    const runOf = (scenario: Scenario, seed: number, detectedAfterMs: number | null, pages: number): DrillRun => ({
      scenario,
      ...planOf(scenario, seed),
      seed,
      flavor: 'canonical',
      impact: { peakShare: 0, lastedS: 0 },
      points: 1000,
      wallS: seed,
      verdict: { misses: pages > 0 ? ['paged'] : [], seen: null, detectedAfterMs, pages, incidents: 1, unsaid: [] },
    });
    const runs = [
      runOf(failure, 1, 60_000, 0),
      runOf(failure, 2, 180_000, 0),
      runOf(failure, 3, null, 0),
      // Later than asked is not found.
      runOf(failure, 4, 3_600_000, 0),
      runOf(control, 1, null, 1),
      runOf(control, 2, null, 2),
    ];
    const figures = summaryOf(runs);
    assert.deepEqual([figures.failures, figures.found, figures.asExpected, figures.falsePages], [4, 2, 4, 3]);
    assert.equal(pagesPerQuietWeek(figures), 3 / (2 / 7));
    assert.deepEqual(figures.detectedAfterMs, {
      median: 120_000,
      worst: { value: 180_000, scenario: 'sinkhole-two-choices', seed: 2 },
    });
    const text = formatDrill(runs, 60, 2);
    assert.match(text, /\nsinkhole-two-choices +4 +4 of 4 \(100 %\) +2 of 4 \(50 %\) +2 min +3 min +- +4\.0 s\n/);
    assert.match(
      text,
      /\nfound: 2 of 4 \(50 %\), after 2\.0 min in the median, 3\.0 min at worst \(sinkhole-two-choices, seed 2\)\n/,
    );
    assert.match(text, /\nfalse pages: 3 in 0\.3 quiet weeks, 10\.50 a week\n/);
    assert.match(
      text,
      /\nslowest: 4\.0 s \(sinkhole-two-choices, seed 4\)\ntook: 60\.0 s with 2 jobs, 100 points\/s\n/,
    );
    const many = Array.from({ length: 1000 }, (_, i) => runOf(failure, 1, i === 0 ? null : 60_000, 0));
    assert.match(formatDrill(many, 60, 2), /\nfound: 999 of 1000 \(99\.9 %\),/);
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
        unsaid: [],
      },
    } as const;
    const text = formatDrill([run, { ...run, seed: 2, verdict: { ...run.verdict, misses: [], pages: 1 } }], 2.5, 1);
    const lines = text.split('\n');
    assert.match(
      lines[1] ?? '',
      /^MISS +sinkhole-least-connections +1 .*page FastFailSinkhole 6h +100 s +2 +1 +35 % +8 min/,
    );
    assert.match(lines[2] ?? '', /^ok /);
    assert.match(text, /\n {2}sinkhole-least-connections, seed 1: 2 pages, not 1\n/);
    assert.match(text, /\n1 of 2 as expected\n/);
  });

  test('what a flavour does not tell is named, with the reason', () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'sinkhole-two-choices');
    assert.ok(scenario !== undefined);
    const run: DrillRun = {
      scenario,
      ...planOf(scenario, 1),
      seed: 1,
      flavor: 'envoy',
      impact: { peakShare: 0, lastedS: 0 },
      points: 1000,
      wallS: 1,
      verdict: {
        misses: [],
        seen: { lead: 'HostEjections', severity: 'ticket', tier: null },
        detectedAfterMs: 60_000,
        pages: 0,
        incidents: 1,
        unsaid: ['the host'],
      },
    };
    assert.match(
      formatDrill([run], 1, 1),
      /not told by this flavor:\n {2}sinkhole-two-choices: missing: the host; Envoy counts ejections by cluster and names no host\n/,
    );
    assert.doesNotMatch(
      formatDrill([{ ...run, flavor: 'canonical', verdict: { ...run.verdict, unsaid: [] } }], 1, 1),
      /not told/,
    );
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
