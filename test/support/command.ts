import { join } from 'node:path';
import { createProgram } from '../../src/cli/program.ts';

const PACKAGE = join(import.meta.dirname, '..', '..');

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `slowburn ARGS` in this process, with `cwd` as its directory and no environment but `env`. */
export async function runCommand(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  let [stdout, stderr] = ['', ''];
  const program = createProgram({
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    stdin: process.stdin,
    cwd,
    env,
    packageDir: PACKAGE,
    version: 'test',
    interactive: false,
  });
  return { code: await program(args), stdout, stderr };
}
