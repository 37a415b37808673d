import type { ServerResponse } from 'node:http';
import { Type } from 'typebox';
import type { Api, RouteDeps } from '../deps.ts';
import { ProblemError, problemResponses } from '../problem.ts';

export interface EventLimits {
  /** Readers at once. */
  readonly readersMax: number;
  /** Between signs of life; shorter than what proxies wait for a byte. Who takes nothing for two of them is dropped. */
  readonly signOfLifeMs: number;
}

const LIMITS: EventLimits = { readersMax: 500, signOfLifeMs: 15_000 };
const RETRY_MS = 3000;

const STREAM = Type.Unsafe({
  description: 'Server-sent events.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
});

/** A browser that listens. */
interface Reader {
  readonly stream: ServerResponse;
  /** Something has changed since it took its last event. */
  isBehind: boolean;
  /** It had taken nothing at the last sign of life either. */
  isStuck: boolean;
}

/**
 * `/api/v1/events`: says that something has changed; what it is, the other routes tell. A reader that does not keep up
 * is told once when it can take more, so that no queue grows; one that takes nothing is dropped, and comes back itself.
 */
export function registerEventRoutes(app: Api, { queries }: RouteDeps, given: Partial<EventLimits> = {}): void {
  const { readersMax, signOfLifeMs } = { ...LIMITS, ...given };
  const readers = new Set<Reader>();
  const tell = (reader: Reader): void => {
    const { stream } = reader;
    reader.isBehind = stream.writableNeedDrain;
    if (reader.isBehind) return;
    const id = queries.version();
    stream.write(`event: incidents\nid: ${id}\ndata: ${JSON.stringify({ version: id })}\n\n`);
  };
  const sign = (reader: Reader): void => {
    const { stream, isStuck } = reader;
    if (!stream.writableNeedDrain) stream.write(': alive\n\n');
    else if (isStuck) stream.destroy();
    else reader.isStuck = true;
  };
  const alive = setInterval(() => {
    for (const reader of readers) sign(reader);
  }, signOfLifeMs);
  alive.unref();
  app.addHook('preClose', (done) => {
    clearInterval(alive);
    for (const { stream } of readers) stream.end();
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
      if (readers.size >= readersMax)
        throw new ProblemError('API_UNAVAILABLE', `${readersMax} others listen already; ask again later.`);
      reply.hijack();
      const stream = reply.raw;
      stream.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      });
      stream.write(`retry: ${RETRY_MS}\n`);
      const reader: Reader = { stream, isBehind: false, isStuck: false };
      const unsubscribe = queries.onChange(() => tell(reader));
      const end = (): void => {
        unsubscribe();
        readers.delete(reader);
      };
      readers.add(reader);
      request.raw.on('close', end);
      stream.on('error', end);
      stream.on('drain', () => {
        reader.isStuck = false;
        if (reader.isBehind) tell(reader);
      });
      tell(reader);
    },
  );
}
