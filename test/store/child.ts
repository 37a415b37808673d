import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

type Child = ChildProcessByStdio<null, Readable, null>;

const root = join(import.meta.dirname, '..', '..');
const commandOf = (script: string, args: readonly string[]): string[] => [
  process.execPath,
  '--import',
  'tsx',
  join(import.meta.dirname, 'children', script),
  ...args,
];

const start = (command: string, args: readonly string[]): Child =>
  spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });

/** Starts a script of test/store/children as a process of its own. */
export function spawnChild(script: string, args: readonly string[]): Child {
  const [command = '', ...rest] = commandOf(script, args);
  return start(command, rest);
}

/** As spawnChild, where no file may grow beyond `blocks` of 512 bytes: a full disk that is to be had anywhere. */
export const spawnLimited = (blocks: number, script: string, args: readonly string[]): Child =>
  start('sh', ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', ...commandOf(script, args)]);

/** All that a child writes until it ends. */
export async function outputOf(child: Child): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  return output;
}
