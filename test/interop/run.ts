import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export interface InteropOptions {
  /** For how long what a check takes down stays down. */
  readonly downMs: number;
}

/**
 * `npm run interop -- NAME [NAME...] [--down MINUTES]`: checks slowburn against a real peer. Each file of this folder exports
 * `run(options): Promise<boolean>`, which prints what was sent beside what came out, and is false on a mismatch.
 * Without a name the checks are listed. Exit code 1 on a mismatch or a missing peer, 2 for an unknown name.
 */
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

const { values, positionals: asked } = parseArgs({
  options: { down: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const options: InteropOptions = { downMs: Number(values.down) * 60_000 };
const unknown = asked.filter((name) => !names.includes(name));
if (asked.length === 0 || unknown.length > 0) {
  for (const name of unknown) process.stderr.write(`There is no check named ${name}.\n`);
  process.stdout.write(`Checks against real peers:\n${names.map((name) => `  npm run interop -- ${name}\n`).join('')}`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

let failures = 0;
for (const name of asked) {
  const module = (await import(pathToFileURL(join(import.meta.dirname, `${name}.ts`)).href)) as {
    readonly run: (options: InteropOptions) => Promise<boolean>;
  };
  let matched = false;
  try {
    matched = await module.run(options);
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  }
  process.stdout.write(`${name}: ${matched ? 'as recorded' : 'MISMATCH'}\n`);
  if (!matched) failures += 1;
}
process.exit(failures > 0 ? 1 : 0);
