import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createPrng } from '../../src/base/prng.ts';

export type Mishap = 'none' | 'busy' | 'error' | 'hang' | 'reset_before' | 'reset_after';

/** One request that the receiver took: it acted on it, whether or not its answer arrived. */
export interface Taken {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly eventId: string;
}

export interface UnreliableServer {
  readonly url: string;
  readonly taken: Taken[];
  /** What the public rules say against requests that came. */
  readonly wrong: string[];
  readonly mishaps: Map<Mishap, number>;
  /** When a pause asked for with 429 was not kept, by how much (ms). */
  readonly early: number[];
}

/**
 * A receiver whose troubles follow a seeded plan. Per event id the answer is lost after the request was taken at most
 * once: what is lost again and again nobody can deliver at most twice.
 */
export async function startUnreliableServer(
  context: TestContext,
  options: {
    readonly seed: number;
    readonly rules: (body: string, headers: IncomingHttpHeaders, path: string) => readonly string[];
    readonly accept: (response: ServerResponse, taken: Taken) => void;
    /** A request is left without an answer: whoever waits for it gives up. */
    readonly onHang: () => void;
    readonly now: () => number;
    readonly eventIdOf: (body: Readonly<Record<string, unknown>>, headers: IncomingHttpHeaders) => string;
  },
): Promise<UnreliableServer> {
  const random = createPrng(options.seed);
  const taken: Taken[] = [];
  const wrong: string[] = [];
  const mishaps = new Map<Mishap, number>();
  const early: number[] = [];
  const lost = new Set<string>();
  let busyUntil = 0;

  const draw = (eventId: string): Mishap => {
    const kinds: Mishap[] = ['none', 'none', 'none', 'busy', 'error', 'hang', 'reset_before', 'reset_after'];
    const kind = kinds[random.below(kinds.length)] ?? 'none';
    if (kind !== 'reset_after') return kind;
    if (lost.has(eventId)) return 'none';
    lost.add(eventId);
    return kind;
  };

  const answer = (request: IncomingMessage, response: ServerResponse, text: string): void => {
    const path = request.url ?? '';
    wrong.push(...options.rules(text, request.headers, path).map((rule) => `${path} ${rule}`));
    const body = JSON.parse(text) as Record<string, unknown>;
    const eventId = options.eventIdOf(body, request.headers);
    if (options.now() < busyUntil) early.push(busyUntil - options.now());
    const mishap = draw(eventId);
    mishaps.set(mishap, (mishaps.get(mishap) ?? 0) + 1);
    if (mishap === 'busy') {
      busyUntil = options.now() + 7000;
      response.writeHead(429, { 'retry-after': '7' }).end('{"ok":false,"error":"ratelimited"}');
    } else if (mishap === 'error') response.writeHead(500).end('boom');
    else if (mishap === 'reset_before') request.socket.destroy();
    else if (mishap === 'hang') options.onHang();
    else {
      const one = { path, body, eventId };
      taken.push(one);
      if (mishap === 'reset_after') request.socket.destroy();
      else options.accept(response, one);
    }
  };

  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => answer(request, response, text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, taken, wrong, mishaps, early };
}
