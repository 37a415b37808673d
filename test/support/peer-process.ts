import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A peer that runs as a child of the test. */
export interface PeerProcess {
  /** What it wrote so far. */
  log(): string;
  hasEnded(): boolean;
  /** Asks it to stop and waits; a second call waits for nothing. */
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

/** Starts a peer without waiting for anything. */
export function spawnPeer(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): PeerProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    log: () => output,
    hasEnded,
    async stop(signal = 'SIGTERM') {
      if (hasEnded()) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}

/** Starts a peer and waits until it is ready. Throws with its output when it ends or is not ready in time. */
export async function startPeer(options: PeerOptions): Promise<PeerProcess> {
  const { command, args, env, isReady, readyWithinMs = 20_000 } = options;
  const peer = spawnPeer(command, args, env);
  const until = Date.now() + readyWithinMs;
  for (;;) {
    if (peer.hasEnded()) throw new Error(`${command} ended:\n${peer.log()}`);
    if (await isReady(peer.log()).catch(() => false)) return peer;
    if (Date.now() > until) {
      await peer.stop('SIGKILL');
      throw new Error(`${command} was not ready within ${readyWithinMs} ms:\n${peer.log()}`);
    }
    await sleep(100);
  }
}
