import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A program that a package of the Python index ships. */
export interface PythonPeer {
  readonly package: string;
  readonly version: string;
  /**
   * Path of the executable in the environment or below its site-packages. Not a script that only starts it and keeps its
   * signals.
   */
  readonly binary: string;
  /** Environment variable that names a binary to use instead. */
  readonly override: string;
}

const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'slowburn-peers');

/**
 * Path of the peer's binary, installed into a virtual environment of its own at the first call. Nothing else of the
 * machine changes. Throws with the installer's output when it cannot be had: a missing peer is a failure, not a pass.
 */
export async function pythonPeer(peer: PythonPeer): Promise<string> {
  const given = process.env[peer.override];
  if (given !== undefined && given !== '') return given;
  const home = join(CACHE, `${peer.package}-${peer.version}`);
  const installed = findBinary(home, peer.binary);
  if (installed !== undefined) return installed;
  process.stdout.write(`installing ${peer.package} ${peer.version} into ${home}\n`);
  await mkdir(CACHE, { recursive: true });
  // Built beside and then renamed: an installation that was cut off is never taken for a whole one.
  const draft = `${home}.${process.pid}`;
  try {
    await call('python3', ['-m', 'venv', draft]);
    await call(join(draft, 'bin', 'python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      `${peer.package}==${peer.version}`,
    ]);
    await rename(draft, home);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  const binary = findBinary(home, peer.binary);
  if (binary === undefined) throw new Error(`${peer.package} ${peer.version} ships no ${peer.binary}`);
  return binary;
}

function findBinary(home: string, binary: string): string | undefined {
  const library = join(home, 'lib');
  const pythons = existsSync(library) ? readdirSync(library) : [];
  const places = [home, ...pythons.map((python) => join(library, python, 'site-packages'))];
  return places.map((place) => join(place, binary)).find((path) => existsSync(path));
}

async function call(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`);
}
