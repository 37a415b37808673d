import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const RULES = join(ROOT, 'rules', 'prometheus');

const yamlIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(folder, name));

describe('the generated rules under the tools of their engines', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'slowburn-rules-'));
  after(() => rmSync(scratch, { recursive: true, force: true }));

  test('promtool finds nothing to say about them', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', ...yamlIn(RULES)]);
    assert.equal(stdout.match(/SUCCESS: 7 rules found/g)?.length, 3, stdout);
  });

  test('promtool runs their unit tests', { timeout: 600_000 }, async () => {
    const files = yamlIn(join(RULES, 'tests'));
    const results = await Promise.all(files.map((file) => run('promtool', ['test', 'rules', file])));
    assert.equal(results.length, 3);
    for (const { stdout } of results) assert.match(stdout, /SUCCESS/);
  });

  test('a unit test is able to fail', async () => {
    await assert.rejects(
      run('promtool', ['test', 'rules', join(import.meta.dirname, 'wrong.test.yaml')]),
      /FAILED|failed/,
    );
  });

  test('vmalert loads those made for it', async () => {
    const out = join(scratch, 'vm');
    await run(process.execPath, [
      join(ROOT, 'dist', 'main.js'),
      'generate',
      '--engine',
      'victoriametrics',
      '--out',
      out,
    ]);
    await run('vmalert', ['-dryRun', `-rule=${join(out, '*.yaml')}`]);
  });
});
