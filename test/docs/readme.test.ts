import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { shellBlocks } from '../readme/shell-blocks.ts';
import { pageIn } from '../readme/terminal.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const guides = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));

describe('the README', () => {
  const blocks = shellBlocks(readme);

  it('starts the service first, from a clone', () => {
    assert.match(blocks[0]?.script ?? '', /^git clone /);
    assert.equal(blocks[0]?.stays, 'npm start');
  });

  for (const { line, script, stays } of blocks) {
    it(`has commands at line ${line} that a shell can read`, () => {
      const text = `${script.replaceAll('<this repository>', 'here')}\n${stays ?? ''}`;
      const { status, stderr } = spawnSync('bash', ['-n', '-c', text], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    });
  }

  it('fits one screen of what, start, first page and picture before all else', () => {
    const start = readme.split('\n').indexOf('## Point a balancer at it');
    assert.ok(start > 0 && start <= 40, `the start takes ${start} lines`);
  });
});

describe('documents', () => {
  for (const name of ['README.md', 'CONTRIBUTING.md', ...guides]) {
    it(`${name} names no script that package.json does not have`, () => {
      const text = readFileSync(join(root, name), 'utf8');
      const named = [...text.matchAll(/\bnpm run (?:--silent )?([a-z][a-z0-9:-]*)/g)].map(([, script]) => script ?? '');
      assert.deepEqual(
        named.filter((script) => scripts[script] === undefined),
        [],
      );
    });
  }
});

describe('blocks of a README', () => {
  it('end with the command that stays', () => {
    const [block] = shellBlocks('# T\n\n```sh\ncd x\nnpm start\n```\n');
    assert.deepEqual(block, { line: 4, script: 'cd x', stays: 'npm start' });
  });

  it('may not go on after it, nor lack an end', () => {
    assert.throws(() => shellBlocks('```sh\nnpm run demo\nls\n```\n'), /line 2: what follows would never be run/);
    assert.throws(() => shellBlocks('```sh\nls\n'), /line 1: the block has no end/);
  });

  it('name their page after the place to push to', () => {
    const serve =
      '  Push OTLP metrics to   http://127.0.0.1:4318/v1/metrics\n  Look at                http://127.0.0.1:8080/\n';
    assert.equal(pageIn(serve), 'http://127.0.0.1:8080/');
    const demo = 'A fleet pushes to 127.0.0.1:4318; look at http://127.0.0.1:8080/ and end it with Ctrl-C.\n';
    assert.equal(pageIn(demo), 'http://127.0.0.1:8080/');
    assert.equal(pageIn('http://127.0.0.1:4318/'), null);
  });

  it('are those of a shell only', () => {
    assert.deepEqual(shellBlocks('```yaml\na: 1\n```\n'), []);
  });
});
