import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { lastingPort } from './free-port.ts';

export type Body = Readonly<Record<string, unknown>>;

/** Takes JSON at every path of one port of loopback; while it is down, connections are refused. */
export interface RestartableHook {
  readonly port: number;
  readonly url: string;
  /** What came to a path, in order. */
  bodies(path?: string): readonly Body[];
  up(): Promise<void>;
  down(): Promise<void>;
}

export async function startRestartableHook(): Promise<RestartableHook> {
  const port = await lastingPort();
  const came: { readonly path: string; readonly body: Body }[] = [];
  let server: Server | null = null;
  const hook: RestartableHook = {
    port,
    url: `http://127.0.0.1:${port}`,
    bodies: (path = '/') => came.filter((one) => one.path === path).map(({ body }) => body),
    async up() {
      server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          came.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) as Body });
          response.end();
        });
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async down() {
      const running = server;
      if (running === null) return;
      server = null;
      running.closeAllConnections();
      running.close();
      await once(running, 'close');
    },
  };
  await hook.up();
  return hook;
}
