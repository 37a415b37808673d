import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * `npm test [-- FILTER...]`: every `*.test.ts` that needs nothing but Node, or those whose path contains a filter.
 * `--peers` takes the `*.peer.test.ts` instead, which need promtool, Chromium or another real peer.
 */
const root = join(import.meta.dirname, '..');

function testFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

const args = process.argv.slice(2);
const peers = args.includes('--peers');
const filters = args.filter((arg) => !arg.startsWith('--'));
const files = testFiles(import.meta.dirname)
  .filter((file) => file.endsWith('.peer.test.ts') === peers)
  .filter((file) => filters.length === 0 || filters.some((filter) => relative(root, file).includes(filter)))
  .sort();

if (files.length === 0) {
  process.stderr.write(`No test file matches ${filters.join(' ')}.\n`);
  process.exit(1);
}
const runner = spawn(process.execPath, ['--import', 'tsx', '--test', '--test-concurrency=2', ...files], {
  cwd: root,
  stdio: 'inherit',
});
runner.on('exit', (code) => process.exit(code ?? 1));
