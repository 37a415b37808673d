import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A peer that runs as a child of the test. */
export interface PeerProcess {
  /** What it wrote so far. */
  log(): string;
  /** Asks it to stop and waits; twice does no harm. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface PeerOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Asked until it is true, with what the peer wrote so far. */
  readonly isReady: (log: string) => Promise<boolean>;
  readonly readyWithinMs?: number;
}

/** Starts a peer and waits until it is ready. Throws with its output when it ends or is not ready in time. */
export async function startPeer(options: PeerOptions): Promise<PeerProcess> {
  const env = { ...process.env, ...options.env };
  const child = spawn(options.command, options.args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (hasEnded()) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  const withinMs = options.readyWithinMs ?? 20_000;
  const until = Date.now() + withinMs;
  for (;;) {
    if (hasEnded()) throw new Error(`${options.command} ended with ${child.exitCode}:\n${output}`);
    if (await options.isReady(output).catch(() => false)) return { log: () => output, stop };
    if (Date.now() > until) {
      await stop('SIGKILL');
      throw new Error(`${options.command} was not ready within ${withinMs} ms:\n${output}`);
    }
    await sleep(100);
  }
}
