import { Type } from 'typebox';
import type { Health } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { flag, listOf, ref, text, viewSchema } from '../schema-parts.ts';

export const CHECK = viewSchema<Health['checks'][number]>('Check', 'One thing that readiness asks for.', {
  name: text('What was checked.'),
  ok: flag('Whether it holds.'),
  detail: text('What was found.'),
});

export const HEALTH = viewSchema<Health>('Health', 'Whether the service can do its work.', {
  ready: flag('Every check holds.'),
  checks: listOf(ref<Health['checks'][number]>(CHECK), 'What was checked.'),
});

/** Paths that need no token: orchestrators ask them. */
export const OPEN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export function registerHealthRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/healthz',
    {
      schema: {
        operationId: 'getLiveness',
        tags: ['health'],
        summary: 'The process answers; nothing else is asked.',
        response: { 200: Type.Object({ status: Type.Literal('ok') }, { description: 'It answers.' }) },
      },
    },
    () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'getReadiness',
        tags: ['health'],
        summary: 'Store and ingest log take writes, the evaluator ticks.',
        response: { 200: ref<Health>(HEALTH), 503: ref<Health>(HEALTH) },
      },
    },
    (_, reply): Health => {
      const health = queries.health();
      reply.code(health.ready ? 200 : 503);
      return health;
    },
  );
}
