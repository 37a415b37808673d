import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where a command that stays says its pages are; it names where to push before. */
export const pageIn = (text: string): string | null => /look at\s+(http:\S+)/i.exec(text)?.[1] ?? null;

/** Runs commands as a reader would, one block after the other; each goes on in the folder where the one before ended. */
export class Terminal {
  readonly #home: string;
  #folder: string;
  #staying: ChildProcess | null = null;

  /** `home`: an existing folder of its own. */
  constructor(home: string) {
    this.#home = home;
    this.#folder = home;
  }

  /** Runs a script with `bash -e`; throws with its output where it fails. */
  async run(script: string): Promise<string> {
    const place = join(this.#home, '.folder');
    const child = this.#spawn(`${script}\npwd > '${place}'`);
    const said = outputOf(child);
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`exit code ${code} of\n${script}\n${said()}`);
    this.#folder = readFileSync(place, 'utf8').trim();
    return said();
  }

  /** Starts a command that stays, in place of the one before; the address of the page that it names, once it is ready. */
  async start(command: string, withinMs: number): Promise<string> {
    await this.stop();
    const child = this.#spawn(command);
    this.#staying = child;
    const said = outputOf(child);
    const until = performance.now() + withinMs;
    while (performance.now() < until && child.exitCode === null) {
      const address = pageIn(said());
      if (address !== null && (await isReady(address))) return address;
      await sleep(250);
    }
    throw new Error(`${command} was not ready in ${withinMs / 1000} s\n${said()}`);
  }

  /** Ctrl-C, for the command and all that it has started. */
  async stop(): Promise<void> {
    const child = this.#staying;
    this.#staying = null;
    if (child?.pid === undefined || child.exitCode !== null) return;
    const gone = once(child, 'close');
    process.kill(-child.pid, 'SIGINT');
    await gone;
  }

  #spawn(script: string): ChildProcess {
    return spawn('bash', ['-ec', script], { cwd: this.#folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  }
}

function outputOf(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  return () => text;
}

async function isReady(address: string): Promise<boolean> {
  try {
    return (await fetch(new URL('readyz', address))).ok;
  } catch {
    return false;
  }
}
