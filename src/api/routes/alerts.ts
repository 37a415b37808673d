import type { AlertView, Page } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { ALERT_PAGE } from '../incident-schemas.ts';
import { listQuery, pageOf } from '../page-of.ts';
import { problemResponses } from '../problem.ts';
import { ref } from '../schema-parts.ts';

export function registerAlertRoutes(app: Api, { queries }: RouteDeps): void {
  app.get(
    '/api/v1/alerts',
    {
      schema: {
        operationId: 'listAlerts',
        tags: ['alerts'],
        summary: 'Every firing alert, in the order of their keys.',
        querystring: listQuery(),
        response: { 200: ref<Page<AlertView>>(ALERT_PAGE), ...problemResponses('API_BAD_REQUEST') },
      },
    },
    (request): Page<AlertView> => pageOf(queries.alerts(), (alert) => alert.key, request.query),
  );
}
