import type { ServerResponse } from 'node:http';
import { Type } from 'typebox';
import type { Api, RouteDeps } from '../deps.ts';
import { ProblemError, problemResponses } from '../problem.ts';

const STREAMS_MAX = 500;
/** Shorter than what proxies wait for a byte. */
const SIGN_OF_LIFE_MS = 15_000;
const RETRY_MS = 3000;

const STREAM = Type.Unsafe({
  description: 'Server-sent events.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
});

/** `/api/v1/events`: says that something has changed; what it is, the other routes tell. */
export function registerEventRoutes(app: Api, { queries }: RouteDeps): void {
  const streams = new Map<ServerResponse, () => void>();
  const tell = (stream: ServerResponse): void => {
    const id = queries.version();
    stream.write(`event: incidents\nid: ${id}\ndata: ${JSON.stringify({ version: id })}\n\n`);
  };
  const alive = setInterval(() => {
    for (const stream of streams.keys()) stream.write(': alive\n\n');
  }, SIGN_OF_LIFE_MS);
  alive.unref();
  app.addHook('preClose', (done) => {
    clearInterval(alive);
    for (const stream of streams.keys()) stream.end();
    done();
  });

  app.get(
    '/api/v1/events',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamEvents',
        tags: ['incidents'],
        summary: 'Server-sent events: one `incidents` event at first and after each change of incidents or alerts.',
        response: { 200: STREAM, ...problemResponses('API_UNAVAILABLE') },
      },
    },
    (request, reply) => {
      if (streams.size >= STREAMS_MAX)
        throw new ProblemError('API_UNAVAILABLE', `${STREAMS_MAX} others listen already; ask again later.`);
      reply.hijack();
      const stream = reply.raw;
      stream.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      });
      stream.write(`retry: ${RETRY_MS}\n`);
      const unsubscribe = queries.onChange(() => tell(stream));
      const end = (): void => {
        unsubscribe();
        streams.delete(stream);
      };
      streams.set(stream, end);
      request.raw.on('close', end);
      stream.on('error', end);
      tell(stream);
    },
  );
}
