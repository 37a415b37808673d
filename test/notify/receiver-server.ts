import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Call {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface ReceiverServer {
  readonly url: string;
  readonly port: number;
  readonly calls: Call[];
}

/** A webhook receiver on 127.0.0.1, closed behind the test. `answer` is given the number of the call, from 1. */
export async function startReceiverServer(
  context: TestContext,
  answer: (response: ServerResponse, call: number) => void,
  port = 0,
): Promise<ReceiverServer> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      calls.push({ body, headers: request.headers });
      answer(response, calls.length);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port: taken } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${taken}/hook`, port: taken, calls };
}

export const answerWith = (response: ServerResponse, status: number, headers: Record<string, string> = {}): void => {
  response.writeHead(status, headers).end();
};
