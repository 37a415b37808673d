import { Type } from 'typebox';
import type { Page, SloView } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { listQuery, pageOf } from '../page-of.ts';
import { ProblemError, problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';
import { SLO, SLO_PAGE } from '../slo-schemas.ts';

export function registerSloRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/slos',
    {
      schema: {
        operationId: 'listSlos',
        tags: ['slos'],
        summary: 'Every SLO with its groups, in the order of their ids.',
        querystring: listQuery(),
        response: { 200: ref<Page<SloView>>(SLO_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<SloView> => pageOf(queries.slos(), (slo) => slo.id, request.query),
  );

  app.get(
    '/api/v1/slos/:id',
    {
      schema: {
        operationId: 'getSlo',
        tags: ['slos'],
        summary: 'One SLO with its groups.',
        params: Type.Object({ id: Type.String({ description: 'Slo.id' }) }),
        response: { 200: ref<SloView>(SLO), ...problemResponses('API_NOT_FOUND') },
      },
    },
    (request): SloView => {
      const slo = queries.slo(request.params.id);
      if (slo === null)
        throw new ProblemError('API_NOT_FOUND', `There is no SLO "${request.params.id}"; /api/v1/slos lists them.`);
      return slo;
    },
  );
}
