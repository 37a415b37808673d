import { type TSchema, Type } from 'typebox';
import type { Api, MetricsText } from '../deps.ts';
import { ProblemError, problemResponses } from '../problem.ts';

const exposition = (description: string): TSchema =>
  Type.Unsafe({ description, content: { 'text/plain': { schema: { type: 'string' } } } });

export function registerMetricsRoutes(
  app: Api,
  deps: { metrics: MetricsText; runtimeMetrics?: MetricsText | undefined },
): void {
  const { metrics, runtimeMetrics } = deps;
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        tags: ['metrics'],
        summary: 'SLOs, alerts, incidents and ingest as Prometheus text; docs/metrics.md lists the names.',
        response: { 200: exposition('Prometheus text format.'), ...problemResponses() },
      },
    },
    async (_, reply) => reply.type(metrics.contentType).send(await metrics.render()),
  );

  app.get(
    '/metrics/runtime',
    {
      schema: {
        operationId: 'getRuntimeMetrics',
        tags: ['metrics'],
        summary: 'The health of the process itself, measured by OpenTelemetry.',
        response: { 200: exposition('Prometheus text format.'), ...problemResponses('API_NOT_FOUND') },
      },
    },
    async (_, reply) => {
      if (runtimeMetrics === undefined)
        throw new ProblemError('API_NOT_FOUND', 'This process does not measure itself.');
      return reply.type(runtimeMetrics.contentType).send(await runtimeMetrics.render());
    },
  );
}
