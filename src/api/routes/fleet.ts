import type { BalancerView, Page } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { listQuery, pageOf } from '../page-of.ts';
import { problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';
import { BALANCER_PAGE } from '../slo-schemas.ts';

export function registerFleetRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/fleet',
    {
      schema: {
        operationId: 'listBalancers',
        tags: ['fleet'],
        summary: 'Every balancer that has pushed metrics, in the order of their ids.',
        querystring: listQuery(),
        response: { 200: ref<Page<BalancerView>>(BALANCER_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<BalancerView> => pageOf(queries.fleet(), (balancer) => balancer.id, request.query),
  );
}
