import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const START_TIMEOUT_MS = 30_000;

export interface RunningService {
  readonly ports: { readonly http: number; readonly otlpHttp: number; readonly otlpGrpc: number };
  /** What it wrote to stderr so far. */
  stderr(): string;
  /** Asks it to stop, waits, removes its files; returns the exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts the built service as a child of its own, with these SLO files (name to YAML), on free ports and a new
 * directory.
 */
export async function startService(slos: Readonly<Record<string, string>>): Promise<RunningService> {
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-'));
  await mkdir(join(directory, 'rules', 'slos'), { recursive: true });
  for (const [name, text] of Object.entries(slos))
    await writeFile(join(directory, 'rules', 'slos', `${name}.yaml`), text);
  const config = join(directory, 'slowburn.yaml');
  const listen = '{ http: 127.0.0.1:0, otlpHttp: 127.0.0.1:0, otlpGrpc: 127.0.0.1:0 }';
  await writeFile(config, `listen: ${listen}\nrules: ${join(directory, 'rules')}\n`);

  const args = [MAIN, 'serve', '--print-ports', '--data', join(directory, 'data'), '--config', config];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    const [code] = await exited;
    await rm(directory, { recursive: true, force: true });
    return code;
  };
  const lines = createInterface({ input: child.stdout });
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  const first = once(lines, 'line', { signal: timeout }).then(([line]) => String(line));
  const ended = exited.then(([code]) => Promise.reject(new Error(`the service ended with ${code}:\n${errors}`)));
  try {
    const line = await Promise.race([first, ended]);
    return { ports: JSON.parse(line) as RunningService['ports'], stderr: () => errors, stop };
  } catch (error) {
    if (child.exitCode === null) await stop();
    else await rm(directory, { recursive: true, force: true });
    throw error;
  } finally {
    first.catch(() => undefined);
    ended.catch(() => undefined);
  }
}
