import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Problem } from '../../src/config/config.ts';
import { loadRules, loadServiceConfig } from '../../src/config/load.ts';
import { ALERT } from '../../src/model/conventions.ts';

/**
 * Each file of test/golden/config is a case named by what is wrong in it. Its first line says how it is read and what
 * must be found: `# slos: 12:30 CONFIG_TARGET_INVALID; ...`, or `fine`.
 */
const PACKAGE = path.resolve(import.meta.dirname, '../..');
const CASES = path.join(PACKAGE, 'test/golden/config');
const RUNBOOKS = Object.values(ALERT);

let runbooksDir = '';

function problemsOf(kind: string, file: string): readonly Problem[] {
  if (kind === 'service') {
    const loaded = loadServiceConfig({ configPath: file, env: {}, cwd: CASES, packageDir: PACKAGE });
    return loaded.ok ? [] : loaded.error;
  }
  const only = kind === 'slos' ? { slos: [file] } : { single: { [`${kind}.yaml`]: file } };
  const loaded = loadRules({ rulesDir: null, shippedDir: path.join(PACKAGE, 'rules'), runbooksDir, only });
  const failed = loaded.problems.some((problem) => problem.severity === 'error');
  assert.equal(loaded.rules === null, failed, 'rules are given exactly when nothing is wrong');
  return loaded.problems;
}

describe('every bad file gets its code at the place where it is wrong', () => {
  before(() => {
    runbooksDir = mkdtempSync(path.join(os.tmpdir(), 'slowburn-config-'));
    for (const name of RUNBOOKS) writeFileSync(path.join(runbooksDir, `${name}.md`), `# ${name}\n`);
  });
  after(() => rmSync(runbooksDir, { recursive: true }));

  const names = readdirSync(CASES).sort();

  it('has the cases that people meet most', () => {
    for (const name of [
      'target-100',
      'metric-unknown',
      'duration-bad',
      'duplicate-id',
      'runbook-missing',
      'key-unknown',
      'yaml-syntax',
      'regex-bad',
    ]) {
      assert.ok(names.includes(`${name}.yaml`), name);
    }
  });

  for (const name of names) {
    it(name, () => {
      const file = path.join(CASES, name);
      const [, kind = '', expected = ''] = /^# (\w+): (.*)$/m.exec(readFileSync(file, 'utf8')) ?? [];
      const found = problemsOf(kind, file);
      const short = found.map((problem) => `${problem.line}:${problem.column} ${problem.code}`);
      assert.equal(short.length === 0 ? 'fine' : short.join('; '), expected, JSON.stringify(found, null, 2));
      for (const problem of found) {
        assert.equal(problem.file, file);
        assert.ok(problem.message.length > 0 && problem.fix.length > 0);
        assert.match(problem.code, /^CONFIG_[A-Z_]+$/);
      }
    });
  }
});
