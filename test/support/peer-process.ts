import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A peer that runs beside the test. */
export interface PeerProcess {
  /** What it wrote so far. */
  log(): string;
  hasEnded(): boolean;
  /** Asks it to end and waits for it; a second call waits for nothing. */
  stop(): Promise<void>;
}

export function startPeer(
  binary: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): PeerProcess {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    log: () => log,
    hasEnded,
    async stop() {
      if (hasEnded()) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}
