import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** How long a slow host takes. */
const SLOW_MS = 400;

/**
 * A small HTTP server behind a balancer. Broken, it fails fast; slow, it takes 400 ms. It counts its answers, those to
 * health checks left out, which it always passes.
 */
export interface SmallHost {
  readonly port: number;
  broken: boolean;
  slow: boolean;
  readonly good: number;
  readonly bad: number;
  close(): Promise<void>;
}

export async function startHost(): Promise<SmallHost> {
  const answers = { good: 0, bad: 0 };
  const server = createServer((request, response) => {
    if (request.url === '/healthz') {
      response.end('ok');
      return;
    }
    if (host.broken) answers.bad += 1;
    else answers.good += 1;
    response.statusCode = host.broken ? 503 : 200;
    const body = host.broken ? 'out of order' : 'ok';
    if (host.slow) setTimeout(() => response.end(body), SLOW_MS);
    else response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const host: SmallHost = {
    port,
    broken: false,
    slow: false,
    get good() {
      return answers.good;
    },
    get bad() {
      return answers.bad;
    },
    close: () => closeServer(server),
  };
  return host;
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
