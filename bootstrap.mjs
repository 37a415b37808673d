// Run before start and test: installs what the lockfile says when it differs from what is installed, then builds. Needs Node only.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const marker = join(root, 'node_modules', '.slowburn-installed');
const lockfile = readFileSync(join(root, 'package-lock.json'));
// Native modules are built for one Node ABI: another Node means another install.
const wanted = createHash('sha256').update(lockfile).update(process.versions.modules).digest('hex');

const run = (command, args) =>
  spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], env: process.env }).status === 0;

function fail(message) {
  process.stderr.write(`slowburn: ${message}\n`);
  process.exit(3);
}

function install() {
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  process.stderr.write(
    'slowburn: installing packages (npm ci). The first time better-sqlite3 may compile for about two minutes.\n',
  );
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  if (!run('npm', args) && !run('npm', args)) {
    fail('npm ci failed twice; its messages are above. It needs the npm registry, python3, make and g++.');
  }
  writeFileSync(marker, wanted);
}

const filesIn = (directory, ending) =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true })
        .filter((file) => file.endsWith(ending))
        .map((file) => file.slice(0, -ending.length))
        .sort()
    : [];

/** An incremental build trusts that its outputs are still there, and leaves those of sources that are gone. */
function dropOddOutputs() {
  const dist = join(root, 'dist');
  const outputs = filesIn(dist, '.js');
  const sources = new Set(filesIn(join(root, 'src'), '.ts'));
  // Sources that are new have no output yet: only with a file missing that was built once would nothing be emitted.
  if (outputs.some((file) => !sources.has(file)) || (outputs.length > 0 && outputs.length < sources.size)) {
    rmSync(dist, { recursive: true, force: true });
  }
}

function build() {
  dropOddOutputs();
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  if (!run(tsc, ['-p', 'tsconfig.build.json'])) fail('the build failed; the errors are above and nothing was started.');
}

install();
build();
