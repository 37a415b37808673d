import { createServer, type IncomingHttpHeaders } from 'node:http';

export interface ReceivedCall {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Something that a hook can call: keeps what it is asked, and answers as it is told. */
export interface HookServer {
  readonly url: string;
  readonly calls: readonly ReceivedCall[];
  /** Null = no answer at all. */
  answer: (call: ReceivedCall) => { readonly status: number; readonly body: string } | null;
  close(): Promise<void>;
}

export async function startHookServer(): Promise<HookServer> {
  const calls: ReceivedCall[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const call = { headers: request.headers, text, body: JSON.parse(text) as Record<string, unknown> };
      calls.push(call);
      const answer = hook.answer(call);
      if (answer !== null) response.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const hook: HookServer = {
    url: `http://127.0.0.1:${address.port}/`,
    calls,
    answer: () => ({ status: 200, body: '{}' }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return hook;
}
