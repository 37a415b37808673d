import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { type ApiServerOptions, createApiServer } from '../../src/api/server.ts';
import type { AccessToken } from '../../src/config/config.ts';
import { createFakeCommands, createFakeQueries } from './fake-queries.ts';

export const TOKENS: readonly AccessToken[] = [
  { name: 'fleet', role: 'push', value: 'push-secret' },
  { name: 'grafana', role: 'read', value: 'read-secret' },
  { name: 'ana', role: 'operate', value: 'operate-secret' },
];

/** An API server over the fakes, closed when the test ends. */
export async function startApi(t: TestContext, over: Partial<ApiServerOptions> = {}): Promise<FastifyInstance> {
  const app = await createApiServer({
    queries: createFakeQueries(),
    commands: createFakeCommands().commands,
    metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', render: async () => 'slowburn_x 1\n' },
    tokens: [],
    logger: false,
    version: '1.2.3',
    ...over,
  });
  t.after(() => app.close());
  return app;
}
