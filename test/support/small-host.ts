import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** A small HTTP server behind a balancer. Broken, it fails fast. It counts its answers. */
export interface SmallHost {
  readonly port: number;
  broken: boolean;
  readonly good: number;
  readonly bad: number;
  close(): Promise<void>;
}

export async function startHost(): Promise<SmallHost> {
  const answers = { good: 0, bad: 0 };
  const server = createServer((_request, response) => {
    if (host.broken) answers.bad += 1;
    else answers.good += 1;
    response.writeHead(host.broken ? 503 : 200).end(host.broken ? 'out of order' : 'ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const host: SmallHost = {
    port,
    broken: false,
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
