import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of loopback that is free now, for peers that cannot say which one they took. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === null) throw new Error('there is no free port');
  return port;
}

/** Systems take the ports of outgoing connections from above these. */
const [LEAST, MOST] = [10_000, 32_000] as const;
const TRIES = 100;

/** A free port for a peer that leaves it and comes back to it: no outgoing connection takes it meanwhile. */
export async function lastingPort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = await tryPort(LEAST + Math.floor(Math.random() * (MOST - LEAST)));
    if (port !== null) return port;
  }
  throw new Error(`there is no free port from ${LEAST} to ${MOST}`);
}

/** Null where somebody has it. */
async function tryPort(wanted: number): Promise<number | null> {
  const server = createServer();
  try {
    server.listen(wanted, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return null;
  }
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
